#include <cmath>

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

struct Sizes {
  size_t heads, queries, keys, depth, out;
  size_t key_heads;
};

// Plain loops over [heads, …]; `bias` is added to the scores, [queries, keys].
std::vector<double> attend(const std::vector<double>& q, const std::vector<double>& k, const std::vector<double>& v,
                           const std::vector<double>& bias, const Sizes& s) {
  std::vector<double> result;
  for (size_t h = 0; h < s.heads; ++h) {
    const size_t shared = h / (s.heads / s.key_heads);
    for (size_t i = 0; i < s.queries; ++i) {
      std::vector<double> weights(s.keys);
      double total = 0;
      for (size_t j = 0; j < s.keys; ++j) {
        double score = 0;
        for (size_t d = 0; d < s.depth; ++d) {
          score += q[(h * s.queries + i) * s.depth + d] * k[(shared * s.keys + j) * s.depth + d];
        }
        weights[j] = std::exp(score / std::sqrt(static_cast<double>(s.depth)) + bias[i * s.keys + j]);
        total += weights[j];
      }
      for (size_t e = 0; e < s.out; ++e) {
        double sum = 0;
        for (size_t j = 0; j < s.keys; ++j) sum += weights[j] * v[(shared * s.keys + j) * s.out + e];
        result.push_back(total == 0 ? 0 : sum / total);
      }
    }
  }
  return result;
}

TEST(Attention, Errors) {
  Rig rig;
  const Tensor q = rig.graph().input("q", {4, 3, 8});
  const Tensor k = rig.graph().input("k", {3, 5, 8});
  const Tensor v = rig.graph().input("v", {3, 6, 8});
  EXPECT_TRUE(
      starts(error_of([&] { scaled_dot_product_attention(q, k, v); }),
             "[scaled_dot_product_attention] query f32[4,3,8], key f32[3,5,8] and value f32[3,6,8] do not fit"));
  EXPECT_TRUE(starts(error_of([&] { scaled_dot_product_attention(q, k, k, {.enable_gqa = true}); }),
                     "[scaled_dot_product_attention] 4 query heads are no multiple of 3: f32[4,3,8] and f32[3,5,8]"));
  EXPECT_TRUE(starts(error_of([&] { scaled_dot_product_attention(q, q, q, {.mask = q, .causal = true}); }),
                     "[scaled_dot_product_attention] a mask and causal exclude each other"));
  const Tensor odd = rig.graph().input("odd", {3, 7});
  const Tensor at = rig.graph().input("at", {4}, i64);
  EXPECT_TRUE(starts(error_of([&] { rope(odd, at); }), "[rope] the last dim must be even, got f32[3,7]"));
  EXPECT_TRUE(starts(error_of([&] { rope(k, at); }), "[rope] shapes [3,5,4] and [4,4] do not broadcast"));
}

TEST(Attention, MasksAndSharedHeads) {
  const double inf = INFINITY;
  Rig rig;
  const Expr n = rig.dim("n", 3);
  const Sizes sizes{4, 2, 3, 8, 5, 2};
  const Tensor q = rig.random({4, 2, 8});
  const Tensor k = rig.random({2, n, 8});
  const Tensor v = rig.random({2, n, 5});
  const auto want = [&](const std::vector<double>& bias) {
    return attend(rig.values(q), rig.values(k), rig.values(v), bias, sizes);
  };
  AttentionOptions options{.enable_gqa = true};
  expect_close(rig.run(scaled_dot_product_attention(q, k, v, options)), want({0, 0, 0, 0, 0, 0}), 2e-6);
  options.causal = true;
  expect_close(rig.run(scaled_dot_product_attention(q, k, v, options)), want({0, -inf, -inf, 0, 0, -inf}), 2e-6);
  options.causal = false;
  options.mask = rig.input({2, n}, {0, 0, 0, 1, 0, 1}, bool_);
  expect_close(rig.run(scaled_dot_product_attention(q, k, v, options)), want({-inf, -inf, -inf, 0, -inf, 0}), 2e-6);
  options.mask = rig.input({2, n}, {0.5, 0, -1, 0, -inf, 2});
  expect_close(rig.run(scaled_dot_product_attention(q, k, v, options)), want({0.5, 0, -1, 0, -inf, 2}), 2e-6);
}

TEST(Attention, RopeRotatesPairs) {
  Rig rig;
  const Expr n = rig.dim("n", 3);
  const Tensor x = rig.random({2, n, 4});
  const Tensor at = rig.input({n}, {0, 5, 100}, i64);
  const std::vector<double> in = rig.values(x);
  for (const RopeLayout layout : {RopeLayout::half, RopeLayout::interleaved}) {
    std::vector<double> want = in;
    for (size_t row = 0; row < 6; ++row) {
      const double position = std::vector<double>{0, 5, 100}[row % 3];
      for (size_t pair = 0; pair < 2; ++pair) {
        const double angle = position * std::pow(10000.0, -2.0 * static_cast<double>(pair) / 4);
        const size_t first = row * 4 + (layout == RopeLayout::half ? pair : 2 * pair);
        const size_t second = first + (layout == RopeLayout::half ? 2 : 1);
        want[first] = in[first] * std::cos(angle) - in[second] * std::sin(angle);
        want[second] = in[second] * std::cos(angle) + in[first] * std::sin(angle);
      }
    }
    expect_close(rig.run(rope(x, at, 10000.0, layout)), want, 2e-6);
  }
}

}  // namespace
}  // namespace lumen
