#include "lumen/frontend/build.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/hlir/view.h"

namespace lumen {

namespace {

thread_local const Call* innermost = nullptr;

std::string_view base_name(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view without_op_name(std::string_view message) {
  if (!message.starts_with('[')) return message;
  const size_t end = message.find("] ");
  return end == std::string_view::npos ? message : message.substr(end + 2);
}

}  // namespace

Call::Call(std::string_view function, const SourceLocation& where)
    : function_(function), where_(where), outer_(innermost) {
  innermost = this;
}

Call::~Call() { innermost = outer_; }

std::string Call::describe(std::string_view message) {
  if (innermost == nullptr) return std::string(message);
  const Call* call = innermost;
  while (call->outer_ != nullptr) call = call->outer_;
  return fmt::format("[{}] {} ({}:{})", call->function_, message, base_name(call->where_.file_name()),
                     call->where_.line());
}

void fail(const std::string& message) { throw Error(error(Call::describe(message))); }

void fail_inference(Diag diag) {
  diag.message = Call::describe(without_op_name(diag.message));
  throw Error(std::move(diag));
}

Seen see(Tensor x) {
  const Node& node = x.node();
  if (!node.is<hlir::View>()) return {x, View::identity(x.shape())};
  return {Tensor{x.graph, node.operands[0]}, node.as<hlir::View>().view};
}

Tensor look(Tensor source, View view) {
  if (view.shape() == source.shape() && is_identity(view)) return source;
  hlir::View op;
  op.view = view;
  return emit(op, {source});
}

Tensor look_through(Tensor x, View outer) {
  const Seen seen = see(x);
  if (const auto both = compose(outer, seen.view)) return look(seen.source, *both);
  return look(x, outer);
}

int64_t checked_axis(Tensor x, int64_t axis, int64_t extra) {
  const int64_t rank = x.rank() + extra;
  if (axis < -rank || axis >= rank) fail(fmt::format("axis {} out of range for {}", axis, x.type().str()));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> checked_axes(Tensor x, const std::vector<int64_t>& axes) {
  std::vector<int64_t> result;
  if (axes.empty()) {
    for (int64_t axis = 0; axis < x.rank(); ++axis) result.push_back(axis);
    return result;
  }
  const bool is_scalar = x.rank() == 0;
  for (int64_t axis : axes) result.push_back(checked_axis(x, axis, is_scalar ? 1 : 0));
  std::sort(result.begin(), result.end());
  const auto twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end()) fail(fmt::format("axis {} given twice for {}", *twice, x.type().str()));
  return is_scalar ? std::vector<int64_t>{} : result;
}

Shape with_dim(const Shape& shape, int64_t axis, Expr size) {
  std::vector<Expr> dims(shape.begin(), shape.end());
  dims[static_cast<size_t>(axis)] = size;
  return dims;
}

Shape with_inserted(const Shape& shape, int64_t axis, Expr size) {
  std::vector<Expr> dims(shape.begin(), shape.end());
  dims.insert(dims.begin() + axis, size);
  return dims;
}

Shape without(const Shape& shape, int64_t axis) {
  std::vector<Expr> dims(shape.begin(), shape.end());
  dims.erase(dims.begin() + axis);
  return dims;
}

Graph& detail::common_graph(std::initializer_list<Tensor> operands) {
  Graph* graph = operands.begin()->graph;
  if (graph == nullptr) fail("an operand is an empty Tensor, which belongs to no graph");
  for (const Tensor& x : operands) {
    if (x.graph != graph) fail("operands belong to different graphs");
  }
  return *graph;
}

}  // namespace lumen
