#include <fmt/format.h>

#include "lumen/ir/graph.h"

namespace lumen {

namespace {

// The value, or the Diag thrown with the caller's place: `message (app.cpp:12)`.
template <class T>
T value_or_throw(Expected<T> expected, SourceLocation where) {
  if (expected.ok()) return std::move(expected).value();
  Diag diag = std::move(expected).take_diag();
  std::string_view file = where.file_name();
  file.remove_prefix(file.rfind('/') + 1);
  diag.message += fmt::format(" ({}:{})", file, where.line());
  throw Error(std::move(diag));
}

Tensor add_output(Tensor value, std::string_view name, std::optional<NodeId> alias, SourceLocation where) {
  Expected<void> added = value.graph->add_output(name, value.id, alias);
  if (!added.ok()) value_or_throw(Expected<Tensor>(std::move(added).take_diag()), where);
  return value;
}

}  // namespace

Expr Graph::dim(std::string_view name, int64_t lo, int64_t hi, SourceLocation where) {
  return value_or_throw(add_dim(name, lo, hi), where);
}

Tensor Graph::input(std::string_view name, Shape shape, DType dtype, InputKind kind, SourceLocation where) {
  return {this, value_or_throw(add_input({name, kind, dtype, shape}), where)};
}

Expr Tensor::dim(int64_t axis, SourceLocation where) const {
  const int64_t at = axis < 0 ? axis + rank() : axis;
  const bool inside = at >= 0 && at < rank();
  return value_or_throw(inside ? Expected<Expr>(shape()[at])
                               : error(fmt::format("[dim] axis {} out of range for {}", axis, type().str())),
                        where);
}

Tensor Tensor::output(std::string_view name, SourceLocation where) const { return add_output(*this, name, {}, where); }

Tensor Tensor::output(std::string_view name, Tensor updates, SourceLocation where) const {
  CHECK(updates.graph == graph, "an alias of another graph");
  return add_output(*this, name, updates.id, where);
}

}  // namespace lumen
