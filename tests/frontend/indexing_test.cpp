#include "tests/frontend/rig.h"

namespace lumen {
namespace {

TEST(Indexing, Errors) {
  Rig rig;
  const Tensor x = rig.graph().input("x", {2, 3});
  const Tensor i = rig.graph().input("i", {2}, i64);
  EXPECT_TRUE(starts(error_of([&] { gather(x, x); }), "[gather] indices must be integers, got f32[2,3]"));
  EXPECT_TRUE(starts(error_of([&] { gather_elements(x, 0, i); }),
                     "[gather_elements] indices i64[2] do not fit f32[2,3] outside axis 0"));
  EXPECT_TRUE(starts(error_of([&] { index_add(x, 1, i, x); }),
                     "[index_add] source f32[2,3] is not of shape [2,2], which [2] along axis 1 of f32[2,3] needs"));
  EXPECT_TRUE(starts(error_of([&] {
                       gather_nd(i, rig.graph().input("d", {4, 2}, i64));
                     }),
                     "[gather_nd] the last dim of i64[4,2] does not address dims of i64[2]"));
  EXPECT_TRUE(starts(error_of([&] { embedding(i, i); }), "[embedding] weight must have 2 dims, got i64[2]"));
  EXPECT_TRUE(starts(error_of([&] { slice_scatter(x, x, 1, 1); }),
                     "[slice_scatter] source f32[2,3] does not fit f32[2,3] from 1 along axis 1"));
}

TEST(Indexing, AnIndexOutsideItsAxisFailsWhenRun) {
  for (double bad : {-1.0, 3.0}) {
    Rig rig;
    const Tensor x = rig.random({2, 3});
    const Tensor at = rig.input({2, 1}, {0, bad}, i64);
    const Tensor y = gather_elements(x, 1, at);
    EXPECT_NE(error_of([&] { rig.run(y); }), "") << bad;
  }
}

TEST(Indexing, Reading) {
  Rig rig;
  const Expr n = rig.dim("n", 3);
  const Tensor x = rig.input({2, n}, {10, 11, 12, 20, 21, 22});
  expect_close(rig.run(gather(x, rig.input({2, 2}, {5, 0, 3, 3}, i32))), {22, 10, 20, 20});
  expect_close(rig.run(index_select(x, 1, rig.input({2}, {2, 0}, i64))), {12, 10, 22, 20});
  expect_close(rig.run(gather_elements(x, 1, rig.input({2, 2}, {2, 2, 0, 1}, i64))), {12, 12, 20, 21});
  expect_close(rig.run(gather_elements(x, 0, rig.input({1, n}, {1, 0, 1}, i64))), {20, 11, 22});
  expect_close(rig.run(take_along_axis(x, rig.input({2, 1}, {0, 2}, i64), -1)), {10, 22});
  expect_close(rig.run(gather_nd(x, rig.input({2, 2}, {1, -1, 0, 1}, i64))), {22, 11});
  expect_close(rig.run(gather_nd(x, rig.input({1, 1}, {-1}, i64))), {20, 21, 22});
  expect_close(rig.run(embedding(rig.input({2}, {1, 1}, u8), x)), {20, 21, 22, 20, 21, 22});
  expect_close(rig.run(one_hot(rig.input({2}, {2, 0}, i64), n)), {0, 0, 1, 1, 0, 0});
}

TEST(Indexing, Writing) {
  Rig rig;
  const Expr n = rig.dim("n", 3);
  const Tensor x = rig.input({2, n}, {1, 2, 3, 4, 5, 6});
  expect_close(rig.run(scatter(x, rig.input({2}, {5, 0}, i64), rig.input({2}, {60, 10}))), {10, 2, 3, 4, 5, 60});
  expect_close(rig.run(scatter(x, rig.input({2}, {1, 1}, i64), 100, hlir::ScatterMode::add)), {1, 202, 3, 4, 5, 6});
  expect_close(rig.run(index_add(x, 1, rig.input({2}, {0, 0}, i64), rig.input({2, 2}, {1, 1, 2, 2}))),
               {3, 2, 3, 8, 5, 6});
  expect_close(rig.run(index_copy(x, 0, rig.input({1}, {1}, i64), rig.input({1, n}, {7, 8, 9}))), {1, 2, 3, 7, 8, 9});
  const Tensor at = rig.input({2, 1}, {2, 0}, i64);
  expect_close(rig.run(scatter_elements(x, 1, at, rig.input({2, 2}, {-1, 0, -2, 0}))), {1, 2, -1, -2, 5, 6});
  expect_close(rig.run(scatter_elements(x, 1, at, 10, hlir::ScatterMode::mul)), {1, 2, 30, 40, 5, 6});
  expect_close(rig.run(scatter_nd(x, rig.input({1, 2}, {1, 1}, i64), rig.input({1}, {50}))), {1, 2, 3, 4, 50, 6});
  expect_close(rig.run(slice_scatter(x, rig.input({2, 1}, {8, 9}), 1, n - 2)), {1, 8, 3, 4, 9, 6});
  expect_close(rig.run(slice_scatter(x, rig.input({2, 1}, {8, 9}), 1, -1)), {1, 2, 8, 4, 5, 9});
}

TEST(Sorting, Errors) {
  Rig rig;
  const Tensor x = rig.graph().input("x", {2, 3});
  EXPECT_TRUE(starts(error_of([&] { topk(x, 4); }), "[topk] k = 4 out of range for axis -1 of f32[2,3]"));
  EXPECT_TRUE(starts(error_of([&] { sort(x, 2); }), "[sort] axis 2 out of range for f32[2,3]"));
}

TEST(Sorting, Orders) {
  Rig rig;
  const Tensor x = rig.input({2, 4}, {3, NAN, 1, 3, 2, 2, 0, 5});
  const ValuesAndIndices up = sort(x);
  expect_close(rig.run(up.values), {1, 3, 3, NAN, 0, 2, 2, 5});
  expect_close(rig.run(up.indices), {2, 0, 3, 1, 2, 0, 1, 3});
  expect_close(rig.run(sort(x, 1, true).values), {NAN, 3, 3, 1, 5, 2, 2, 0});
  expect_close(rig.run(argsort(x, 0)), {1, 1, 1, 0, 0, 0, 0, 1});
  expect_close(rig.run(topk(x, 2).values), {NAN, 3, 5, 2});
  expect_close(rig.run(topk(x, 2, -1, false).indices), {2, 0, 2, 0});
  expect_close(rig.run(median(x).values), {NAN, 2});
  expect_close(rig.run(median(x).indices), {1, 0});
  const Expr n = rig.dim("n", 4);
  expect_close(rig.run(median(rig.input({n}, {3, 1, 1, 2}, i32), 0).indices), {2});
}

}  // namespace
}  // namespace lumen
