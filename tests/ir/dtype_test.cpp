#include "lumen/ir/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace lumen {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double two_to(int exponent) {
  double result = 1;
  for (int k = 0; k < exponent; ++k) result *= 2;
  for (int k = 0; k > exponent; --k) result /= 2;
  return result;
}

// Every non-negative finite number of a format by its code, from the definition of the formats.
std::vector<double> numbers_of(DType dtype) {
  const DTypeInfo& format = info(dtype);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int mantissas = 1 << format.mantissa_bits;
  std::vector<double> numbers;
  for (int exponent = 0; exponent < 1 << format.exponent_bits; ++exponent) {
    for (int mantissa = 0; mantissa < mantissas; ++mantissa) {
      const bool top = exponent == (1 << format.exponent_bits) - 1;
      if (top && (dtype == f8e4m3 ? mantissa == mantissas - 1 : format.bits >= 8)) continue;
      const double fraction = static_cast<double>(mantissa) / mantissas;
      numbers.push_back(exponent == 0 ? fraction * two_to(1 - bias) : (1 + fraction) * two_to(exponent - bias));
    }
  }
  return numbers;
}

// Nearest of the numbers by comparing distances; a tie goes to the even code. The next number after the last one is
// where overflow starts.
double nearest_number(const std::vector<double>& numbers, double overflow, double value) {
  const double x = std::fabs(value);
  const auto above = std::upper_bound(numbers.begin(), numbers.end(), x);
  const size_t below = static_cast<size_t>(above - numbers.begin()) - 1;
  const double gap = numbers[below] - numbers[below == 0 ? 0 : below - 1];
  const double next = above == numbers.end() ? numbers[below] + gap : *above;
  const bool up = x - numbers[below] > next - x || (x - numbers[below] == next - x && below % 2 == 1);
  const double result = !up ? numbers[below] : above == numbers.end() ? overflow : next;
  return std::copysign(result, value);
}

double overflow_of(DType dtype) { return dtype == f8e4m3 || info(dtype).bits < 8 ? numbers_of(dtype).back() : kInf; }

const DType kNarrow[] = {f16, bf16, f8e4m3, f8e5m2, f6e2m3, f6e3m2, f4e2m1};

void expect_rounds_as_defined(DType dtype, const std::vector<double>& numbers, double value) {
  const double expected = nearest_number(numbers, overflow_of(dtype), value);
  const double got = round_to(dtype, value);
  EXPECT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(expected))
      << name(dtype) << " of " << value << " is " << got << ", expected " << expected;
}

TEST(dtype, rounds_to_the_nearest_number_ties_to_even) {
  std::mt19937_64 random(20240601);
  for (const DType dtype : kNarrow) {
    const std::vector<double> numbers = numbers_of(dtype);
    for (size_t k = 0; k < numbers.size(); k += 1 + numbers.size() / 997) {
      const double middle = k + 1 < numbers.size() ? (numbers[k] + numbers[k + 1]) / 2 : numbers[k];
      for (const double x : {numbers[k], middle, std::nextafter(middle, 0), std::nextafter(middle, kInf)}) {
        expect_rounds_as_defined(dtype, numbers, x);
        expect_rounds_as_defined(dtype, numbers, -x);
      }
    }
    std::uniform_real_distribution<double> exponent(-30, 20);
    for (int k = 0; k < 20000; ++k) {
      const double x =
          std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(exponent(random)));
      expect_rounds_as_defined(dtype, numbers, x);
    }
    const double last = numbers.back(), edge = last + (last - numbers[numbers.size() - 2]) / 2;
    for (const double x :
         {last, edge, std::nextafter(edge, 0), std::nextafter(edge, kInf), 2 * last, 4 * last, 1e300}) {
      expect_rounds_as_defined(dtype, numbers, x);
    }
  }
}

TEST(dtype, rounds_special_values) {
  for (const DType dtype : {f64, f32, tf32, f16, bf16, f8e5m2}) {
    EXPECT_EQ(round_to(dtype, kInf), kInf) << name(dtype);
    EXPECT_EQ(round_to(dtype, -kInf), -kInf) << name(dtype);
    EXPECT_TRUE(std::isnan(round_to(dtype, kNaN))) << name(dtype);
    EXPECT_TRUE(std::signbit(round_to(dtype, -0.0))) << name(dtype);
    EXPECT_TRUE(std::signbit(round_to(dtype, -std::numeric_limits<double>::denorm_min()))) << name(dtype);
  }
  // As PyTorch 2.13: torch.float8_e4m3fn saturates, infinities included.
  EXPECT_EQ(round_to(f8e4m3, kInf), 448);
  EXPECT_EQ(round_to(f8e4m3, -465), -448);
  EXPECT_TRUE(std::isnan(round_to(f8e4m3, kNaN)));
  EXPECT_EQ(round_to(f8e5m2, 61439), 57344);
  EXPECT_EQ(round_to(f8e5m2, 61440), kInf);
  EXPECT_EQ(round_to(f6e2m3, kInf), 7.5);
  EXPECT_EQ(round_to(f6e3m2, -kInf), -28);
  EXPECT_EQ(round_to(f4e2m1, 1e9), 6);
  EXPECT_EQ(round_to(f4e2m1, kNaN), 6);
  EXPECT_EQ(round_to(f32, 1e39), kInf);
  EXPECT_EQ(round_to(f32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(round_to(f64, 0.1), 0.1);
  EXPECT_EQ(round_to(tf32, 1 + 0x1p-11), 1);
  EXPECT_EQ(round_to(tf32, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(round_to(tf32, 0x1.fffp127), kInf);
}

// What PyTorch 2.13 gives for torch.float8_e8m0fnu.
TEST(dtype, rounds_powers_of_two_as_pytorch) {
  const std::pair<double, double> cases[] = {{0, 0x1p-127},
                                             {-0.0, 0x1p-127},
                                             {1, 1},
                                             {-1, 1},
                                             {1.4999, 1},
                                             {1.5, 2},
                                             {3, 4},
                                             {0x1p-127, 0x1p-127},
                                             {1.1 * 0x1p-127, 0x1p-126},
                                             {0x1p-128, 0x1p-127},
                                             {0x1p-126, 0x1p-126},
                                             {1.5 * 0x1p-126, 0x1p-125},
                                             {0x1p127, 0x1p127},
                                             {1.49 * 0x1p127, 0x1p127},
                                             {0.75, 1}};
  for (const auto& [given, expected] : cases) EXPECT_EQ(round_to(f8ue8m0, given), expected) << given;
  for (const double given : {1.5 * 0x1p127, 1e300, kInf, -kInf, kNaN}) {
    EXPECT_TRUE(std::isnan(round_to(f8ue8m0, given))) << given;
  }
}

TEST(dtype, wraps_integers) {
  EXPECT_EQ(wrap_to(i8, 128), -128);
  EXPECT_EQ(wrap_to(i8, -129), 127);
  EXPECT_EQ(wrap_to(u8, -1), 255);
  EXPECT_EQ(wrap_to(i4, 8), -8);
  EXPECT_EQ(wrap_to(u4, 17), 1);
  EXPECT_EQ(wrap_to(i64, std::numeric_limits<int64_t>::min()), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(wrap_to(u64, -1), -1);
  EXPECT_EQ(wrap_to(u32, -1), 0xffffffff);
  EXPECT_EQ(wrap_to(i32, int64_t{1} << 31), -(int64_t{1} << 31));
  EXPECT_EQ(wrap_to(bool_, 256), 1);
  EXPECT_EQ(wrap_to(bool_, 0), 0);
}

TEST(dtype, has_one_name_each) {
  EXPECT_FALSE(parse_dtype("F32").has_value());
  EXPECT_FALSE(parse_dtype("").has_value());
  EXPECT_FALSE(parse_dtype("bool_").has_value());
  EXPECT_EQ(all_dtypes().size(), 22u);
  for (const DTypeInfo& row : all_dtypes()) {
    EXPECT_EQ(parse_dtype(row.name), row.dtype);
    EXPECT_EQ(name(row.dtype), row.name);
    EXPECT_EQ(is_float(row.dtype) + is_int(row.dtype) + is_bool(row.dtype), 1) << row.name;
  }
  EXPECT_TRUE(is_unsigned(u4));
  EXPECT_FALSE(is_unsigned(bool_));
  EXPECT_FALSE(is_int(bool_));
}

TEST(scalar, prints_the_fewest_digits) {
  EXPECT_EQ(Scalar::of(f32, 0.1).str(), "f32(0.1)");
  EXPECT_EQ(Scalar::of(f16, 0.1).str(), "f16(0.1)");
  EXPECT_EQ(Scalar::of(f64, 0.1f).str(), "f64(0.10000000149011612)");
  EXPECT_EQ(Scalar::of(f32, 0).str(), "f32(0)");
  EXPECT_EQ(Scalar::of(f32, -0.0).str(), "f32(-0)");
  EXPECT_EQ(Scalar::of(f32, 100).str(), "f32(100)");
  EXPECT_EQ(Scalar::of(f32, 1e20).str(), "f32(1e+20)");
  EXPECT_EQ(Scalar::of(bf16, 3.14159).str(), "bf16(3.14)");
  EXPECT_EQ(Scalar::of(f64, -kInf).str(), "f64(-inf)");
  EXPECT_EQ(Scalar::of(f64, -kNaN).str(), "f64(nan)");
  EXPECT_EQ(Scalar::of(f32, 0x1p-149).str(), "f32(1e-45)");
  EXPECT_EQ(Scalar::of(i64, -3).str(), "i64(-3)");
  EXPECT_EQ(Scalar::of(u64, -1).str(), "u64(18446744073709551615)");
  EXPECT_EQ(Scalar::of(bool_, 7).str(), "bool(true)");
  EXPECT_EQ(Scalar{}.str(), "bool(false)");
}

TEST(scalar, is_of_its_dtype) {
  EXPECT_EQ(Scalar::of(f16, 1e6).value.f, kInf);
  EXPECT_EQ(Scalar::of(i8, 300).value.i, 44);
  EXPECT_EQ(Scalar::of(i8, 300.0).value.i, 127);
  EXPECT_EQ(Scalar::of(i8, -300.0).value.i, -128);
  EXPECT_EQ(Scalar::of(u8, -3.7).value.i, 0);
  EXPECT_EQ(Scalar::of(u8, 3.7).value.i, 3);
  EXPECT_EQ(Scalar::of(i64, 1e30).value.i, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Scalar::of(i64, -kInf).value.i, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar::of(u64, 1e30).value.i, -1);
  EXPECT_EQ(Scalar::of(u64, 0x1p63).as_double(), 0x1p63);
  EXPECT_EQ(Scalar::of(i32, kNaN).value.i, 0);
  EXPECT_EQ(Scalar::of(bool_, kNaN).value.i, 1);
  EXPECT_TRUE(Scalar::of(f32, kNaN) == Scalar::of(f32, -kNaN));
  EXPECT_FALSE(Scalar::of(f32, 0.0) == Scalar::of(f32, -0.0));
  EXPECT_FALSE(Scalar::of(f32, 0.0) == Scalar::of(f64, 0.0));
}

}  // namespace
}  // namespace lumen
