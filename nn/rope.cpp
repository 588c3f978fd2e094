#include "nn/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lumen/base/check.h"
#include "lumen/frontend/ops.h"

namespace lumen::nn {

namespace {

// 1 below `lo`, 0 above `hi`, linear between.
Tensor falling_ramp(Tensor x, double lo, double hi) {
  return 1.0 - clip(Operand((x - lo) / (hi - lo)), Operand(0.0), Operand(1.0));
}

Tensor llama3_frequencies(const RopeSettings& s, Tensor plain) {
  // Turns over the trained context, from which the share that stays as it is follows.
  const Tensor turns = plain * (s.trained_context / (2 * std::numbers::pi));
  const Tensor share =
      clip(Operand((turns - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor)), Operand(0.0), Operand(1.0));
  return plain * (share + (1.0 - share) / s.factor);
}

Tensor yarn_frequencies(const RopeSettings& s, Tensor pair, Tensor plain) {
  const auto pair_with_turns = [&](double turns) {
    return static_cast<double>(s.size) * std::log(s.trained_context / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(s.base));
  };
  double lo = pair_with_turns(s.beta_fast), hi = pair_with_turns(s.beta_slow);
  if (s.truncate) {
    lo = std::floor(lo);
    hi = std::ceil(hi);
  }
  lo = std::max(lo, 0.0);
  hi = std::min(hi, static_cast<double>(s.size - 1));
  if (lo == hi) hi += 0.001;
  const Tensor share = falling_ramp(pair, lo, hi);
  return plain * (share + (1.0 - share) / s.factor);
}

// f64 []: one more than the largest position.
Tensor context_of(Tensor positions) { return cast(max(positions), f64) + 1.0; }

Tensor longrope_frequencies(const RopeSettings& s, Tensor positions, Tensor plain) {
  Graph& g = *positions.graph;
  const Tensor factors =
      where(gt(context_of(positions), s.trained_context), constant(g, {s.size / 2}, s.long_factors, f64),
            constant(g, {s.size / 2}, s.short_factors, f64));
  return plain / factors;
}

// log2 of the base that fits the context.
Tensor dynamic_log_base(const RopeSettings& s, Tensor positions) {
  const auto size = static_cast<double>(s.size);
  const Tensor context = maximum(context_of(positions), s.trained_context);
  const Tensor grown = context * (s.factor / s.trained_context) - (s.factor - 1);
  return log2(grown) * (size / (size - 2)) + std::log2(s.base);
}

// The other element of each pair.
Tensor partners(Tensor x, RopeLayout layout) {
  const Shape shape = x.shape();
  if (layout == RopeLayout::half) return roll(x, shape[3] / 2, -1);
  const Tensor pairs = reshape(x, {shape[0], shape[1], shape[2], shape[3] / 2, 2});
  return reshape(flip(pairs, {-1}), {shape[0], shape[1], shape[2], shape[3]});
}

}  // namespace

Tensor rope_frequencies(const RopeSettings& s, Tensor positions) {
  Graph& g = *positions.graph;
  const Expr half = s.size / 2;
  const Tensor pair = iota(g, {half}, Expr::index(0, half), f64);
  const Tensor exponent = pair * (-2.0 / static_cast<double>(s.size));
  if (s.scaling == RopeScaling::dynamic) return exp2(exponent * dynamic_log_base(s, positions));
  const Tensor plain = exp2(exponent * std::log2(s.base));
  switch (s.scaling) {
    case RopeScaling::linear:
      return plain / s.factor;
    case RopeScaling::llama3:
      return llama3_frequencies(s, plain);
    case RopeScaling::longrope:
      return longrope_frequencies(s, positions, plain);
    case RopeScaling::yarn:
      return yarn_frequencies(s, pair, plain);
    case RopeScaling::proportional:
      return where(lt(pair, static_cast<double>(s.rotated_pairs)), plain / s.factor, 0.0);
    default:
      return plain;
  }
}

Rope::Rope(const RopeSettings& settings, Tensor positions) : size_(settings.size), layout_(settings.layout) {
  CHECK(size_ > 0 && size_ % 2 == 0, "rope turns pairs");
  const Tensor frequencies = cast(rope_frequencies(settings, positions), f32);
  const Tensor angles = unsqueeze(unsqueeze(cast(positions, f32), 1), -1) * frequencies;  // [batch, 1, seq, size/2]
  // Element k of a head belongs to pair k % (size/2), or k / 2; it is the first of its pair where `first` is.
  const Expr half = size_ / 2, k = Expr::index(0, size_);
  const Tensor first = layout_ == RopeLayout::half ? iota(*positions.graph, {size_}, lt(k, half), bool_)
                                                   : iota(*positions.graph, {size_}, eq(k % 2, 0), bool_);
  const auto by_element = [&](Tensor pairs) {
    if (layout_ == RopeLayout::half) return repeat(pairs, {1, 1, 1, 2});
    return repeat_interleave(pairs, 2, -1);
  };
  const Tensor all = by_element(angles);
  cos_ = cos(all) * settings.attention_factor;
  const Tensor turned = sin(all) * settings.attention_factor;
  sin_ = where(first, -turned, turned);
}

Tensor Rope::operator()(Tensor x) const {
  const Tensor head = narrow(x, -1, 0, size_);
  const Tensor wide = cast(head, f32);
  const Tensor turned = cast(wide * cos_ + partners(wide, layout_) * sin_, x.dtype());
  if (x.dim(-1) == Expr(size_)) return turned;
  return concat({turned, narrow(x, -1, size_, x.dim(-1) - size_)}, -1);
}

}  // namespace lumen::nn
