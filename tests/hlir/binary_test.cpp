#include "lumen/hlir/binary.h"

#include "tests/support/graphs/values.h"

namespace lumen::testing {
namespace {

using hlir::Add, hlir::BitAnd, hlir::BitOr, hlir::BitXor, hlir::Div, hlir::Equal, hlir::LessThan, hlir::Maximum,
    hlir::Mod, hlir::Mul, hlir::Shift, hlir::ShiftDirection;

template <class Op>
void expect_row(DType dtype, const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& y,
                const Op& op = {}) {
  const bool compares = std::is_same_v<Op, LessThan> || std::is_same_v<Op, Equal>;
  const HostTensor got = run(op, {row(dtype, a), row(dtype, b)}).value();
  EXPECT_TRUE(same(got, row(compares ? DType::bool_ : dtype, y))) << Op::kName << " in " << name(dtype);
}

TEST(Binary, RefusesUnlikeOperands) {
  EXPECT_EQ(refusal(Add{}, {{DType::f32, {2, 3}}, {DType::f32, {2, 4}}}),
            "[Add] operands differ: f32[2,3] and f32[2,4]");
  EXPECT_EQ(refusal(Mul{}, {{DType::f32, {2}}, {DType::f64, {2}}}), "[Mul] operands differ: f32[2] and f64[2]");
  const Expr n = Expr::dim("n", 1, 8);
  EXPECT_EQ(refusal(LessThan{}, {{DType::i8, {n}}, {DType::i8, {n + 1}}}),
            "[LessThan] operands differ: i8[n] and i8[n + 1]");
}

TEST(Binary, RefusesDtypesWithoutMeaning) {
  EXPECT_EQ(refusal(Div{}, {{DType::bool_, {}}, {DType::bool_, {}}}),
            "[Div] needs a float or integer operand, got bool[]");
  EXPECT_EQ(refusal(Mod{}, {{DType::bool_, {}}, {DType::bool_, {}}}),
            "[Mod] needs a float or integer operand, got bool[]");
  EXPECT_EQ(refusal(BitAnd{}, {{DType::f16, {}}, {DType::f16, {}}}),
            "[BitAnd] needs an integer or bool operand, got f16[]");
  EXPECT_EQ(refusal(Shift{}, {{DType::bool_, {}}, {DType::bool_, {}}}), "[Shift] needs an integer operand, got bool[]");
}

TEST(Binary, IntegerDivisionByZeroIsAnErrorWhenRun) {
  EXPECT_EQ(failure(Div{}, {row(DType::i32, {1, -7}), row(DType::i32, {1, 0})}),
            "[Div] integer division by zero: -7 by 0 in i32");
  const HostTensor largest = ints(DType::u64, {1}, {-1});
  EXPECT_EQ(failure(Mod{}, {largest, row(DType::u64, {0})}),
            "[Mod] integer division by zero: 18446744073709551615 by 0 in u64");
  for (const DType dtype : dtypes_of(kIntegers)) {
    EXPECT_EQ(failure(Div{}, {row(dtype, {3}), row(dtype, {0})}),
              "[Div] integer division by zero: 3 by 0 in " + std::string(name(dtype)));
  }
}

TEST(Binary, AddAndMulRoundFloatsOnce) {
  for (const DType dtype : {DType::f64, DType::f32, DType::tf32, DType::f16, DType::bf16, DType::f8e5m2}) {
    expect_row<Add>(dtype, {1, kInf, kInf, -0.0, -0.0, kNan}, {2, 1, -kInf, 0, -0.0, 1},
                    {3, kInf, kNan, 0, -0.0, kNan});
    expect_row<Mul>(dtype, {3, kInf, kInf, -0.0}, {-2, 0, -2, 4}, {-6, kNan, -kInf, -0.0});
  }
  // The exact sum is a tie in f32: to even.
  expect_row<Add>(DType::f32, {16777216, 16777218}, {1, 1}, {16777216, 16777220});
  expect_row<Add>(DType::f16, {65504, 2048}, {65504, 1}, {kInf, 2048});
  expect_row<Mul>(DType::f8e4m3, {16, 15}, {16, 3}, {256, 44});
}

TEST(Binary, IntegersWrap) {
  for (const DType dtype : dtypes_of(kIntegers)) {
    const int bits = info(dtype).bits;
    const uint64_t top = ~uint64_t{0} >> (is_unsigned(dtype) ? 64 - bits : 65 - bits);
    const auto least = is_unsigned(dtype) ? int64_t{0} : -static_cast<int64_t>(top) - 1;
    const HostTensor max = ints(dtype, {1}, {static_cast<int64_t>(top)});
    EXPECT_TRUE(same(run(Add{}, {max, ints(dtype, {1}, {1})}).value(), ints(dtype, {1}, {least}))) << name(dtype);
    EXPECT_TRUE(same(run(Mul{}, {max, max}).value(), ints(dtype, {1}, {1}))) << name(dtype);
  }
  expect_row<Mul>(DType::i8, {100, -128}, {3, -1}, {44, -128});
  expect_row<Add>(DType::u4, {9}, {9}, {2});
}

TEST(Binary, BoolsAreLogic) {
  const HostTensor a = row(DType::bool_, {0, 0, 1, 1});
  const HostTensor b = row(DType::bool_, {0, 1, 0, 1});
  const auto got = [&](auto op) { return run(op, {a, b}).value(); };
  EXPECT_TRUE(same(got(Add{}), row(DType::bool_, {0, 1, 1, 1})));
  EXPECT_TRUE(same(got(Mul{}), row(DType::bool_, {0, 0, 0, 1})));
  EXPECT_TRUE(same(got(Maximum{}), row(DType::bool_, {0, 1, 1, 1})));
  EXPECT_TRUE(same(got(LessThan{}), row(DType::bool_, {0, 1, 0, 0})));
  EXPECT_TRUE(same(got(Equal{}), row(DType::bool_, {1, 0, 0, 1})));
  EXPECT_TRUE(same(got(BitAnd{}), row(DType::bool_, {0, 0, 0, 1})));
  EXPECT_TRUE(same(got(BitOr{}), row(DType::bool_, {0, 1, 1, 1})));
  EXPECT_TRUE(same(got(BitXor{}), row(DType::bool_, {0, 1, 1, 0})));
}

TEST(Binary, Div) {
  expect_row<Div>(DType::f32, {1, -1, 0, kInf, 1, 1}, {0, 0, 0, kInf, -0.0, 4}, {kInf, -kInf, kNan, kNan, -kInf, 0.25});
  expect_row<Div>(DType::i32, {7, -7, 7, -7, 6, -6}, {2, 2, -2, -2, 3, 3}, {3, -4, -4, 3, 2, -2});
  expect_row<Div>(DType::u8, {250, 7}, {3, 8}, {83, 0});
  expect_row<Div>(DType::i8, {-128}, {-1}, {-128});
  const HostTensor least = ints(DType::i64, {1}, {std::numeric_limits<int64_t>::min()});
  EXPECT_TRUE(same(run(Div{}, {least, row(DType::i64, {-1})}).value(), least));
  EXPECT_TRUE(same(run(Div{}, {ints(DType::u64, {1}, {-1}), row(DType::u64, {2})}).value(),
                   ints(DType::u64, {1}, {std::numeric_limits<int64_t>::max()})));
}

TEST(Binary, ModHasTheSignOfTheDivisor) {
  for (const DType dtype :
       {DType::i64, DType::i32, DType::i16, DType::i8, DType::i4, DType::f64, DType::f32, DType::f16}) {
    expect_row<Mod>(dtype, {7, -7, 7, -7, 6}, {3, 3, -3, -3, 3}, {1, 2, -2, -1, 0});
  }
  expect_row<Mod>(DType::f32, {5.5, -5.5, 1, kInf, kNan, -1, -4}, {2, 2, 0, 2, 2, kInf, 2},
                  {1.5, 0.5, kNan, kNan, kNan, kInf, -0.0});
  const HostTensor least = ints(DType::i64, {1}, {std::numeric_limits<int64_t>::min()});
  EXPECT_TRUE(same(run(Mod{}, {least, row(DType::i64, {-1})}).value(), row(DType::i64, {0})));
}

TEST(Binary, ComparisonsAndMaximum) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    expect_row<Maximum>(dtype, {1, kNan, 1, kNan, -kInf}, {2, 1, kNan, kNan, -5}, {2, kNan, kNan, kNan, -5});
    expect_row<LessThan>(dtype, {1, 2, kNan, 1, -0.0, -kInf}, {2, 1, 1, kNan, 0, kInf}, {1, 0, 0, 0, 0, 1});
    expect_row<Equal>(dtype, {1, kNan, -0.0, kInf}, {1, kNan, 0, -kInf}, {1, 0, 1, 0});
  }
  for (const DType dtype : {DType::i64, DType::i8, DType::i4}) {
    expect_row<Maximum>(dtype, {-3, 2}, {2, -3}, {2, 2});
    expect_row<LessThan>(dtype, {-3, 2, 2}, {2, -3, 2}, {1, 0, 0});
  }
  // Unsigned order, also with the top bit set.
  const HostTensor large = ints(DType::u64, {1}, {-1});
  const HostTensor one = row(DType::u64, {1});
  EXPECT_TRUE(same(run(Maximum{}, {large, one}).value(), large));
  EXPECT_TRUE(same(run(LessThan{}, {large, one}).value(), row(DType::bool_, {0})));
}

TEST(Binary, BitsOfEveryInteger) {
  for (const DType dtype : dtypes_of(kIntegers)) {
    expect_row<BitAnd>(dtype, {6, 5}, {3, 2}, {2, 0});
    expect_row<BitOr>(dtype, {6, 5}, {3, 2}, {7, 7});
    expect_row<BitXor>(dtype, {6, 5}, {3, 2}, {5, 7});
  }
  expect_row<BitXor>(DType::i8, {-1}, {5}, {-6});
}

TEST(Binary, Shift) {
  const Shift left{ShiftDirection::left};
  const Shift right{ShiftDirection::right};
  expect_row(DType::i8, {1, 1, 1, -3, 1, 1}, {6, 7, 8, 1, -1, 100}, {64, -128, 0, -6, 0, 0}, left);
  expect_row(DType::i8, {64, -64, -64, 64, -1, 64}, {3, 3, 8, 8, -1, -1}, {8, -8, -1, 0, -1, 0}, right);
  expect_row(DType::u8, {255, 255, 255}, {1, 8, 200}, {254, 0, 0}, left);
  expect_row(DType::u8, {255, 255, 255}, {1, 8, 200}, {127, 0, 0}, right);
  expect_row(DType::i64, {1, -8, -8}, {63, 1, 64}, {-0x1p63, -16, 0}, left);
  expect_row(DType::i64, {-8, -8, 8}, {1, 64, 64}, {-4, -1, 0}, right);
}

}  // namespace
}  // namespace lumen::testing
