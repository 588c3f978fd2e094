#include "lumen/hlir/indexing.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/sort.h"
#include "lumen/hlir/view.h"
#include "tests/support/graphs/values.h"

namespace lumen::testing {
namespace {

using hlir::Constant, hlir::Gather, hlir::Iota, hlir::Scatter, hlir::ScatterMode, hlir::Sort;

TEST(Leaves, Refuse) {
  EXPECT_EQ(refusal(Iota{Shape{3}, 1, DType::f32}, {}), "[Iota] gives integers or bools, not f32");
  EXPECT_EQ(refusal(Iota{Shape{3, -1}, 1, DType::i64}, {}), "[Iota] -1 is no size of a dim, in shape [3,-1]");
  EXPECT_EQ(refusal(Iota{Shape{3}, Expr::index(1, 4), DType::i64}, {}),
            "[Iota] value i1 uses coordinate i1 < 4, which shape [3] does not have");
  EXPECT_EQ(refusal(Iota{Shape{3}, Expr::index(0, 4), DType::i64}, {}),
            "[Iota] value i0 uses coordinate i0 < 4, which shape [3] does not have");
}

TEST(Leaves, Constant) {
  for (const DType dtype : dtypes_of(kAnyDType)) {
    const Scalar one = Scalar::of(dtype, 1.0);
    EXPECT_TRUE(same(run(Constant{one}, {}).value(), HostTensor{dtype, {}, {one.value}}));
  }
}

TEST(Leaves, Iota) {
  const Shape shape{2, 3};
  const std::vector<Expr> at = shape.coordinates();
  EXPECT_TRUE(same(run(Iota{shape, 10 * at[0] + at[1], DType::i32}, {}).value(),
                   ints(DType::i32, {2, 3}, {0, 1, 2, 10, 11, 12})));
  EXPECT_TRUE(
      same(run(Iota{shape, at[1] % 2, DType::bool_}, {}).value(), ints(DType::bool_, {2, 3}, {0, 1, 0, 0, 1, 0})));
  EXPECT_TRUE(same(run(Iota{shape, 200 * at[1] - 1, DType::u8}, {}).value(),
                   ints(DType::u8, {2, 3}, {255, 199, 143, 255, 199, 143})));
  EXPECT_TRUE(same(run(Iota{Shape{}, 7, DType::i64}, {}).value(), ints(DType::i64, {}, {7})));
  EXPECT_TRUE(same(run(Iota{Shape{0}, 7, DType::i64}, {}).value(), HostTensor{DType::i64, {0}, {}}));
}

TEST(Leaves, IotaOfADim) {
  Graph graph;
  const Expr n = graph.dim("n", 1, 8);
  graph.add_output("y", graph.add(Iota{Shape{}, n * n, DType::i64}, {}).value()).value();
  expect_round_trip(graph, hlir_ops());
  EXPECT_TRUE(same(interpret(graph, {}, {{"n", 5}}).value()[0], ints(DType::i64, {}, {25})));
}

hlir::View moved(View view) { return {view}; }

TEST(View, Refuses) {
  const Shape shape{5};
  const Expr i0 = shape.coordinates()[0];
  EXPECT_EQ(refusal(moved(View(shape, i0 + 3)), {{DType::f32, {5}}}),
            "[View] {[5] i0 + 3} reads element 7 of a source of 5");
  EXPECT_EQ(refusal(moved(View(shape, i0 - 1)), {{DType::f32, {5}}}),
            "[View] {[5] i0 - 1} reads element -1 of a source of 5");
  EXPECT_EQ(refusal(moved(View(shape, i0, ge(i0, 2), Scalar::of(DType::i32, 1.0))), {{DType::f32, {5}}}),
            "[View] fill i32(1) is not of the operand's dtype, f32");
  EXPECT_EQ(refusal(moved(View(shape, Expr::index(1, 3))), {{DType::f32, {5}}}),
            "[View] index i1 uses coordinate i1 < 3, which shape [5] does not have");
}

TEST(View, ChecksReadsWhenRun) {
  const HostTensor x = row(DType::f32, {1, 2, 3, 4, 5});
  const Shape shape{5};
  const Expr i0 = shape.coordinates()[0];
  const Scalar zero = Scalar::of(DType::f32, 0.0);
  EXPECT_EQ(failure(moved(View(shape, i0 + 3, ge(i0, 1), zero)), {x}),
            "[View] {[5] i0 + 3 if i0 >= 1 else f32(0)} reads element 7 of a source of 5");
  EXPECT_EQ(failure(moved(View(shape, i0 + 1, ge(i0, 2), zero)), {x}),
            "[View] {[5] i0 + 1 if i0 >= 2 else f32(0)} reads element 5 of a source of 5");
  EXPECT_EQ(failure(moved(View(shape, i0 * i0)), {x}), "[View] {[5] i0*i0} reads element 9 of a source of 5");
}

TEST(View, MovesEveryDtype) {
  for (const DType dtype : dtypes_of(kAnyDType)) {
    HostTensor x = row(dtype, {1, 0, 1, 1, 0, 0});
    x.dims = {2, 3};
    HostTensor wanted = row(dtype, {1, 1, 0, 0, 1, 0});
    wanted.dims = {3, 2};
    const std::vector<int64_t> order{1, 0};
    EXPECT_TRUE(same(run(moved(permute(View::identity({2, 3}), order)), {x}).value(), wanted)) << name(dtype);
  }
}

TEST(View, GuardsGiveTheFill) {
  const HostTensor x = row(DType::f32, {1, 2, 3});
  const View padded = *pad(View::identity({3}), 0, 2, 1, Scalar::of(DType::f32, kNan));
  EXPECT_TRUE(same(run(moved(padded), {x}).value(), row(DType::f32, {kNan, kNan, 1, 2, 3, kNan})));
  const View empty = slice(View::identity({3}), 0, 1, 0, 1);
  EXPECT_TRUE(same(run(moved(empty), {x}).value(), HostTensor{DType::f32, {0}, {}}));
}

TEST(Gather, Refuses) {
  EXPECT_EQ(refusal(Gather{1}, {{DType::f32, {4}}, {DType::i64, {2}}}), "[Gather] axis 1 out of range for f32[4]");
  EXPECT_EQ(refusal(Gather{0}, {{DType::f32, {4}}, {DType::f32, {2}}}), "[Gather] needs integer indices, got f32[2]");
  EXPECT_EQ(refusal(Gather{0}, {{DType::f32, {4}}, {DType::bool_, {2}}}),
            "[Gather] needs integer indices, got bool[2]");
  const HostTensor x = row(DType::f32, {1, 2, 3, 4, 5});
  EXPECT_EQ(failure(Gather{0}, {x, row(DType::i64, {0, 5})}),
            "[Gather] index i64(5) is out of range for axis 0 of size 5");
  EXPECT_EQ(failure(Gather{0}, {x, row(DType::i8, {-1})}),
            "[Gather] index i8(-1) is out of range for axis 0 of size 5");
  EXPECT_EQ(failure(Gather{0}, {x, ints(DType::u64, {1}, {-1})}),
            "[Gather] index u64(18446744073709551615) is out of range for axis 0 of size 5");
}

TEST(Gather, Takes) {
  HostTensor x = row(DType::f32, {1, 2, 3, 4, 5, 6});
  x.dims = {2, 3};
  for (const DType dtype : dtypes_of(kIntegers)) {
    HostTensor indices = row(dtype, {2, 0, 0, 1});
    indices.dims = {2, 2};
    HostTensor wanted = row(DType::f32, {3, 1, 1, 2, 6, 4, 4, 5});
    wanted.dims = {2, 2, 2};
    EXPECT_TRUE(same(run(Gather{1}, {x, indices}).value(), wanted)) << name(dtype);
  }
  HostTensor rows = row(DType::f32, {4, 5, 6});
  EXPECT_TRUE(same(run(Gather{0}, {x, ints(DType::i64, {}, {1})}).value(), rows));
  EXPECT_TRUE(same(run(Gather{0}, {x, HostTensor{DType::i64, {0}, {}}}).value(), HostTensor{DType::f32, {0, 3}, {}}));
}

TEST(Scatter, Refuses) {
  EXPECT_EQ(refusal(Scatter{0}, {{DType::f32, {4}}, {DType::i64, {2}}, {DType::f32, {3}}}),
            "[Scatter] needs a source of type f32[2] for f32[4] by i64[2], got f32[3]");
  EXPECT_EQ(refusal(Scatter{0}, {{DType::f32, {4}}, {DType::i64, {2}}, {DType::f16, {2}}}),
            "[Scatter] needs a source of type f32[2] for f32[4] by i64[2], got f16[2]");
  EXPECT_EQ(failure(Scatter{0}, {row(DType::f32, {1, 2}), row(DType::i64, {2}), row(DType::f32, {1})}),
            "[Scatter] index i64(2) is out of range for axis 0 of size 2");
}

TEST(Scatter, Modes) {
  const auto scattered = [](ScatterMode mode, DType dtype) {
    return run(Scatter{0, mode}, {row(dtype, {1, 1, 1}), row(DType::i64, {2, 0, 2}), row(dtype, {3, 0, 2})}).value();
  };
  for (const DType dtype : {DType::f32, DType::f16, DType::i64, DType::i8, DType::u8, DType::u64}) {
    EXPECT_TRUE(same(scattered(ScatterMode::set, dtype), row(dtype, {0, 1, 2}))) << name(dtype);
    EXPECT_TRUE(same(scattered(ScatterMode::add, dtype), row(dtype, {1, 1, 6}))) << name(dtype);
    EXPECT_TRUE(same(scattered(ScatterMode::mul, dtype), row(dtype, {0, 1, 6}))) << name(dtype);
    EXPECT_TRUE(same(scattered(ScatterMode::max, dtype), row(dtype, {1, 1, 3}))) << name(dtype);
    EXPECT_TRUE(same(scattered(ScatterMode::min, dtype), row(dtype, {0, 1, 1}))) << name(dtype);
  }
  const auto scatter_one = [](ScatterMode mode, double old, double given) {
    return run(Scatter{0, mode}, {row(DType::f32, {old}), row(DType::i64, {0}), row(DType::f32, {given})}).value();
  };
  for (const ScatterMode mode : {ScatterMode::max, ScatterMode::min}) {
    EXPECT_TRUE(same(scatter_one(mode, kNan, 1), row(DType::f32, {kNan})));
    EXPECT_TRUE(same(scatter_one(mode, 1, kNan), row(DType::f32, {kNan})));
  }
  // Sums are rounded once: one by one the ones would be lost in f16.
  EXPECT_TRUE(same(
      run(Scatter{0, ScatterMode::add}, {row(DType::f16, {2048}), row(DType::i64, {0, 0}), row(DType::f16, {1, 1})})
          .value(),
      row(DType::f16, {2050})));
  EXPECT_TRUE(same(
      run(Scatter{0, ScatterMode::add}, {row(DType::i8, {127}), row(DType::i64, {0}), row(DType::i8, {1})}).value(),
      row(DType::i8, {-128})));
}

TEST(Scatter, WritesWholeSlices) {
  HostTensor x = row(DType::i32, {0, 0, 0, 0, 0, 0});
  x.dims = {2, 3};
  HostTensor source = row(DType::i32, {1, 2, 3, 4});
  source.dims = {2, 2};
  HostTensor wanted = row(DType::i32, {2, 0, 1, 4, 0, 3});
  wanted.dims = {2, 3};
  EXPECT_TRUE(same(run(Scatter{1, ScatterMode::set}, {x, row(DType::u8, {2, 0}), source}).value(), wanted));
}

TEST(Sort, Refuses) {
  EXPECT_EQ(refusal(Sort{1, false}, {{DType::f32, {4}}}), "[Sort] axis 1 out of range for f32[4]");
}

TEST(Sort, IsStableAndPutsNanLast) {
  const HostTensor x = row(DType::f32, {3, kNan, 1, 3, -kInf, -0.0, 0, kNan});
  EXPECT_TRUE(same(run(Sort{0, false}, {x}).value(), row(DType::i64, {4, 5, 6, 2, 0, 3, 1, 7})));
  EXPECT_TRUE(same(run(Sort{0, true}, {x}).value(), row(DType::i64, {1, 7, 0, 3, 2, 5, 6, 4})));
  EXPECT_TRUE(same(run(Sort{0, false}, {ints(DType::u64, {3}, {-1, 0, 5})}).value(), row(DType::i64, {1, 2, 0})));
  EXPECT_TRUE(same(run(Sort{0, true}, {row(DType::bool_, {0, 1, 0, 1})}).value(), row(DType::i64, {1, 3, 0, 2})));
  HostTensor columns = row(DType::i8, {3, -1, 1, 0, 2, 5});
  columns.dims = {3, 2};
  HostTensor wanted = row(DType::i64, {1, 0, 2, 1, 0, 2});
  wanted.dims = {3, 2};
  EXPECT_TRUE(same(run(Sort{0, false}, {columns}).value(), wanted));
}

}  // namespace
}  // namespace lumen::testing
