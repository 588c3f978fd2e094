// Values that are rounded to 16 bits in the end, and the functions of a GPU for them.
#include "lumen/codegen/rough.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lumen/codegen/scalar.h"
#include "lumen/frontend/ops.h"
#include "tests/codegen/compiled.h"
#include "tests/support/source_dir.h"

namespace lumen {
namespace {

bool is_rough(const Tensor& x) { return rough_values(*x.graph).contains(x.id); }

TEST(Rough, is_what_only_rounded_results_read) {
  Graph graph;
  const Tensor x = graph.input("x", {8, 16});
  const Tensor e = exp2(x), total = sum(e, {1}, true), y = e / total;
  cast(y, bf16).output("y");
  EXPECT_TRUE(is_rough(e));
  EXPECT_TRUE(is_rough(y));
}

TEST(Rough, is_nothing_of_a_wide_result) {
  Graph graph;
  const Tensor x = graph.input("x", {8, 16});
  const Tensor e = exp2(x), total = sum(e, {1}, true), y = e / total;
  cast(y, bf16).output("y");
  total.output("total");
  EXPECT_FALSE(is_rough(e));
  EXPECT_FALSE(is_rough(total));
  EXPECT_TRUE(is_rough(y));
}

TEST(Rough, is_nothing_that_a_jump_depends_on) {
  Graph graph;
  const Tensor x = graph.input("x", {8, 16});
  const Tensor floored = exp2(x), compared = sqrt(x), counted = tanh(x), wide = erf(x);
  cast(floor(floored), bf16).output("a");
  cast(where(lt(compared, 0.5), x, -x), bf16).output("b");
  argmax(counted, 1).output("c");
  cast(cast(wide, f64) * 2.0, bf16).output("d");
  EXPECT_FALSE(is_rough(floored));
  EXPECT_FALSE(is_rough(compared));
  EXPECT_FALSE(is_rough(counted));
  EXPECT_FALSE(is_rough(cast(wide, f64)));
}

TEST(Rough, is_every_narrow_value) {
  Graph graph;
  const Tensor y = sqrt(graph.input("x", {8, 16}, bf16));
  floor(cast(y, f32)).output("y");
  EXPECT_TRUE(is_rough(y));
}

// Where a GPU has instructions, the emulator has exact functions; the polynomials are the same.
TEST(Rough, functions_have_20_bits) {
  const CompiledText compiled("#include \"" + (tests::source_dir() / "tests/codegen/cuda_words.h\"\n").string() +
                                  scalar_prelude(Syntax::cuda) +
                                  "extern \"C\" float rough_tanh(float x) { return lumen_tanh_rough(x); }\n"
                                  "extern \"C\" float rough_erf(float x) { return lumen_erf_rough(x); }\n",
                              "-O1 -w -x c++ -std=c++20", "c++");
  auto* const rough_tanh = compiled.function<float(float)>("rough_tanh");
  auto* const rough_erf = compiled.function<float(float)>("rough_erf");
  ASSERT_NE(rough_tanh, nullptr);
  ASSERT_NE(rough_erf, nullptr);
  std::mt19937_64 random(std::random_device{}());
  std::uniform_real_distribution<float> exponent(-140, 8), near_bounds(0.2F, 0.8F);
  const auto check = [](float x, float got, double exact) {
    EXPECT_NEAR(got, exact, std::abs(exact) * 0x1p-20 + 0x1p-149) << x;
    EXPECT_EQ(std::signbit(got), std::signbit(x)) << x;
  };
  for (int k = 0; k < 100000; ++k) {
    float x = k % 4 == 0 ? near_bounds(random) : std::exp2(exponent(random));
    if (k % 2 == 0) x = -x;
    check(x, rough_tanh(x), std::tanh(static_cast<double>(x)));
    check(x, rough_erf(x), std::erf(static_cast<double>(x)));
  }
  for (const float x : {0.0F, -0.0F, INFINITY, -INFINITY, 1e30F, 4.0F, 0.5F, 0.35F}) {
    check(x, rough_tanh(x), std::tanh(static_cast<double>(x)));
    check(x, rough_erf(x), std::erf(static_cast<double>(x)));
  }
  EXPECT_TRUE(std::isnan(rough_tanh(NAN)));
  EXPECT_TRUE(std::isnan(rough_erf(NAN)));
}

class OnePlusTest : public ::testing::TestWithParam<Syntax> {};

TEST_P(OnePlusTest, has_16_bits_where_the_sum_cancels) {
  const bool is_cuda = GetParam() == Syntax::cuda;
  const std::string words = "#include \"" + (tests::source_dir() / "tests/codegen/cuda_words.h\"\n").string();
  const std::string functions =
      "float one_plus_tanh(float x) { return lumen_one_plus_tanh_rough(x); }\n"
      "float one_plus_erf(float x) { return lumen_one_plus_erf_rough(x); }\n";
  const CompiledText compiled(is_cuda ? words + scalar_prelude(Syntax::cuda) + "extern \"C\" {\n" + functions + "}\n"
                                      : scalar_prelude(Syntax::c) + functions,
                              is_cuda ? "-O1 -w -x c++ -std=c++20" : "-O1 -w", is_cuda ? "c++" : "cc");
  auto* const tanh = compiled.function<float(float)>("one_plus_tanh");
  auto* const erf = compiled.function<float(float)>("one_plus_erf");
  ASSERT_NE(tanh, nullptr);
  ASSERT_NE(erf, nullptr);
  const auto check = [](float x, float got, double exact) { EXPECT_NEAR(got, exact, exact * 0x1p-16) << x; };
  std::mt19937_64 random(std::random_device{}());
  std::uniform_real_distribution<float> all(-5, 8), exponent(-140, 0);
  for (int k = 0; k < 100000; ++k) {
    const float x = k % 4 == 0 ? (k % 8 == 0 ? -1.0F : 1.0F) * std::exp2(exponent(random)) : all(random);
    check(x, erf(x), std::erfc(static_cast<double>(-x)));
    check(3 * x, tanh(3 * x), 2 / (1 + std::exp(-2 * static_cast<double>(3 * x))));
  }
  for (const float x : {0.0F, -0.0F, INFINITY, 1e30F}) {
    check(x, tanh(x), x > 0 ? 2 : 1);
    check(x, erf(x), x > 0 ? 2 : 1);
  }
  for (const float x : {-INFINITY, -1e38F, -1e30F, -50.0F, -20.0F}) {
    EXPECT_NEAR(tanh(x), 0, 1e-17) << x;
    EXPECT_EQ(erf(x), 0) << x;
  }
  EXPECT_EQ(tanh(-INFINITY), 0);
  EXPECT_EQ(tanh(-1e30F), 0);
  for (float x = -5, last = erf(-5); x > -12; x -= 0.01F) {
    EXPECT_LE(erf(x), last) << x;
    last = erf(x);
  }
  EXPECT_TRUE(std::isnan(tanh(NAN)));
  EXPECT_TRUE(std::isnan(erf(NAN)));
}
INSTANTIATE_TEST_SUITE_P(Rough, OnePlusTest, ::testing::Values(Syntax::c, Syntax::cuda),
                         [](const auto& of) { return std::string(of.param == Syntax::c ? "c" : "cuda"); });

TEST(Rough, has_shorter_functions) {
  Graph graph;
  const Tensor x = graph.input("x", {8, 16}, bf16);
  const Tensor wide = cast(x, f32);
  const auto function = [&](const Tensor& made) {
    const std::optional<RoughCall> call = rough_call(graph, made.id);
    return std::string(call ? call->function : "none");
  };
  EXPECT_EQ(function(1 + erf(wide)), "lumen_one_plus_erf_rough");
  EXPECT_EQ(function(tanh(wide) + 1), "lumen_one_plus_tanh_rough");
  EXPECT_EQ(function(1 + tanh(x)), "lumen_one_plus_tanh_rough");
  EXPECT_EQ(function(2 + erf(wide)), "none");
  EXPECT_EQ(function(1 + exp2(wide)), "none");
  EXPECT_EQ(function(1 + erf(cast(x, f64))), "none");
  EXPECT_EQ(function(exp2(cast(x, f64))), "none");
  EXPECT_EQ(function(exp2(x)), "lumen_exp2_rough");
  // Operands below the normal range count, unless there are none.
  EXPECT_EQ(function(reciprocal(wide)), "lumen_recip_rough");
  EXPECT_EQ(function(reciprocal(exp2(wide))), "lumen_recip_rough");
  EXPECT_EQ(function(reciprocal(1 + exp2(wide))), "lumen_recip_normal");
  EXPECT_EQ(function(reciprocal(1e-40 + exp2(wide))), "lumen_recip_rough");
  EXPECT_EQ(function(sqrt(wide + 1)), "lumen_sqrt_rough");
  EXPECT_EQ(function(sqrt(wide * wide + 1)), "lumen_sqrt_normal");
  EXPECT_EQ(function(sqrt(wide * x - 1 + 1)), "lumen_sqrt_rough");
}

}  // namespace
}  // namespace lumen
