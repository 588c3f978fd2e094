#include <cmath>

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

TEST(Creation, Errors) {
  Rig rig;
  const std::vector<double> three = {1, 2, 3};
  EXPECT_TRUE(starts(error_of([&] { constant(rig.graph(), {2, 2}, three); }), "[constant] 3 values do not fill [2,2]"));
  const std::vector<double> many(1025, 0.0);
  EXPECT_TRUE(starts(error_of([&] { constant(rig.graph(), {1025}, many); }),
                     "[constant] 1025 values are too many, the limit is 1024: make it an input"));
  EXPECT_TRUE(starts(error_of([&] { arange(rig.graph(), 0, 5, 0); }), "[arange] the step must not be 0, got 0"));
  EXPECT_TRUE(starts(error_of([&] { tril(rig.graph().input("v", {3})); }), "[tril] needs at least 2 dims, got f32[3]"));
}

TEST(Creation, Values) {
  Rig rig;
  Graph& g = rig.graph();
  const Expr n = rig.dim("n", 3);
  expect_close(rig.run(full(g, {2, n}, 2.5)), std::vector<double>(6, 2.5));
  expect_close(rig.run(full(g, {2}, n, i32)), {3, 3});
  expect_close(rig.run(zeros_like(rig.input({2}, {NAN, 1}))), {0, 0});
  expect_close(rig.run(arange(g, n)), {0, 1, 2});
  expect_close(rig.run(arange(g, 1, 8, n, f32)), {1, 4, 7});
  expect_close(rig.run(arange(g, 5, 0, -2)), {5, 3, 1});
  expect_close(rig.run(linspace(g, 0, 1, 5)), {0, 0.25, 0.5, 0.75, 1});
  expect_close(rig.run(eye(g, 2, n)), {1, 0, 0, 0, 1, 0});
  expect_close(rig.run(iota(g, {2, n}, 10 * Expr::index(0, 2) + Expr::index(1, n))), {0, 1, 2, 10, 11, 12});
}

TEST(Creation, ConstantsAreExact) {
  Rig rig;
  std::vector<double> values;
  for (int k = 0; k < 37; ++k) values.push_back(k % 5 == 0 ? -0.0 : std::sin(k));
  values[7] = INFINITY;
  values[8] = NAN;
  expect_close(rig.run(constant(rig.graph(), {37}, values, f64)), values);
  const std::vector<double> few = {1, 1, 2, 2, 2, 1};
  EXPECT_EQ(count_ops(constant(rig.graph(), {2, 3}, few), "Select"), 2);
  expect_close(rig.run(constant(rig.graph(), {2, 3}, few, i8)), few);
}

TEST(Creation, Triangles) {
  Rig rig;
  const Expr n = rig.dim("n", 3);
  const double inf = INFINITY;
  const Tensor x = rig.input({2, n}, {1, inf, NAN, 4, 5, 6});
  expect_close(rig.run(tril(x)), {1, 0, 0, 4, 5, 0});
  expect_close(rig.run(triu(x, 1)), {0, inf, NAN, 0, 0, 6});
  EXPECT_EQ(count_ops(triu(transpose(x)), "View"), 1);
}

}  // namespace
}  // namespace lumen
