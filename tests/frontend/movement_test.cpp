#include <algorithm>
#include <random>

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

std::vector<double> counting(int64_t n) {
  std::vector<double> values;
  for (int64_t k = 0; k < n; ++k) values.push_back(static_cast<double>(k));
  return values;
}

TEST(Movement, Errors) {
  Rig rig;
  const Expr n = rig.dim("n", 4);
  const Tensor x = rig.graph().input("x", {2, n});
  const Tensor y = rig.graph().input("y", {2, 6});
  EXPECT_TRUE(starts(error_of([&] { permute(x, {0, 0}); }), "[permute] [0,0] is no order of the axes of f32[2,n]"));
  EXPECT_TRUE(starts(error_of([&] { reshape(y, {5, 2}); }), "[reshape] f32[2,6] has 12 elements, [5,2] has 10"));
  EXPECT_TRUE(starts(error_of([&] { reshape(y, {-1, -1}); }), "[reshape] at most one dim can be -1: [-1,-1]"));
  EXPECT_TRUE(starts(error_of([&] { reshape(y, {-2, 6}); }), "[reshape] dim 0 of [-2,6] is negative"));
  EXPECT_TRUE(starts(error_of([&] {
                       reshape(x, {3, -1});
                     }),
                     "[reshape] cannot infer the -1 of [3,-1]: 2*n elements of f32[2,n] are not known to be a "
                     "multiple of 3"))
      << error_of([&] {
           reshape(x, {3, -1});
         });
  EXPECT_TRUE(starts(error_of([&] { expand(y, {2, 7}); }), "[expand] f32[2,6] does not broadcast to [2,7]"));
  EXPECT_TRUE(starts(error_of([&] { narrow(y, 1, 4, 3); }), "[narrow] 3 elements from 4 exceed axis 1 of f32[2,6]"));
  EXPECT_TRUE(starts(error_of([&] { select(y, 1, 6); }), "[select] index 6 out of range for axis 1 of f32[2,6]"));
  EXPECT_TRUE(starts(error_of([&] { slice(y, 0, 0, 1, 0); }), "[slice] the step must not be 0"));
  EXPECT_TRUE(starts(error_of([&] { concat({x, y}, 0); }), "[concat] f32[2,n] and f32[2,6] differ outside axis 0"));
  EXPECT_TRUE(starts(error_of([&] { split(x, 2, 1); }),
                     "[split] axis 1 of f32[2,n] in pieces of 2 has no constant number of pieces"));
  EXPECT_TRUE(starts(error_of([&] {
                       pad(y, {{0, 0}, {-4, -3}});
                     }),
                     "[pad] padding axis 1 of f32[2,6] by -4 and -3 leaves a negative size"));
  EXPECT_TRUE(starts(error_of([&] { unsqueeze(y, 3); }), "[unsqueeze] axis 3 out of range for f32[2,6]"));
}

TEST(Movement, AChainIsOneView) {
  Rig rig;
  const Tensor x = rig.input({4, 6}, counting(24));
  const Tensor y = flip(transpose(slice(reshape(x, {2, 2, 6}), 2, 1, 5, 2)), {0});
  EXPECT_EQ(count_ops(y, "View"), 1);
  // element [a][b][c] is x[2a + c][1 + 2b], rows of a flipped
  std::vector<double> want;
  for (int a : {1, 0}) {
    for (int b : {0, 1}) {
      for (int c : {0, 1}) want.push_back(6 * (2 * a + c) + 1 + 2 * b);
    }
  }
  expect_close(rig.run(y), want);
}

TEST(Movement, WhatChangesNothingIsTheTensorItself) {
  Rig rig;
  const Tensor x = rig.input({2, 3}, counting(6));
  EXPECT_EQ(transpose(transpose(x)).id, x.id);
  EXPECT_EQ(reshape(reshape(x, {3, 2}), {2, 3}).id, x.id);
  EXPECT_EQ(slice(pad_along(x, 1, 2, 3), 1, 2, 5).id, x.id);
  EXPECT_EQ(flip(flip(x, {0, 1}), {1, 0}).id, x.id);
}

TEST(Movement, DifferentFillsStayTwoViews) {
  Rig rig;
  const Tensor x = rig.input({2}, {1, 2});
  const Tensor y = pad_along(pad_along(x, 0, 1, 0, 7), 0, 0, 1, 8);
  EXPECT_EQ(count_ops(y, "View"), 2);
  expect_close(rig.run(y), {7, 1, 2, 8});
  expect_close(rig.run(pad_along(x, 0, -1, 2)), {2, 0, 0});
}

TEST(Movement, SlicesAreThoseOfPython) {
  std::mt19937 engine(7);
  const int64_t n = 7;
  for (int trial = 0; trial < 200; ++trial) {
    const auto draw = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(engine); };
    const auto bound = [&]() -> std::optional<int64_t> {
      return draw(0, 4) == 0 ? std::nullopt : std::optional(draw(-10, 10));
    };
    const auto start = bound();
    const auto stop = bound();
    int64_t step = draw(-3, 3);
    if (step == 0) step = 4;
    const auto at = [&](int64_t b, int64_t lo, int64_t hi) { return std::clamp(b < 0 ? b + n : b, lo, hi); };
    const int64_t lo = step > 0 ? 0 : -1;
    const int64_t hi = step > 0 ? n : n - 1;
    std::vector<double> want;
    const int64_t first = start ? at(*start, lo, hi) : (step > 0 ? 0 : n - 1);
    const int64_t end = stop ? at(*stop, lo, hi) : (step > 0 ? n : -1);
    for (int64_t k = first; step > 0 ? k < end : k > end; k += step) want.push_back(static_cast<double>(k));
    const auto as_expr = [](std::optional<int64_t> b) { return b ? std::optional<Expr>(*b) : std::nullopt; };
    Rig fixed;
    SCOPED_TRACE(trial);
    expect_close(fixed.run(slice(fixed.input({n}, counting(n)), 0, as_expr(start), as_expr(stop), step)), want);
    Rig symbolic;
    const Expr size = symbolic.dim("n", n);
    const Tensor y = slice(symbolic.input({size}, counting(n)), 0, as_expr(start), as_expr(stop), step);
    expect_close(symbolic.run(y), want);
  }
}

TEST(Movement, JoiningKeepsEveryValue) {
  const double inf = INFINITY;
  Rig rig;
  const Expr n = rig.dim("n", 2);
  const Tensor a = rig.input({2, n}, {NAN, 1, inf, 2});
  const Tensor b = rig.input({2, 1}, {-inf, -0.0});
  const Tensor c = rig.input({2, 0}, {});
  expect_close(rig.run(concat({a, c, b, a}, 1)), {NAN, 1, -inf, NAN, 1, inf, 2, -0.0, inf, 2});
  expect_close(rig.run(stack({b, b}, -1)), {-inf, -inf, -0.0, -0.0});
  EXPECT_EQ(concat({b, rig.input({2, 1}, {1, 2}, i64)}, 1).dtype(), f32);
}

TEST(Movement, PartsGiveTheWholeBack) {
  Rig rig;
  const Expr n = rig.dim("n", 3);
  const Tensor x = rig.input({2, 4 * n}, counting(24));
  const std::vector<Tensor> parts = chunk(x, 4, 1);
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[2].shape(), Shape({2, n}));
  expect_close(rig.run(concat(parts, 1)), counting(24));
  const Tensor y = rig.input({7}, counting(7));
  const std::vector<Tensor> pieces = split(y, 3);
  ASSERT_EQ(pieces.size(), 3u);
  expect_close(rig.run(pieces[2]), {6});
  EXPECT_EQ(chunk(y, 5).size(), 4u);  // as PyTorch: ceil(7/5) each
  expect_close(rig.run(unbind(rig.input({2, 2}, {1, 2, 3, 4}), 1)[1]), {2, 4});
  expect_close(rig.run(split(y, {2, n, 5 - n})[2]), {5, 6});
}

TEST(Movement, Repeats) {
  Rig rig;
  const Tensor x = rig.input({2}, {1, 2});
  expect_close(rig.run(repeat(x, {2, 2})), {1, 2, 1, 2, 1, 2, 1, 2});
  expect_close(rig.run(repeat_interleave(x, 2, 0)), {1, 1, 2, 2});
  expect_close(rig.run(tile(rig.input({1, 2}, {3, 4}), {2})), {3, 4, 3, 4});
  expect_close(rig.run(roll(rig.input({4}, counting(4)), 1, 0)), {3, 0, 1, 2});
  expect_close(rig.run(unfold(rig.input({6}, counting(6)), 0, 2, 2, 2)), {0, 2, 2, 4});
  expect_close(rig.run(diagonal(rig.input({2, 3}, counting(6)), 1)), {1, 5});
  expect_close(rig.run(diagonal(rig.input({2, 3}, counting(6)), -1)), {3});
}

}  // namespace
}  // namespace lumen
