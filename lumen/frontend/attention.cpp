#include "lumen/frontend/attention.h"

#include <fmt/format.h>

#include <cmath>

#include "lumen/frontend/linear.h"
#include "lumen/frontend/movement.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"
#include "lumen/frontend/reduction.h"

namespace lumen {

namespace {

// Key or value heads, each shared by as many query heads in a row as there are to one of it.
Tensor shared_heads(Tensor x, Tensor query) {
  const Expr have = x.dim(-3);
  const Expr want = query.dim(-3);
  if (have == want) return x;
  const Expr times = floor_div(want, have);
  if (times * have != want) {
    fail(fmt::format("{} query heads are no multiple of {}: {} and {}", want.str(), have.str(), query.type().str(),
                     x.type().str()));
  }
  return repeat_interleave(x, times, -3);
}

void check_operands(Tensor q, Tensor k, Tensor v, const AttentionOptions& options) {
  const int64_t least_rank = options.enable_gqa ? 3 : 2;
  const bool ranks = q.rank() >= least_rank && k.rank() >= least_rank && v.rank() >= least_rank;
  if (!ranks || q.dim(-1) != k.dim(-1) || k.dim(-2) != v.dim(-2)) {
    fail(fmt::format("query {}, key {} and value {} do not fit", q.type().str(), k.type().str(), v.type().str()));
  }
  if (options.mask && options.causal) fail("a mask and causal exclude each other");
}

Operand scale_of(Tensor query, const AttentionOptions& options) {
  if (options.scale) return *options.scale;
  if (const auto size = query.dim(-1).constant()) return 1 / std::sqrt(static_cast<double>(*size));
  return rsqrt(number(*query.graph, query.dtype(), query.dim(-1)));
}

Tensor masked(Tensor scores, const AttentionOptions& options) {
  if (options.mask) {
    const Tensor mask = options.mask->tensor();
    if (is_bool(mask.dtype())) return where(mask, scores, -INFINITY);
    return scores + Operand(cast_to(mask, scores.dtype()));
  }
  if (!options.causal) return scores;
  const Shape& shape = scores.shape();
  const int64_t row = scores.rank() - 2;
  const Shape square{shape[row], shape[row + 1]};
  const Tensor seen =
      iota_of(*scores.graph, square, le(Expr::index(1, square[1]), Expr::index(0, square[0])), DType::bool_);
  return where(seen, scores, -INFINITY);
}

// Softmax of the last dim; a row in which nothing may be attended to gives zeros.
Tensor safe_softmax(Tensor scores, bool may_be_empty) {
  const Tensor top = max(scores, {-1}, true);
  const Tensor e = exp(scores - top);
  const Tensor weights = e * reciprocal(sum(e, {-1}, true));
  return may_be_empty ? where(eq(top, -INFINITY), 0.0, weights) : weights;
}

// Elements k of both rotate together.
struct Pairs {
  Tensor first, second;
};

Pairs pairs_of(Tensor x, Expr half, RopeLayout layout) {
  if (layout == RopeLayout::half) return {sliced(x, x.rank() - 1, 0, half), sliced(x, x.rank() - 1, half, half)};
  return {sliced(x, x.rank() - 1, 0, half, 2), sliced(x, x.rank() - 1, 1, half, 2)};
}

}  // namespace

Tensor scaled_dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                                    const AttentionOptions& options) {
  const Call call("scaled_dot_product_attention", query.where());
  const Operand operands[] = {query.tensor(), key.tensor(), value.tensor()};
  const std::vector<Tensor> all = promote_only(operands);
  const DType dtype = floats(all[0]).dtype();
  const DType d = wide(dtype);
  const Tensor q = cast_to(all[0], d);
  Tensor k = cast_to(all[1], d);
  Tensor v = cast_to(all[2], d);
  check_operands(q, k, v, options);
  if (options.enable_gqa) {
    k = shared_heads(k, q);
    v = shared_heads(v, q);
  }
  const Tensor scores = masked(matmul(q, transpose(k)) * scale_of(q, options), options);
  const Tensor weights = safe_softmax(scores, options.mask.has_value());
  return cast_to(matmul(weights, v), dtype);
}

Tensor rope(const Operand& x, const Operand& positions, double base, RopeLayout layout) {
  const Call call("rope", x.where());
  const Tensor given = x.tensor();
  if (given.rank() < 2) fail(fmt::format("needs [..., seq, d], got {}", given.type().str()));
  const Expr size = given.dim(-1);
  const Expr half = floor_div(size, 2);
  if (half * 2 != size) fail(fmt::format("the last dim must be even, got {}", given.type().str()));
  if (!(base > 0)) fail(fmt::format("the base must be positive, got {}", base));
  return in_floats(x, [&](Tensor v) {
    const Tensor at = iota_of(*v.graph, {half}, Expr::index(0, half), v.dtype());
    const Tensor frequencies = exp2(at * (-2 * std::log2(base)) / size);
    const Tensor angles = inserted(cast_to(positions.tensor(), v.dtype()), positions.tensor().rank()) * frequencies;
    const Tensor c = cos(angles);
    const Tensor s = sin(angles);
    const auto [first, second] = pairs_of(v, half, layout);
    const Shape shapes[] = {first.shape(), angles.shape()};
    if (broadcast_shapes(shapes) != first.shape()) {
      fail(fmt::format("positions {} do not fit {}", positions.tensor().type().str(), given.type().str()));
    }
    const Tensor rotated_first = first * c - second * s;
    const Tensor rotated_second = second * c + first * s;
    if (layout == RopeLayout::half) return concat({rotated_first, rotated_second}, -1);
    return reshaped(stack({rotated_first, rotated_second}, -1), v.shape());
  });
}

}  // namespace lumen
