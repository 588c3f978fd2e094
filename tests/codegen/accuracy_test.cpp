// The errors that scalar_functions() states, measured on compiled text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <random>

#include "lumen/codegen/scalar.h"
#include "tests/codegen/compiled.h"
#include "tests/codegen/ulp.h"

namespace lumen {
namespace {

template <class T>
using Loop = void(const T*, const T*, T*, int64_t);

template <class T>
T exact_mod(T a, T b) {
  const T rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// What each function of the table means, wide enough to measure against.
template <class T>
T meaning(std::string_view name, T x, T y) {
  if (name == "exp2") return std::exp2(x);
  if (name == "log2") return std::log2(x);
  if (name == "sin") return std::sin(x);
  if (name == "sqrt") return std::sqrt(x);
  if (name == "recip") return 1 / x;
  if (name == "floor") return std::floor(x);
  if (name == "tanh") return std::tanh(x);
  if (name == "erf") return std::erf(x);
  if (name == "atan") return std::atan(x);
  if (name == "add") return x + y;
  if (name == "mul") return x * y;
  if (name == "div") return x / y;
  if (name == "max") return x > y || std::isnan(x) ? x : y;
  if (name == "lt") return x < y ? 1 : 0;
  if (name == "eq") return x == y ? 1 : 0;
  if (name == "mod") return exact_mod(x, y);
  ADD_FAILURE() << "no meaning for " << name;
  return 0;
}

template <class T>
std::string loop_text(const ScalarFunction& function) {
  const bool single = sizeof(T) == 4;
  return fmt::format(
      "{3}void loop(const {0}* restrict x, const {0}* restrict y, {0}* restrict out, int64_t n) {{\n"
      "  for (int64_t k = 0; k < n; ++k) out[k] = lumen_{1}_{2}(x[k]{4});\n  (void)y;\n}}\n",
      single ? "float" : "double", function.name, single ? "f32" : "f64", scalar_prelude(Syntax::c),
      function.arity == 2 ? ", y[k]" : "");
}

// The function compiled in every way, and the worst error that each way has shown.
template <class T, class Wide>
class Measure {
 public:
  explicit Measure(const ScalarFunction& function) : function_(function), worst_(flag_sets().size()) {
    for (const std::string& flags : flag_sets()) {
      ways_.push_back(std::make_unique<CompiledText>(loop_text<T>(function), flags));
      loops_.push_back(ways_.back()->template function<Loop<T>>("loop"));
    }
  }

  void measure(const std::vector<T>& x, const std::vector<T>& y) {
    const double limit = sizeof(T) == 4 ? function_.limit_f32 : function_.limit_f64;
    std::vector<Wide> exact(x.size());
    for (size_t k = 0; k < x.size(); ++k) exact[k] = meaning<Wide>(function_.name, x[k], y[k]);
    for (size_t way = 0; way < loops_.size(); ++way) {
      if (loops_[way] == nullptr) return;
      std::vector<T> out(x.size(), std::numeric_limits<T>::max());
      loops_[way](x.data(), y.data(), out.data(), static_cast<int64_t>(x.size()));
      for (size_t k = 0; k < x.size(); ++k) {
        if (std::isfinite(x[k]) && static_cast<double>(std::fabs(x[k])) > limit) continue;
        const double error = ulp_error(out[k], exact[k]);
        if (error > worst_[way].error) worst_[way] = {error, x[k], y[k], out[k]};
      }
    }
  }

  void expect_within(double stated) const {
    for (size_t way = 0; way < worst_.size(); ++way) {
      const Worst& worst = worst_[way];
      EXPECT_LE(worst.error, stated) << fmt::format("{}({:a}, {:a}) gave {:a} with {}", function_.name, worst.x,
                                                    worst.y, worst.out, flag_sets()[way]);
      ::testing::Test::RecordProperty(fmt::format("ulp_f{}_{}", sizeof(T) * 8, way),
                                      fmt::format("{:.3f}", worst.error));
    }
  }

 private:
  struct Worst {
    double error = 0;
    T x = 0, y = 0, out = 0;
  };
  const ScalarFunction& function_;
  std::vector<std::unique_ptr<CompiledText>> ways_;
  std::vector<Loop<T>*> loops_;
  std::vector<Worst> worst_;
};

// Where functions change their formula, and what has no neighbours.
template <class T>
std::vector<T> edge_cases() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> edges;
  for (const double value : {0.0,
                             0.3465,
                             0.5,
                             0.7071067811865476,
                             1.0,
                             1.4142135623730951,
                             1.5707963267948966,
                             2.0,
                             3.141592653589793,
                             4.0,
                             6.0,
                             10.0,
                             20.0,
                             126.0,
                             127.5,
                             128.0,
                             129.0,
                             149.0,
                             150.0,
                             151.0,
                             1022.0,
                             1024.0,
                             1074.0,
                             1075.0,
                             1080.0,
                             1e5,
                             1e8,
                             16777216.0,
                             0x1p50,
                             0x1p76,
                             0x1p102}) {
    const T x = static_cast<T>(value);
    for (const T near : {x, std::nextafter(x, Limits::infinity()), std::nextafter(x, -Limits::infinity())}) {
      edges.push_back(near);
      edges.push_back(-near);
    }
  }
  for (const T x : {Limits::infinity(), Limits::quiet_NaN(), Limits::max(), Limits::min(), Limits::denorm_min(),
                    std::nextafter(Limits::min(), T{0})}) {
    edges.push_back(x);
    edges.push_back(-x);
  }
  return edges;
}

template <class T, class Wide>
void measure_edges(const ScalarFunction& function, Measure<T, Wide>& measure) {
  std::vector<T> x, y;
  const std::vector<T> edges = edge_cases<T>();
  for (const T a : edges) {
    for (const T b : edges) {
      if (function.arity == 1 && b != edges[0]) continue;
      x.push_back(a);
      y.push_back(b);
    }
  }
  measure.measure(x, y);
}

class Accuracy : public ::testing::TestWithParam<ScalarFunction> {};

TEST_P(Accuracy, every_251st_float_is_within_the_stated_error) {
  const ScalarFunction& function = GetParam();
  Measure<float, double> measure(function);
  measure_edges(function, measure);
  std::mt19937 random(11);
  // Functions of two operands are single instructions, selections or libm, so fewer inputs do.
  const uint64_t stride = function.arity == 1 ? 251 : 4093;
  const size_t block = size_t{1} << 18;
  std::vector<float> x, y;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += stride) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    y.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    if (x.size() < block && bits + stride < uint64_t{1} << 32) continue;
    measure.measure(x, y);
    x.clear();
    y.clear();
  }
  measure.expect_within(function.ulp_f32);
}

// All magnitudes, and more of those near 1 and near the ends of the ranges.
double draw(std::mt19937_64& random) {
  const uint64_t bits = random();
  const double unit = static_cast<double>(static_cast<int64_t>(random())) * 0x1p-63;
  switch (random() % 4) {
    case 0:
      return std::bit_cast<double>(bits);
    case 1:
      return 1 + std::ldexp(unit, -static_cast<int>(bits % 20));
    default:
      return std::ldexp(unit, static_cast<int>(bits % 34) - 6);
  }
}

TEST_P(Accuracy, random_doubles_are_within_the_stated_error) {
  const ScalarFunction& function = GetParam();
  Measure<double, long double> measure(function);
  measure_edges(function, measure);
  std::mt19937_64 random(12);
  for (int block = 0; block < (function.arity == 1 ? 12 : 2); ++block) {
    std::vector<double> x(size_t{1} << 18), y(x.size());
    for (double& value : x) value = draw(random);
    for (double& value : y) value = draw(random);
    measure.measure(x, y);
  }
  measure.expect_within(function.ulp_f64);
}

std::string test_name(const ::testing::TestParamInfo<ScalarFunction>& param) { return std::string(param.param.name); }
INSTANTIATE_TEST_SUITE_P(Scalar, Accuracy, ::testing::ValuesIn(scalar_functions().begin(), scalar_functions().end()),
                         test_name);

// Where functions that choose a polynomial by a table choose another.
std::vector<float> piece_edges() {
  std::vector<float> edges = edge_cases<float>();
  const auto add = [&](float x) {
    for (const float near : {x, std::nextafter(x, 100.0F), std::nextafter(x, -100.0F)}) {
      edges.push_back(near);
      edges.push_back(-near);
    }
  };
  for (int k = 0; k < 17; ++k) add(0.25F * static_cast<float>(k) - 0.0625F);
  for (int k = 5; k < 21; ++k) add(std::ldexp(1.0F + 0.25F * static_cast<float>(k % 4), k / 4 - 2) - 0.625F);
  for (const float x : {3.93F, 9.3F}) add(x);
  return edges;
}

TEST(Scalar, vectors_of_every_width_give_the_numbers_of_scalars) {
  std::vector<float> x = piece_edges();
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4999) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  // Loops end in every number of elements that are no vector.
  const size_t most = 1000 + 31;
  for (const char* name : {"exp2_f32", "tanh_f32", "erf_f32", "one_plus_erf_rough"}) {
    const std::string text = fmt::format(
        "{0}void loop(const float* restrict x, const float* restrict y, float* restrict out, int64_t n) {{\n"
        "  for (int64_t k = 0; k < n; ++k) out[k] = y[k] < 0.0f ? x[k] : lumen_{1}(x[k]);\n}}\n",
        scalar_prelude(Syntax::c), name);
    const CompiledText scalars(text, LUMEN_NATIVE " -fno-tree-vectorize");
    for (const char* flags : {LUMEN_NATIVE, LUMEN_WIDE}) {
      const CompiledText vectors(text, flags);
      Loop<float>* const loops[] = {scalars.function<Loop<float>>("loop"), vectors.function<Loop<float>>("loop")};
      ASSERT_TRUE(loops[0] != nullptr && loops[1] != nullptr);
      std::vector<float> mask(most), out[2] = {std::vector<float>(most), std::vector<float>(most)};
      for (size_t k = 0; k < most; ++k) mask[k] = k % 13 == 5 ? -1.0F : 1.0F;
      for (size_t from = 0; from < x.size(); from += 1000) {
        const size_t count = std::min(1000 + from / 1000 % 32, x.size() - from);
        for (int way = 0; way < 2; ++way) {
          loops[way](x.data() + from, mask.data(), out[way].data(), static_cast<int64_t>(count));
        }
        for (size_t k = 0; k < count; ++k) {
          if (std::isnan(out[0][k]) && std::isnan(out[1][k])) continue;
          ASSERT_EQ(std::bit_cast<uint32_t>(out[0][k]), std::bit_cast<uint32_t>(out[1][k]))
              << fmt::format("{}({:a}) with {}", name, x[from + k], flags);
        }
      }
    }
  }
}

TEST(Scalar, one_plus_erf_of_values_that_need_few_bits_is_right) {
  const std::string text =
      scalar_prelude(Syntax::c) +
      "void loop(const float* restrict x, const float* restrict y, float* restrict out, int64_t n) {\n"
      "  for (int64_t k = 0; k < n; ++k) out[k] = lumen_one_plus_erf_rough(x[k]);\n  (void)y;\n}\n";
  std::vector<float> x, out;
  for (int k = -50000; k < 60000; ++k) x.push_back(static_cast<float>(k) * 1e-4F);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float end : {-infinity, -100.0F, infinity, std::nanf("")}) x.push_back(end);
  for (const char* flags : {LUMEN_WIDE, LUMEN_OLDER}) {
    const CompiledText compiled(text, flags);
    auto* const loop = compiled.function<Loop<float>>("loop");
    ASSERT_NE(loop, nullptr);
    out.assign(x.size(), 7.0F);
    loop(x.data(), x.data(), out.data(), static_cast<int64_t>(x.size()));
    const size_t ends = x.size() - 4;
    for (size_t k = 0; k < ends; ++k) {
      const double exact = std::erfc(-static_cast<double>(x[k]));
      ASSERT_LE(std::fabs(out[k] - exact), 0x1p-16 * exact) << x[k] << " with " << flags;
    }
    EXPECT_EQ(out[ends], 0.0F);
    EXPECT_EQ(out[ends + 1], 0.0F);
    EXPECT_EQ(out[ends + 2], 2.0F);
    EXPECT_TRUE(std::isnan(out[ends + 3]));
  }
}

TEST(Scalar, sin_of_large_doubles_is_right) {
  const auto sine = std::find_if(scalar_functions().begin(), scalar_functions().end(),
                                 [](const ScalarFunction& function) { return function.name == "sin"; });
  for (const std::string& flags : flag_sets()) {
    const CompiledText compiled(loop_text<double>(*sine), flags);
    auto* const loop = compiled.function<Loop<double>>("loop");
    ASSERT_NE(loop, nullptr);
    std::mt19937_64 random(13);
    std::vector<double> x(100003), out(x.size(), 7.0);
    for (double& value : x)
      value = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 1000) + 23);
    loop(x.data(), x.data(), out.data(), static_cast<int64_t>(x.size()));
    for (size_t k = 0; k < x.size(); ++k) {
      const double wanted = std::sin(x[k]);
      ASSERT_LE(std::fabs(out[k] - wanted), 0x1p-51 * std::fabs(wanted)) << x[k] << " with " << flags;
    }
  }
}

}  // namespace
}  // namespace lumen
