// Integer arithmetic of the prelude against the reference ops, by dtype: small and extreme numbers, each with each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "lumen/codegen/scalar.h"
#include "lumen/hlir/binary.h"
#include "tests/codegen/compiled.h"

namespace lumen {
namespace {

template <class T>
T shifted(bool left, T a, T count) {
  constexpr int kWidth = sizeof(T) * 8;
  const bool all_out = count < 0 || static_cast<uint64_t>(count) >= kWidth;
  if (left) return all_out ? T{0} : static_cast<T>(static_cast<uint64_t>(a) << count);
  if (all_out) return a < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(a >> count);
}

// In the lanes of the reference, narrowed as it narrows; a divisor of 0 is an error there and 0 here.
template <class T>
T integer_meaning(std::string_view name, T narrow_a, T narrow_b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  const Wide a = narrow_a, b = narrow_b;
  if (name == "div") return b == 0 ? T{0} : static_cast<T>(hlir::Div::scalar(a, b));
  if (name == "mod") return b == 0 ? T{0} : static_cast<T>(hlir::Mod::scalar(a, b));
  if (name == "add") return static_cast<T>(hlir::Add::scalar(a, b));
  if (name == "mul") return static_cast<T>(hlir::Mul::scalar(a, b));
  if (name == "max") return static_cast<T>(hlir::Maximum::scalar(a, b));
  if (name == "lt") return static_cast<T>(hlir::LessThan::scalar(a, b));
  if (name == "eq") return static_cast<T>(hlir::Equal::scalar(a, b));
  if (name == "and") return static_cast<T>(hlir::BitAnd::scalar(a, b));
  if (name == "or") return static_cast<T>(hlir::BitOr::scalar(a, b));
  if (name == "xor") return static_cast<T>(hlir::BitXor::scalar(a, b));
  if (name == "shl" || name == "shr") return shifted(name == "shl", narrow_a, narrow_b);
  ADD_FAILURE() << "no meaning for " << name;
  return 0;
}

template <class T>
void expect_all_functions(std::string_view type, std::string_view suffix) {
  std::string text = scalar_prelude(Syntax::c);
  for (const std::string_view name : integer_functions()) {
    const bool shifts = name == "shl" || name == "shr";
    text += fmt::format(
        "void loop_{0}(const {1}* x, const {1}* y, {1}* out, int64_t n) {{\n"
        "  for (int64_t k = 0; k < n; ++k) out[k] = lumen_{0}_{2}(x[k], y[k]{3});\n}}\n",
        name, type, suffix, shifts ? fmt::format(", {}", sizeof(T) * 8) : "");
  }
  const CompiledText compiled(text, LUMEN_NATIVE);
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {Limits::min(), static_cast<T>(Limits::min() + 1), static_cast<T>(Limits::max() - 1),
                           Limits::max()};
  for (int k = -70; k <= 70; ++k) values.push_back(static_cast<T>(k));
  std::mt19937_64 random(31);
  for (int k = 0; k < 150; ++k) values.push_back(static_cast<T>(random() >> random() % 64));
  std::vector<T> x, y;
  for (const T a : values) {
    for (const T b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  for (const std::string_view name : integer_functions()) {
    auto* const loop = compiled.function<void(const T*, const T*, T*, int64_t)>(fmt::format("loop_{}", name));
    ASSERT_NE(loop, nullptr);
    std::vector<T> out(x.size(), static_cast<T>(0x5a));
    loop(x.data(), y.data(), out.data(), static_cast<int64_t>(x.size()));
    for (size_t k = 0; k < x.size(); ++k) {
      ASSERT_EQ(out[k], integer_meaning(name, x[k], y[k])) << name << "_" << suffix << " of " << x[k] << ", " << y[k];
    }
  }
}

TEST(Integers, i32_as_the_reference) { expect_all_functions<int32_t>("int32_t", "i32"); }
TEST(Integers, u32_as_the_reference) { expect_all_functions<uint32_t>("uint32_t", "u32"); }
TEST(Integers, i64_as_the_reference) { expect_all_functions<int64_t>("int64_t", "i64"); }
TEST(Integers, u64_as_the_reference) { expect_all_functions<uint64_t>("uint64_t", "u64"); }

}  // namespace
}  // namespace lumen
