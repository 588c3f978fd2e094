#include "lumen/hlir/cast.h"

#include "lumen/hlir/select.h"
#include "tests/support/graphs/values.h"

namespace lumen::testing {
namespace {

using hlir::Bitcast, hlir::Cast, hlir::Select;

TEST(Select, RefusesUnlikeOperands) {
  EXPECT_EQ(refusal(Select{}, {{DType::bool_, {2}}, {DType::f32, {2}}, {DType::f32, {3}}}),
            "[Select] operands differ: f32[2] and f32[3]");
  EXPECT_EQ(refusal(Select{}, {{DType::u8, {2}}, {DType::f32, {2}}, {DType::f32, {2}}}),
            "[Select] needs a condition of type bool[2], got u8[2]");
}

TEST(Select, TakesWhatTheConditionSays) {
  for (const DType dtype : dtypes_of(kAnyDType)) {
    const HostTensor got =
        run(Select{}, {row(DType::bool_, {1, 0, 1}), row(dtype, {1, 0, 1}), row(dtype, {0, 1, 0})}).value();
    EXPECT_TRUE(same(got, row(dtype, {1, 1, 1}))) << name(dtype);
  }
  const HostTensor got =
      run(Select{}, {row(DType::bool_, {1, 0}), row(DType::f32, {-0.0, kNan}), row(DType::f32, {kNan, 7})}).value();
  EXPECT_TRUE(same(got, row(DType::f32, {-0.0, 7})));
}

HostTensor cast(const HostTensor& x, DType to) { return run(Cast{to}, {x}).value(); }

TEST(Cast, EveryPairKeepsOne) {
  for (const DType from : dtypes_of(kAnyDType)) {
    for (const DType to : dtypes_of(kAnyDType)) {
      EXPECT_TRUE(same(cast(row(from, {1}), to), row(to, {1}))) << name(from) << " to " << name(to);
    }
  }
}

TEST(Cast, FloatsToIntegersTruncateAndSaturate) {
  const HostTensor x = row(DType::f32, {1.9, -1.9, 300, -300, kInf, -kInf, kNan, -0.0});
  EXPECT_TRUE(same(cast(x, DType::u8), row(DType::u8, {1, 0, 255, 0, 255, 0, 0, 0})));
  EXPECT_TRUE(same(cast(x, DType::i8), row(DType::i8, {1, -1, 127, -128, 127, -128, 0, 0})));
  EXPECT_TRUE(same(cast(x, DType::i4), row(DType::i4, {1, -1, 7, -8, 7, -8, 0, 0})));
  const HostTensor wide = row(DType::f64, {0x1p63, -0x1p63, 0x1p64, -0x1.8p63, 0x1.fffffffffffffp62});
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(
      same(cast(wide, DType::i64), ints(DType::i64, {5}, {kMost, -kMost - 1, kMost, -kMost - 1, kMost - 1023})));
  EXPECT_TRUE(same(cast(wide, DType::u64), ints(DType::u64, {5}, {-kMost - 1, 0, -1, 0, kMost - 1023})));
  EXPECT_TRUE(same(cast(x, DType::bool_), row(DType::bool_, {1, 1, 1, 1, 1, 1, 1, 0})));
}

TEST(Cast, IntegersWrapIntoEachOther) {
  const HostTensor x = row(DType::i32, {-1, 300, 128, 65536});
  EXPECT_TRUE(same(cast(x, DType::u8), row(DType::u8, {255, 44, 128, 0})));
  EXPECT_TRUE(same(cast(x, DType::i8), row(DType::i8, {-1, 44, -128, 0})));
  EXPECT_TRUE(same(cast(x, DType::u64), ints(DType::u64, {4}, {-1, 300, 128, 65536})));
  EXPECT_TRUE(same(cast(x, DType::u4), row(DType::u4, {15, 12, 0, 0})));
  EXPECT_TRUE(same(cast(x, DType::bool_), row(DType::bool_, {1, 1, 1, 1})));
  EXPECT_TRUE(same(cast(ints(DType::u64, {1}, {-1}), DType::i64), row(DType::i64, {-1})));
}

TEST(Cast, IntegersRoundToFloatsOnce) {
  // 2^53 + 1 + … lies just above a tie of f32; going through f64 first would lose that.
  const int64_t tie = (int64_t{1} << 60) + (int64_t{1} << 36);
  const HostTensor x = ints(DType::i64, {4}, {tie, tie + 1, tie - 1, -tie - 1});
  const double ulp = 0x1p37;
  EXPECT_TRUE(same(cast(x, DType::f32), floats(DType::f32, {4}, {0x1p60, 0x1p60 + ulp, 0x1p60, -0x1p60 - ulp})));
  const int64_t half = (int64_t{1} << 60) + (int64_t{1} << 52);
  EXPECT_TRUE(same(cast(ints(DType::i64, {2}, {half, half + 1}), DType::bf16),
                   floats(DType::bf16, {2}, {0x1p60, 0x1p60 + 0x1p53})));
  EXPECT_TRUE(same(cast(ints(DType::u64, {1}, {-1}), DType::f64), floats(DType::f64, {1}, {0x1p64})));
  EXPECT_TRUE(same(cast(ints(DType::u64, {1}, {-1}), DType::f32), floats(DType::f32, {1}, {0x1p64})));
  EXPECT_TRUE(same(cast(row(DType::i32, {70000, 2049}), DType::f16), floats(DType::f16, {2}, {kInf, 2048})));
}

TEST(Cast, FloatsRoundToNearestEven) {
  const HostTensor x = floats(DType::f64, {5}, {1 + 0x1p-24, 1 + 0x1.8p-23, 1e300, kNan, -0.0});
  EXPECT_TRUE(same(cast(x, DType::f32), floats(DType::f32, {5}, {1, 1 + 0x1p-22, kInf, kNan, -0.0})));
}

TEST(Bitcast, RefusesWhatDoesNotDivide) {
  EXPECT_EQ(refusal(Bitcast{DType::f64}, {{DType::f32, {2, 3}}}),
            "[Bitcast] the last dim of f32[2,3] is not known to hold a whole number of f64");
  EXPECT_EQ(refusal(Bitcast{DType::u8}, {{DType::f32, {}}}),
            "[Bitcast] a scalar keeps its width: f32[] cannot become u8");
  const Expr n = Expr::dim("n", 1, 8);
  EXPECT_EQ(refusal(Bitcast{DType::u16}, {{DType::u8, {n}}}),
            "[Bitcast] the last dim of u8[n] is not known to hold a whole number of u16");
  EXPECT_EQ(refusal(Bitcast{DType::u16}, {{DType::u8, {2 * n}}}), "no error: u16[n]");
  EXPECT_EQ(refusal(Bitcast{DType::u4}, {{DType::u8, {3, n}}}), "no error: u4[3,2*n]");
}

TEST(Bitcast, KeepsBits) {
  EXPECT_TRUE(same(run(Bitcast{DType::u32}, {row(DType::f32, {1, -2})}).value(),
                   ints(DType::u32, {2}, {0x3f800000, 0xc0000000})));
  EXPECT_TRUE(
      same(run(Bitcast{DType::u8}, {ints(DType::u32, {1}, {0x04030201})}).value(), row(DType::u8, {1, 2, 3, 4})));
  EXPECT_TRUE(
      same(run(Bitcast{DType::u16}, {row(DType::u8, {1, 2, 3, 4})}).value(), ints(DType::u16, {2}, {0x201, 0x403})));
  EXPECT_TRUE(same(run(Bitcast{DType::i4}, {ints(DType::u8, {1}, {0xf1})}).value(), row(DType::i4, {1, -1})));
  EXPECT_TRUE(same(run(Bitcast{DType::f16}, {ints(DType::u16, {}, {0x3c00})}).value(), floats(DType::f16, {}, {1})));
  EXPECT_TRUE(same(run(Bitcast{DType::f64}, {ints(DType::i64, {1}, {0x7ff0000000000000})}).value(),
                   floats(DType::f64, {1}, {kInf})));
}

}  // namespace
}  // namespace lumen::testing
