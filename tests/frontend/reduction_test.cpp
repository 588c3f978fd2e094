#include <cmath>
#include <functional>

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

TEST(Reduction, Errors) {
  Rig rig;
  const Tensor x = rig.graph().input("x", {2, 0});
  const auto starts = [](const std::string& text, const std::string& with) { return text.find(with + " (") == 0; };
  EXPECT_TRUE(starts(error_of([&] { sum(x, {0, -2}); }), "[sum] axis 0 given twice for f32[2,0]"));
  EXPECT_TRUE(starts(error_of([&] { max(x, {1}); }), "[max] axis 1 of f32[2,0] is empty"));
  EXPECT_TRUE(starts(error_of([&] { argmin(x, 1); }), "[argmin] axis 1 of f32[2,0] is empty"));
}

TEST(Reduction, SumsOverSeveralAxes) {
  Rig rig;
  const Expr n = rig.dim("n", 3);
  const Tensor x = rig.random({2, n, 4});
  const std::vector<double> in = rig.values(x);
  std::vector<double> want(3, 0);
  for (size_t i = 0; i < 2; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      for (size_t k = 0; k < 4; ++k) want[j] += in[(i * 3 + j) * 4 + k];
    }
  }
  expect_close(rig.run(sum(x, {0, 2})), want, 1e-6);
  EXPECT_EQ(sum(x, {0, -1}, true).shape(), Shape({1, n, 1}));
  for (double& w : want) w /= 8;
  expect_close(rig.run(mean(x, {2, 0})), want, 1e-6);
  EXPECT_EQ(sum(x).shape(), Shape());
}

TEST(Reduction, IntegersAndBoolsSumToI64) {
  Rig rig;
  const Tensor bytes = rig.input({3}, {200, 200, 200}, u8);
  const HostTensor total = rig.run(sum(bytes));
  EXPECT_EQ(total.dtype, i64);
  expect_close(total, {600});
  expect_close(rig.run(prod(rig.input({2}, {100, 100}, i8))), {10000});
  expect_close(rig.run(sum(rig.input({3}, {1, 0, 1}, bool_))), {2});
  expect_close(rig.run(mean(rig.input({2}, {1, 2}, i32))), {1.5});
  EXPECT_EQ(cumsum(bytes, 0).dtype(), i64);
}

TEST(Reduction, NarrowFloatsDoNotOverflowOnTheWay) {
  Rig rig;
  const Tensor x = rig.input({2, 2}, {60000, 60000, 60000, -60000}, f16);
  expect_close(rig.run(mean(x)), {30000});
  const double inf = INFINITY;
  expect_close(rig.run(sum(x, {1})), {inf, 0});
}

TEST(Reduction, ExtremesAndTheirPlaces) {
  Rig rig;
  const Tensor x = rig.input({2, 4}, {1, 3, 3, -2, NAN, 5, NAN, 7});
  expect_close(rig.run(max(x, {1})), {3, NAN});
  expect_close(rig.run(min(x, {1})), {-2, NAN});
  expect_close(rig.run(argmax(x, 1)), {1, 0});
  expect_close(rig.run(argmin(x, -1)), {3, 0});
  const Tensor i = rig.input({3}, {-128, 127, -128}, i8);
  expect_close(rig.run(argmin(i, 0)), {0});
  expect_close(rig.run(min(i)), {-128});
  expect_close(rig.run(min(rig.input({2}, {3, 200}, u8))), {3});
  expect_close(rig.run(any(rig.input({2, 2}, {0, 0, 0, 2}), {1})), {0, 1});
  expect_close(rig.run(all(rig.input({2, 2}, {1, NAN, 0, 2}), {1})), {1, 0});
  expect_close(rig.run(count_nonzero(rig.input({4}, {1, 0, NAN, -0.0}))), {2});
}

TEST(Reduction, AScalarHasTheAxisZero) {
  Rig rig;
  const Tensor x = rig.input({}, {3});
  for (const Tensor& y :
       {sum(x, {0}), max(x, {-1}, true), cumsum(x, 0), sort(x).values, topk(x, 1).values, median(x, 0).values}) {
    EXPECT_EQ(y.shape(), Shape());
    expect_close(rig.run(y), {3});
  }
  for (const Tensor& y : {argmax(x, 0), argmin(x, -1, true), cummax(x, 0).indices, argsort(x, 0)}) {
    EXPECT_EQ(y.shape(), Shape());
    expect_close(rig.run(y), {0});
  }
  expect_close(rig.run(softmax(x)), {1});
}

TEST(Reduction, VarianceAndNorms) {
  Rig rig;
  const Expr n = rig.dim("n", 4);
  const Tensor x = rig.input({n}, {1, -2, 0, 5});
  expect_close(rig.run(var(x)), {8.666666666}, 1e-6);
  expect_close(rig.run(stddev(x, {}, 0)), {std::sqrt(6.5)}, 1e-6);
  expect_close(rig.run(var(rig.input({1}, {3}))), {NAN});
  const double inf = INFINITY;
  expect_close(rig.run(norm(x, 0)), {3});
  expect_close(rig.run(norm(x, 1)), {8});
  expect_close(rig.run(norm(x)), {std::sqrt(30.0)}, 1e-6);
  expect_close(rig.run(norm(x, inf)), {5});
  expect_close(rig.run(norm(x, -inf)), {0});
  expect_close(rig.run(norm(x, 3)), {std::cbrt(134.0)}, 1e-6);
}

TEST(Reduction, LogSumExpOfInfinities) {
  Rig rig;
  const double inf = INFINITY;
  const Tensor x = rig.input({4, 2}, {-inf, -inf, inf, 1, 1000, 1000, inf, -inf});
  expect_close(rig.run(logsumexp(x, {1})), {-inf, inf, 1000 + std::log(2.0), inf}, 1e-6);
  EXPECT_EQ(logsumexp(x, {1}, true).shape(), Shape({4, 1}));
}

TEST(Reduction, Scans) {
  Rig rig;
  const double inf = INFINITY;
  const Tensor x = rig.input({6}, {1, 1, NAN, 2, NAN, 3});
  const ValuesAndIndices top = cummax(x, 0);
  expect_close(rig.run(top.values), {1, 1, NAN, NAN, NAN, NAN});
  expect_close(rig.run(top.indices), {0, 1, 2, 2, 4, 4});
  const ValuesAndIndices low = cummin(rig.input({5}, {3, 4, 3, -1, 0}, i32), 0);
  expect_close(rig.run(low.values), {3, 3, 3, -1, -1});
  expect_close(rig.run(low.indices), {0, 0, 2, 3, 3});
  expect_close(rig.run(cumprod(rig.input({3}, {2, 3, 4}), 0)), {2, 6, 24});
  const Expr n = rig.dim("n", 5);
  expect_close(rig.run(logcumsumexp(rig.input({n}, {-inf, -200, 0, inf, 1}), 0)), {-inf, -200, 0, inf, inf}, 1e-6);
}

}  // namespace
}  // namespace lumen
