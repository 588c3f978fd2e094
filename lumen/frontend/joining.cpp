#include <fmt/format.h>

#include "lumen/frontend/movement.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

std::vector<Tensor> promoted_pieces(const std::vector<Tensor>& xs, const SourceLocation& where) {
  if (xs.empty()) fail("needs at least one tensor");
  std::vector<Operand> operands;
  for (const Tensor& x : xs) operands.emplace_back(x, where);
  return promote_only(operands);
}

void check_piece(Tensor piece, Tensor first, int64_t axis) {
  bool fits = piece.rank() == first.rank();
  for (int64_t k = 0; fits && k < first.rank(); ++k) fits = k == axis || piece.shape()[k] == first.shape()[k];
  if (!fits) {
    fail(fmt::format("{} and {} differ outside axis {}", first.type().str(), piece.type().str(), axis));
  }
}

// Each piece padded to the full size, and selects by the coordinate between them: exact for every value.
Tensor joined(const std::vector<Tensor>& pieces, int64_t axis) {
  std::vector<Expr> starts{0};
  for (const Tensor& piece : pieces) starts.push_back(starts.back() + piece.shape()[axis]);
  const Expr total = starts.back();
  const Scalar fill = fill_of(pieces[0].dtype(), 0);
  const auto placed = [&](size_t k) { return padded(pieces[k], axis, starts[k], total - starts[k + 1], fill); };
  Tensor result = placed(pieces.size() - 1);
  const Expr at = Expr::index(static_cast<int>(axis), total);
  for (size_t k = pieces.size() - 1; k-- > 0;) {
    const Tensor before = iota_of(*result.graph, result.shape(), lt(at, starts[k + 1]), DType::bool_);
    result = select_of(before, placed(k), result);
  }
  return result;
}

std::vector<Tensor> pieces_of(Tensor x, const std::vector<Expr>& sizes, int64_t axis) {
  std::vector<Tensor> pieces;
  Expr start = 0;
  for (const Expr& size : sizes) {
    pieces.push_back(sliced(x, axis, size == Expr(0) ? Expr(0) : start, size));
    start += size;
  }
  return pieces;
}

std::vector<Tensor> equal_pieces(Tensor x, Expr size, int64_t axis) {
  const Expr total = x.shape()[axis];
  if (refuted(ge(size, 1))) fail(fmt::format("the size must be positive, got {}", size.str()));
  const auto count = ceil_div(total, size).constant();
  if (!count) {
    fail(fmt::format("axis {} of {} in pieces of {} has no constant number of pieces", axis, x.type().str(),
                     size.str()));
  }
  std::vector<Expr> sizes;
  for (int64_t k = 0; k < *count; ++k) sizes.push_back(min(size, total - size * k));
  return pieces_of(x, sizes, axis);
}

}  // namespace

Tensor concat(const std::vector<Tensor>& xs, int64_t axis, SourceLocation where) {
  const Call call("concat", where);
  const std::vector<Tensor> pieces = promoted_pieces(xs, where);
  const int64_t a = checked_axis(pieces[0], axis);
  std::vector<Tensor> nonempty;
  for (const Tensor& piece : pieces) {
    check_piece(piece, pieces[0], a);
    if (piece.shape()[a] != Expr(0)) nonempty.push_back(piece);
  }
  return nonempty.empty() ? pieces[0] : joined(nonempty, a);
}

Tensor stack(const std::vector<Tensor>& xs, int64_t axis, SourceLocation where) {
  const Call call("stack", where);
  std::vector<Tensor> pieces = promoted_pieces(xs, where);
  const int64_t a = checked_axis(pieces[0], axis, 1);
  for (Tensor& piece : pieces) {
    if (piece.shape() != xs[0].shape()) {
      fail(fmt::format("{} and {} differ in shape", xs[0].type().str(), piece.type().str()));
    }
    piece = inserted(piece, a);
  }
  return joined(pieces, a);
}

std::vector<Tensor> split(const Operand& x, Expr size, int64_t axis) {
  const Call call("split", x.where());
  return equal_pieces(x.tensor(), size, checked_axis(x.tensor(), axis));
}

std::vector<Tensor> split(const Operand& x, const std::vector<Expr>& sizes, int64_t axis) {
  const Call call("split", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  Expr total = 0;
  for (const Expr& size : sizes) {
    if (refuted(ge(size, 0))) fail(fmt::format("a size must not be negative, got {}", size.str()));
    total += size;
  }
  if (total != v.shape()[a]) {
    fail(fmt::format("sizes that sum to {} do not cover axis {} of {}", total.str(), axis, v.type().str()));
  }
  return pieces_of(v, sizes, a);
}

std::vector<Tensor> chunk(const Operand& x, int64_t chunks, int64_t axis) {
  const Call call("chunk", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  if (chunks < 1) fail(fmt::format("the number of chunks must be positive, got {}", chunks));
  const Expr size = v.shape()[a];
  if (size == Expr(0) || size / chunks * chunks == size) {
    return pieces_of(v, std::vector<Expr>(static_cast<size_t>(chunks), size / chunks), a);
  }
  return equal_pieces(v, ceil_div(size, chunks), a);
}

std::vector<Tensor> unbind(const Operand& x, int64_t axis) {
  const Call call("unbind", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  const auto count = v.shape()[a].constant();
  if (!count) fail(fmt::format("axis {} of {} has no constant size", axis, v.type().str()));
  std::vector<Tensor> pieces;
  for (int64_t k = 0; k < *count; ++k) pieces.push_back(select(x, a, k));
  return pieces;
}

}  // namespace lumen
