#include <cmath>

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

TEST(Linear, Errors) {
  Rig rig;
  const Expr n = rig.dim("n", 3);
  const Tensor a = rig.graph().input("a", {2, n});
  const Tensor b = rig.graph().input("b", {3, 4});
  const Tensor s = rig.graph().input("s", {});
  EXPECT_TRUE(starts(error_of([&] { matmul(a, b); }), "[matmul] inner dims n and 3 differ: f32[2,n] @ f32[3,4]"));
  EXPECT_TRUE(starts(error_of([&] { matmul(s, b); }), "[matmul] needs at least 1 dim on both sides: f32[] @ f32[3,4]"));
  EXPECT_TRUE(starts(error_of([&] { dot(a, b); }), "[dot] needs two vectors, got f32[2,n] and f32[3,4]"));
  EXPECT_TRUE(
      starts(error_of([&] { linear(a, b); }), "[linear] weight f32[3,4] does not fit the last dim of f32[2,n]"));
  EXPECT_TRUE(starts(error_of([&] { einsum("ij,jk", {a}); }), "[einsum] \"ij,jk\" names 2 operands, got 1"));
  EXPECT_TRUE(starts(error_of([&] { einsum("ijk", {a}); }), "[einsum] \"ijk\" does not name the dims of f32[2,n]"));
  EXPECT_TRUE(starts(error_of([&] { einsum("i!", {a}); }), "[einsum] '!' is no letter in \"i!\""));
  EXPECT_TRUE(
      starts(error_of([&] { einsum("ij->ik", {a}); }), "[einsum] output letter 'k' of \"ij->ik\" is in no operand"));
  EXPECT_TRUE(
      starts(error_of([&] { einsum("ij->ii", {a}); }), "[einsum] output letter 'i' of \"ij->ii\" occurs twice"));
  EXPECT_TRUE(
      starts(error_of([&] { einsum("ii", {a}); }), "[einsum] 'i' names dims of different sizes in \"ii\": f32[2,n]"));
}

// [batch, m, k] with [batch, k, n], each batch 1 or the common one.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, size_t batch, size_t m,
                            size_t k, size_t n, bool shared_b) {
  std::vector<double> c(batch * m * n, 0);
  for (size_t t = 0; t < batch; ++t) {
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        for (size_t q = 0; q < k; ++q) {
          c[(t * m + i) * n + j] += a[(t * m + i) * k + q] * b[((shared_b ? 0 : t) * k + q) * n + j];
        }
      }
    }
  }
  return c;
}

TEST(Linear, MatmulOfEveryRank) {
  Rig rig;
  const Expr n = rig.dim("n", 3);
  const Tensor v = rig.random({4});
  const Tensor m = rig.random({n, 4});
  const Tensor w = rig.random({4, 5});
  const Tensor batch = rig.random({2, n, 4});
  const Tensor many = rig.random({2, 4, 5});
  const auto at = [&](Tensor x) { return rig.values(x); };
  expect_close(rig.run(matmul(v, v)), product(at(v), at(v), 1, 1, 4, 1, false), 1e-6);
  expect_close(rig.run(matmul(m, v)), product(at(m), at(v), 1, 3, 4, 1, false), 1e-6);
  expect_close(rig.run(matmul(v, w)), product(at(v), at(w), 1, 1, 4, 5, false), 1e-6);
  expect_close(rig.run(matmul(m, w)), product(at(m), at(w), 1, 3, 4, 5, false), 1e-6);
  expect_close(rig.run(matmul(batch, w)), product(at(batch), at(w), 2, 3, 4, 5, true), 1e-6);
  expect_close(rig.run(matmul(batch, many)), product(at(batch), at(many), 2, 3, 4, 5, false), 1e-6);
  expect_close(rig.run(matmul(batch, v)), product(at(batch), at(v), 2, 3, 4, 1, true), 1e-6);
  EXPECT_EQ(matmul(v, many).shape(), Shape({2, 5}));
  EXPECT_EQ(matmul(unsqueeze(batch, 1), many).shape(), Shape({2, 2, n, 5}));
  EXPECT_EQ(count_ops(matmul(m, w), "SumReduce"), 1);
  EXPECT_EQ(count_ops(matmul(m, w), "View"), 2);
  const Tensor none = rig.input({2, 0}, {});
  expect_close(rig.run(matmul(none, rig.input({0, 2}, {}))), {0, 0, 0, 0});
}

TEST(Linear, NarrowFactorsMultiplyInF32) {
  Rig rig;
  const Tensor a = rig.input({1, 2}, {300, 300}, f16);
  const Tensor b = rig.input({2, 1}, {300, -299}, f16);
  const HostTensor got = rig.run(matmul(a, b));
  EXPECT_EQ(got.dtype, f16);
  expect_close(got, {300});
}

TEST(Linear, LinearAddsBiasBeforeRounding) {
  Rig rig;
  const Tensor x = rig.input({1, 1}, {256}, bf16);
  const Tensor w = rig.input({1, 1}, {1}, bf16);
  const Tensor b = rig.input({1}, {0.75}, bf16);
  expect_close(rig.run(linear(x, w, b)), {round_to(bf16, 256.75)});
  const Tensor y = rig.random({2, 3});
  const Tensor u = rig.random({4, 3});
  EXPECT_EQ(linear(y, u).shape(), Shape({2, 4}));
  expect_close(rig.run(linear(y, u)), doubles(rig.run(matmul(y, t(u)))));
}

TEST(Linear, Einsum) {
  Rig rig;
  const Expr n = rig.dim("n", 2);
  const Tensor a = rig.random({n, 3, 4});
  const Tensor b = rig.random({n, 4, 5});
  const Tensor sq = rig.random({3, 3});
  const auto same = [&](Tensor x, Tensor y) {
    EXPECT_EQ(x.shape(), y.shape());
    expect_close(rig.run(x), doubles(rig.run(y)), 1e-5);
  };
  same(einsum("bij,bjk->bik", {a, b}), matmul(a, b));
  same(einsum("bij , bjk -> kib", {a, b}), permute(matmul(a, b), {2, 1, 0}));
  same(einsum("...ij,...jk", {a, b}), matmul(a, b));
  same(einsum("ii->i", {sq}), diagonal(sq));
  same(einsum("ii", {sq}), sum(diagonal(sq)));
  same(einsum("ba", {sq}), transpose(sq));
  same(einsum("ij->", {sq}), sum(sq));
  same(einsum("bij,bjk,ii->bk", {a, b, sq}), sum(matmul(a, b) * unsqueeze(diagonal(sq), 1), {1}));
  same(einsum("i,j->ij", {diagonal(sq), diagonal(sq)}), outer(diagonal(sq), diagonal(sq)));
  same(einsum("b...->...b", {a}), permute(a, {1, 2, 0}));
}

}  // namespace
}  // namespace lumen
