#include "lumen/kernel/work.h"

#include <gtest/gtest.h>

#include "lumen/frontend/ops.h"
#include "lumen/kernel/contract.h"

namespace lumen {
namespace {

TEST(Work, elementwise_ops_count_elements_and_bytes) {
  Graph g;
  const Expr n = g.dim("n", 1, 100);
  const Tensor x = g.input("x", {n, 4}), w = g.input("w", {4}, f16);
  (x * cast(w, f32)).output("y");
  const Work work = work_of(g, {{"n", 10}});
  EXPECT_EQ(work.flops, 40);
  EXPECT_EQ(work.bytes, 40 * 4 + 4 * 2 + 40 * 4);
  EXPECT_FALSE(work.matrix);
}

TEST(Work, a_contraction_counts_two_for_each_product) {
  Graph g;
  const Tensor a = g.input("a", {2, 3}), b = g.input("b", {4, 3});
  const auto at = [](int k, Expr extent) { return Expr::index(k, extent); };
  const Shape domain{2, 4, 3};
  const llir::Contract product{View(domain, at(0, 2) * 3 + at(2, 3)), View(domain, at(1, 4) * 3 + at(2, 3)), 1};
  const NodeId operands[] = {a.id, b.id};
  ASSERT_TRUE(g.add_output("c", g.add(product, operands).value()).ok());
  const Work work = work_of(g, {});
  EXPECT_EQ(work.flops, 2 * 24);
  EXPECT_EQ(work.bytes, 4 * (6 + 12 + 8));
  EXPECT_EQ(work.matrix, f32);
}

// What tensor cores and tiles take: the casts are theirs.
TEST(Work, factors_are_as_narrow_as_they_were_before_casts) {
  const auto matrix = [](DType left, DType right, bool rounds) {
    Graph g;
    const Tensor a = g.input("a", {2, 3}, left), b = g.input("b", {4, 3}, right);
    const Tensor x = rounds ? cast(cast(a, bf16), f32) : cast(a, f32);
    const auto at = [](int k, Expr extent) { return Expr::index(k, extent); };
    const Shape domain{2, 4, 3};
    const llir::Contract product{View(domain, at(0, 2) * 3 + at(2, 3)), View(domain, at(1, 4) * 3 + at(2, 3)), 1};
    const NodeId operands[] = {x.id, cast(b, f32).id};
    EXPECT_TRUE(g.add_output("c", g.add(product, operands).value()).ok());
    return work_of(g, {}).matrix;
  };
  EXPECT_EQ(matrix(bf16, bf16, false), bf16);
  EXPECT_EQ(matrix(f32, bf16, false), f32);
  EXPECT_EQ(matrix(f32, bf16, true), bf16);
}

TEST(Work, of_a_table_only_what_is_gathered_is_read) {
  Graph g;
  const Tensor table = g.input("table", {1000, 8}), ids = g.input("ids", {3}, i32);
  index_select(table * 2.0, 0, ids).output("rows");
  const Work work = work_of(g, {});
  EXPECT_EQ(work.bytes, 3 * 8 * 4 + 3 * 4 + 3 * 8 * 4);
  EXPECT_EQ(work.flops, 3 * 8);
}

}  // namespace
}  // namespace lumen
