#include "lumen/hlir/reduce.h"

#include "lumen/hlir/scan.h"
#include "tests/support/graphs/values.h"

namespace lumen::testing {
namespace {

using hlir::ArgMax, hlir::MaxReduce, hlir::ProdReduce, hlir::Scan, hlir::ScanKind, hlir::SumReduce;

TEST(Reduce, Refuses) {
  const Expr seq = Expr::dim("seq", 1, 64);
  EXPECT_EQ(refusal(SumReduce{3}, {{DType::f32, {2, seq}}}), "[SumReduce] axis 3 out of range for f32[2,seq]");
  EXPECT_EQ(refusal(MaxReduce{-1}, {{DType::i8, {2}}}), "[MaxReduce] axis -1 out of range for i8[2]");
  EXPECT_EQ(refusal(ArgMax{0}, {{DType::f32, {}}}), "[ArgMax] axis 0 out of range for f32[]");
  EXPECT_EQ(refusal(SumReduce{0}, {{DType::bool_, {2}}}), "[SumReduce] needs a float or integer operand, got bool[2]");
  EXPECT_EQ(refusal(ProdReduce{0}, {{DType::bool_, {2}}}),
            "[ProdReduce] needs a float or integer operand, got bool[2]");
  EXPECT_EQ(refusal(ArgMax{1}, {{DType::f32, {2, 0}}}), "[ArgMax] axis 1 of f32[2,0] is empty");
  EXPECT_EQ(refusal(ArgMax{1}, {{DType::f32, {2, seq}}}), "no error: i64[2]");
}

TEST(Reduce, ArgMaxOfAnAxisThatIsEmptyWhenRun) {
  Graph graph;
  const Expr n = graph.dim("n", 0, 8);
  const NodeId x = graph.add_input({"x", InputKind::data, DType::f32, Shape{2, n}}).value();
  const NodeId y = graph.add(ArgMax{1}, std::vector{x}).value();
  graph.add_output("y", y).value();
  const HostTensor empty{DType::f32, {2, 0}, {}};
  const std::vector<const HostTensor*> inputs{&empty};
  EXPECT_EQ(interpret(graph, inputs, {{"n", 0}}).diag().str(), "[ArgMax] axis 1 is empty when run");
  // No result, no error.
  Graph none;
  const Expr m = none.dim("n", 0, 8);
  const NodeId z = none.add_input({"z", InputKind::data, DType::f32, Shape{m, m}}).value();
  none.add_output("y", none.add(ArgMax{1}, std::vector{z}).value()).value();
  const HostTensor nothing{DType::f32, {0, 0}, {}};
  EXPECT_TRUE(same(interpret(none, std::vector{&nothing}, {{"n", 0}}).value()[0], HostTensor{DType::i64, {0}, {}}));
}

TEST(Reduce, EveryAxisOfACube) {
  for (const DType dtype : {DType::f64, DType::f32, DType::i64, DType::i32, DType::u8, DType::i16}) {
    HostTensor x = row(dtype, {1, 2, 3, 4, 5, 6, 0, 1});
    x.dims = {2, 2, 2};
    const auto square = [&](const std::vector<double>& values, DType d) {
      HostTensor tensor = row(d, values);
      tensor.dims = {2, 2};
      return tensor;
    };
    EXPECT_TRUE(same(run(SumReduce{0}, {x}).value(), square({6, 8, 3, 5}, dtype))) << name(dtype);
    EXPECT_TRUE(same(run(SumReduce{1}, {x}).value(), square({4, 6, 5, 7}, dtype))) << name(dtype);
    EXPECT_TRUE(same(run(SumReduce{2}, {x}).value(), square({3, 7, 11, 1}, dtype))) << name(dtype);
    EXPECT_TRUE(same(run(MaxReduce{1}, {x}).value(), square({3, 4, 5, 6}, dtype))) << name(dtype);
    EXPECT_TRUE(same(run(ProdReduce{2}, {x}).value(), square({2, 12, 30, 0}, dtype))) << name(dtype);
    EXPECT_TRUE(same(run(ArgMax{0}, {x}).value(), square({1, 1, 0, 0}, DType::i64))) << name(dtype);
  }
}

TEST(Reduce, SumsAreWide) {
  // In f32 the ones would be lost one by one.
  EXPECT_TRUE(
      same(run(SumReduce{0}, {row(DType::f32, {0x1p24, 1, 1, 1, 1})}).value(), floats(DType::f32, {}, {0x1p24 + 4})));
  // In f64 without compensation, too.
  EXPECT_TRUE(same(run(SumReduce{0}, {row(DType::f64, {1e100, 1, -1e100, 1})}).value(), floats(DType::f64, {}, {2})));
  EXPECT_TRUE(
      same(run(SumReduce{0}, {row(DType::f16, {60000, 60000, -60000})}).value(), floats(DType::f16, {}, {60000})));
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    EXPECT_TRUE(same(run(SumReduce{0}, {row(dtype, {kInf, 1, kInf})}).value(), floats(dtype, {}, {kInf})));
    EXPECT_TRUE(same(run(SumReduce{0}, {row(dtype, {kInf, 1, -kInf})}).value(), floats(dtype, {}, {kNan})));
    EXPECT_TRUE(same(run(SumReduce{0}, {row(dtype, {1, kNan})}).value(), floats(dtype, {}, {kNan})));
  }
}

TEST(Reduce, IntegersWrap) {
  EXPECT_TRUE(same(run(SumReduce{0}, {row(DType::i8, {100, 100})}).value(), ints(DType::i8, {}, {-56})));
  EXPECT_TRUE(same(run(ProdReduce{0}, {row(DType::u8, {16, 17})}).value(), ints(DType::u8, {}, {16})));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(same(run(SumReduce{0}, {ints(DType::i64, {2}, {kMost, 1})}).value(), ints(DType::i64, {}, {-kMost - 1})));
}

TEST(Reduce, EmptyAxes) {
  for (const DType dtype : dtypes_of(kNumbers)) {
    const HostTensor x{dtype, {2, 0}, {}};
    if (dtype != DType::f8ue8m0) {  // it has no zero
      EXPECT_TRUE(same(run(SumReduce{1}, {x}).value(), row(dtype, {0, 0}))) << name(dtype);
    }
    EXPECT_TRUE(same(run(ProdReduce{1}, {x}).value(), row(dtype, {1, 1}))) << name(dtype);
    EXPECT_TRUE(same(run(SumReduce{0}, {x}).value(), HostTensor{dtype, {0}, {}})) << name(dtype);
  }
  const auto lowest = [](DType dtype) { return run(MaxReduce{0}, {HostTensor{dtype, {0}, {}}}).value(); };
  EXPECT_TRUE(same(lowest(DType::f32), floats(DType::f32, {}, {-kInf})));
  EXPECT_TRUE(same(lowest(DType::f8e4m3), floats(DType::f8e4m3, {}, {-448})));
  EXPECT_TRUE(same(lowest(DType::f4e2m1), floats(DType::f4e2m1, {}, {-6})));
  EXPECT_TRUE(same(lowest(DType::f8ue8m0), floats(DType::f8ue8m0, {}, {0x1p-127})));
  EXPECT_TRUE(same(lowest(DType::i4), ints(DType::i4, {}, {-8})));
  EXPECT_TRUE(same(lowest(DType::i64), ints(DType::i64, {}, {std::numeric_limits<int64_t>::min()})));
  EXPECT_TRUE(same(lowest(DType::u32), ints(DType::u32, {}, {0})));
  EXPECT_TRUE(same(lowest(DType::bool_), ints(DType::bool_, {}, {0})));
}

TEST(Reduce, MaximaSeeNanAndUnsigned) {
  EXPECT_TRUE(same(run(MaxReduce{0}, {row(DType::f32, {1, kNan, 5})}).value(), floats(DType::f32, {}, {kNan})));
  EXPECT_TRUE(same(run(MaxReduce{0}, {row(DType::bool_, {0, 1, 0})}).value(), ints(DType::bool_, {}, {1})));
  EXPECT_TRUE(same(run(MaxReduce{0}, {ints(DType::u64, {2}, {1, -1})}).value(), ints(DType::u64, {}, {-1})));
  const auto position = [](const HostTensor& x) { return run(ArgMax{0}, {x}).value().lanes[0].i; };
  EXPECT_EQ(position(row(DType::f32, {1, 7, 7, 2})), 1);
  EXPECT_EQ(position(row(DType::f32, {1, kNan, kInf, kNan})), 1);
  EXPECT_EQ(position(row(DType::f32, {-kInf, -kInf})), 0);
  EXPECT_EQ(position(row(DType::bool_, {0, 0, 1, 1})), 2);
  EXPECT_EQ(position(ints(DType::u64, {3}, {1, -1, 2})), 1);
  EXPECT_EQ(position(row(DType::i8, {-128, -128})), 0);
}

TEST(Scan, Refuses) {
  EXPECT_EQ(refusal(Scan{2, ScanKind::sum}, {{DType::f32, {2, 3}}}), "[Scan] axis 2 out of range for f32[2,3]");
  EXPECT_EQ(refusal(Scan{0, ScanKind::sum}, {{DType::bool_, {2}}}),
            "[Scan] needs a float or integer operand, got bool[2]");
  EXPECT_EQ(refusal(Scan{0, ScanKind::max}, {{DType::bool_, {2}}}), "no error: bool[2]");
}

TEST(Scan, IsTheReductionOfEveryPrefix) {
  EXPECT_TRUE(
      same(run(Scan{0, ScanKind::sum}, {row(DType::i8, {100, 100, 1})}).value(), row(DType::i8, {100, -56, -55})));
  EXPECT_TRUE(same(run(Scan{0, ScanKind::max}, {row(DType::f32, {1, 3, 2, kNan, 9})}).value(),
                   row(DType::f32, {1, 3, 3, kNan, kNan})));
  EXPECT_TRUE(
      same(run(Scan{0, ScanKind::prod}, {row(DType::f32, {2, 3, 0, 5})}).value(), row(DType::f32, {2, 6, 0, 0})));
  HostTensor x = row(DType::i32, {1, 2, 3, 4, 5, 6});
  x.dims = {3, 2};
  HostTensor down = row(DType::i32, {1, 2, 4, 6, 9, 12});
  down.dims = {3, 2};
  HostTensor across = row(DType::i32, {1, 3, 3, 7, 5, 11});
  across.dims = {3, 2};
  EXPECT_TRUE(same(run(Scan{0, ScanKind::sum}, {x}).value(), down));
  EXPECT_TRUE(same(run(Scan{1, ScanKind::sum}, {x}).value(), across));
  EXPECT_TRUE(
      same(run(Scan{0, ScanKind::sum}, {HostTensor{DType::f32, {0}, {}}}).value(), HostTensor{DType::f32, {0}, {}}));
}

}  // namespace
}  // namespace lumen::testing
