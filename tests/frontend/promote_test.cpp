#include "lumen/frontend/promote.h"

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

TEST(Promote, Table) {
  struct Row {
    DType a, b, result;
  };
  const std::vector<Row> rows = {
      {f32, f32, f32},       {f64, f32, f64},       {f16, bf16, f32},   {f16, f32, f32},
      {tf32, f16, tf32},     {tf32, f32, f32},      {f8e4m3, f16, f16}, {f4e2m1, bf16, bf16},
      {f8e4m3, f8e5m2, f32}, {f6e2m3, f4e2m1, f32}, {i64, f16, f16},    {bool_, f8e5m2, f8e5m2},
      {bool_, i8, i8},       {i8, i32, i32},        {u8, u4, u8},       {u8, i8, i16},
      {u16, i8, i32},        {u32, i32, i64},       {u64, i8, i64},     {u8, i32, i32},
      {u4, i4, i8},          {u4, i8, i8},          {u8, i4, i16},      {bool_, bool_, bool_},
      {u64, u8, u64},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(name(promote(row.a, row.b)), name(row.result)) << name(row.a) << " with " << name(row.b);
    EXPECT_EQ(promote(row.a, row.b), promote(row.b, row.a));
  }
}

TEST(Promote, NumbersOnlyLiftTheKind) {
  Rig rig;
  const Tensor i = rig.input({2}, {1, 2}, i32);
  const Tensor b = rig.input({2}, {0, 1}, bool_);
  const Tensor h = rig.input({2}, {1, 2}, f16);
  const Expr n = rig.dim("n", 5);
  EXPECT_EQ((i + 1).dtype(), i32);
  EXPECT_EQ((i + 0.5).dtype(), f32);
  EXPECT_EQ((i + true).dtype(), i32);
  EXPECT_EQ((b + 1).dtype(), i64);
  EXPECT_EQ((b + 0.5).dtype(), f32);
  EXPECT_EQ((h + 0.5).dtype(), f16);
  EXPECT_EQ((h * n).dtype(), f16);
  EXPECT_EQ((b + n).dtype(), i64);
  EXPECT_EQ((i / i).dtype(), f32);
}

TEST(Promote, EveryOperandForm) {
  Rig rig;
  const Expr n = rig.dim("n", 5);
  const Tensor x = rig.input({2}, {1, 2});
  expect_close(rig.run(x + 1), {2, 3});
  expect_close(rig.run(1 + x), {2, 3});
  expect_close(rig.run(1 - x), {0, -1});
  expect_close(rig.run(x * n), {5, 10});
  expect_close(rig.run(n - x), {4, 3});
  expect_close(rig.run(x + (2 * n + 1)), {12, 13});
  expect_close(rig.run(x % 2), {1, 0});
  expect_close(rig.run(-x), {-1, -2});
  expect_close(rig.run(2.5 / x), {2.5, 1.25});
}

TEST(Promote, BroadcastNamesBothShapes) {
  Rig rig;
  const Expr n = rig.dim("n", 5);
  const Expr m = rig.dim("m", 5);
  const Tensor a = rig.graph().input("a", {3, n});
  const Tensor b = rig.graph().input("b", {m});
  const std::string text = error_of([&] { mul(a, b); });
  EXPECT_EQ(text.find("[mul] shapes [3,n] and [m] do not broadcast ("), 0u) << text;
  const Shape shapes[] = {{3, 1, n}, {4, 1}, {1}};
  EXPECT_EQ(broadcast_shapes(shapes), Shape({3, 4, n}));
}

}  // namespace
}  // namespace lumen
