#include "lumen/hlir/unary.h"

#include "tests/support/graphs/values.h"

namespace lumen::testing {
namespace {

using hlir::Atan, hlir::Erf, hlir::Exp2, hlir::Floor, hlir::Log2, hlir::Recip, hlir::Sin, hlir::Sqrt, hlir::Tanh;

TEST(Unary, RefusesWhatIsNoFloat) {
  EXPECT_EQ(refusal(Exp2{}, {{DType::i32, {4}}}), "[Exp2] needs a float operand, got i32[4]");
  EXPECT_EQ(refusal(Sqrt{}, {{DType::bool_, {}}}), "[Sqrt] needs a float operand, got bool[]");
  for (const DType dtype : dtypes_of(kBits)) {
    EXPECT_EQ(refusal(Tanh{}, {{dtype, {}}}), "[Tanh] needs a float operand, got " + std::string(name(dtype)) + "[]");
  }
}

// Expected values to the last digit of f64, from published tables; each dtype's result is that, rounded once.
template <class Op>
void expect_table(const std::vector<double>& x, const std::vector<double>& y) {
  for (const DType dtype : dtypes_of(kFloats)) {
    const HostTensor given = row(dtype, x);
    const HostTensor got = run(Op{}, {given}).value();
    const HostTensor wanted = row(dtype, y);
    ASSERT_EQ(got.lanes.size(), y.size());
    for (size_t k = 0; k < x.size(); ++k) {
      // A narrow dtype may not have x itself; then the table does not apply.
      const bool has_x = given.lanes[k].f == x[k] || (std::isnan(x[k]) && std::isnan(given.lanes[k].f));
      if (!has_x || std::signbit(given.lanes[k].f) != std::signbit(x[k])) continue;
      const double a = got.lanes[k].f;
      const double b = wanted.lanes[k].f;
      if (std::isnan(b)) {
        EXPECT_TRUE(std::isnan(a)) << Op::kName << "(" << x[k] << ") in " << name(dtype) << " is " << a;
      } else if (dtype == DType::f64) {
        EXPECT_TRUE(a == b || std::abs(a - b) <= 4e-16 * std::abs(b)) << Op::kName << "(" << x[k] << ") is " << a;
      } else {
        EXPECT_EQ(a, b) << Op::kName << "(" << x[k] << ") in " << name(dtype);
      }
      EXPECT_EQ(std::signbit(a), std::signbit(b)) << Op::kName << "(" << x[k] << ") in " << name(dtype);
    }
  }
}

TEST(Unary, Exp2) {
  expect_table<Exp2>({0, -0.0, 3, -1, 0.5, -149, -1074, 1024, kInf, -kInf, kNan},
                     {1, 1, 8, 0.5, 1.4142135623730951, 0x1p-149, 0x1p-1074, kInf, kInf, 0, kNan});
}
TEST(Unary, Log2) {
  expect_table<Log2>({1, 8, 0.5, 3, 0, -0.0, kInf, kNan}, {0, 3, -1, 1.584962500721156, -kInf, -kInf, kInf, kNan});
  const HostTensor negative = run(Log2{}, {row(DType::f32, {-1, -kInf})}).value();
  EXPECT_TRUE(std::isnan(negative.lanes[0].f) && std::isnan(negative.lanes[1].f));
}
TEST(Unary, Sin) {
  expect_table<Sin>({0, -0.0, 1, -2, 0.5, 100},
                    {0, -0.0, 0.8414709848078965, -0.9092974268256817, 0.479425538604203, -0.5063656411097588});
  const HostTensor infinite = run(Sin{}, {row(DType::f64, {kInf, -kInf, kNan})}).value();
  for (const Lane lane : infinite.lanes) EXPECT_TRUE(std::isnan(lane.f));
}
TEST(Unary, Sqrt) {
  expect_table<Sqrt>({0, -0.0, 4, 2, 0.25, kInf, kNan}, {0, -0.0, 2, 1.4142135623730951, 0.5, kInf, kNan});
  EXPECT_TRUE(std::isnan(run(Sqrt{}, {row(DType::f16, {-1})}).value().lanes[0].f));
}
TEST(Unary, Recip) {
  expect_table<Recip>({1, -2, 3, kInf, -kInf, kNan}, {1, -0.5, 0.3333333333333333, 0, -0.0, kNan});
  const HostTensor zeros = run(Recip{}, {row(DType::f32, {0, -0.0, 0x1p-149})}).value();
  EXPECT_TRUE(same(zeros, row(DType::f32, {kInf, -kInf, kInf})));
}
TEST(Unary, Floor) {
  expect_table<Floor>({0, -0.0, 1.5, -1.5, 2, -0.25, 0x1p60, kInf, -kInf, kNan},
                      {0, -0.0, 1, -2, 2, -1, 0x1p60, kInf, -kInf, kNan});
}
TEST(Unary, Tanh) {
  expect_table<Tanh>({0, -0.0, 0.5, -1, 20, kInf, -kInf, kNan},
                     {0, -0.0, 0.46211715726000976, -0.7615941559557649, 1, 1, -1, kNan});
}
TEST(Unary, Erf) {
  expect_table<Erf>({0, -0.0, 0.5, -1, 6, kInf, -kInf, kNan},
                    {0, -0.0, 0.5204998778130465, -0.8427007929497149, 1, 1, -1, kNan});
}
TEST(Unary, Atan) {
  expect_table<Atan>({0, -0.0, 1, -0.5, kInf, -kInf, kNan},
                     {0, -0.0, 0.7853981633974483, -0.4636476090008061, 1.5707963267948966, -1.5707963267948966, kNan});
}

}  // namespace
}  // namespace lumen::testing
