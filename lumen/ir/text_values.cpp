#include <fmt/format.h>

#include <cmath>

#include "lumen/ir/scope.h"
#include "lumen/ir/text_reader.h"

namespace lumen {

Expected<DType> TextReader::dtype() {
  const size_t start = position();
  const std::string_view spelling = LUMEN_TRY(word("a dtype"));
  if (const std::optional<DType> found = parse_dtype(spelling)) return *found;
  return fail(fmt::format("unknown dtype `{}`", spelling.substr(0, 40)), start);
}

Expected<Scalar> TextReader::scalar() {
  const size_t start = position();
  const DType type = LUMEN_TRY(dtype());
  LUMEN_TRY(expect("("));
  Scalar value;
  bool fits = true;
  if (is_bool(type)) {
    value = Scalar::of(type, accept_word("true") ? 1 : 0);
    if (value.value.i == 0 && !accept_word("false")) {
      return fail(fmt::format("expected true or false, got {}", next_shown()));
    }
  } else if (is_float(type)) {
    const double digits = LUMEN_TRY(real());
    value = Scalar::of(type, digits);
    fits = std::isnan(digits) == std::isnan(value.value.f) && std::isinf(digits) == std::isinf(value.value.f);
  } else if (type == DType::u64) {
    value = {type, Lane{.i = static_cast<int64_t>(LUMEN_TRY(unsigned_integer()))}};
  } else {
    const int64_t digits = LUMEN_TRY(integer());
    value = Scalar::of(type, digits);
    fits = value.value.i == digits;
  }
  LUMEN_TRY(expect(")"));
  if (!fits) return fail(fmt::format("{} is out of range", text_.substr(start, at_ - start)), start);
  return value;
}

Expected<Expr> TextReader::expr_over(std::span<const Expr> extents) {
  const size_t start = position();
  const Graph& graph = *frames_.back().graph;
  const ExprScope scope{[&](std::string_view dim) { return graph.find_dim(dim); }, extents};
  std::string_view text = rest();
  Expected<Expr> read = parse_expr(text, scope);
  if (!read.ok()) {
    const int column = read.diag().where.column;  // from `start`
    return fail(read.diag().message, start + static_cast<size_t>(column > 0 ? column - 1 : 0));
  }
  at_ = text_.size() - text.size();
  return read;
}

Expected<Expr> TextReader::expr() { return expr_over(extents_.dims()); }

Expected<Shape> TextReader::shape() {
  const size_t start = position();
  const std::string_view text = rest().substr(0, rest().find(']') + 1);
  auto& memo = frames_.back().shapes;
  if (const auto known = memo.find(text); known != memo.end()) {
    at_ += text.size();
    return known->second;
  }
  const Shape read = LUMEN_TRY(shape_anew());
  memo.emplace(text_.substr(start, at_ - start), read);
  return read;
}

Expected<Shape> TextReader::shape_anew() {
  LUMEN_TRY(expect("["));
  std::vector<Expr> dims;
  while (!accept("]")) {
    if (!dims.empty()) LUMEN_TRY(expect(","));
    const size_t start = position();
    dims.push_back(LUMEN_TRY(expr_over({})));
    if (dims.back().constant().value_or(0) < 0) return fail("a dim is negative", start);
    if (dims.size() > kMaxRank) return fail(fmt::format("a shape has at most {} dims", kMaxRank), start);
  }
  return Shape(dims);
}

Expected<TensorType> TextReader::type() {
  const DType element = LUMEN_TRY(dtype());
  return TensorType{element, LUMEN_TRY(shape())};
}

Expected<View> TextReader::view() {
  const size_t start = position();
  const std::string_view text = rest().substr(0, rest().find('}') + 1);
  auto& memo = frames_.back().views;
  if (const auto known = memo.find(text); known != memo.end()) {
    at_ += text.size();
    return known->second;
  }
  const View read = LUMEN_TRY(view_anew());
  memo.emplace(text_.substr(start, at_ - start), read);
  return read;
}

Expected<View> TextReader::view_anew() {
  LUMEN_TRY(expect("{"));
  const Shape dims = LUMEN_TRY(shape());
  const Expr index = LUMEN_TRY(expr_over(dims.dims()));
  if (!accept_word("if")) {
    LUMEN_TRY(expect("}"));
    return View(dims, index);
  }
  const Expr guard = LUMEN_TRY(expr_over(dims.dims()));
  if (!accept_word("else")) return fail(fmt::format("expected `else`, got {}", next_shown()));
  const Scalar fill = LUMEN_TRY(scalar());
  LUMEN_TRY(expect("}"));
  return View(dims, index, guard, fill);
}

}  // namespace lumen
