// Loads, stores and wraps of every dtype do, bit for bit, what the reference's unpack, pack, round_to and wrap_to do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "lumen/codegen/scalar.h"
#include "tests/codegen/compiled.h"

namespace lumen {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::byte kPoison{0xa5};

size_t compute_bytes(DType dtype) {
  const std::string_view suffix = compute_suffix(dtype);
  return suffix == "bool" ? 1 : suffix.ends_with("64") ? 8 : 4;
}

std::string kernels(DType dtype) {
  const std::string load = is_packed(dtype) ? "(x, k)" : "(x[k])";
  const std::string store = is_packed(dtype) ? "{}(out, k, x[k])" : "out[k] = {}(x[k])";
  return scalar_prelude(Syntax::c) + fmt::format(
                                         "void load(const {0}* restrict x, {1}* restrict out, int64_t n) {{\n"
                                         "  for (int64_t k = 0; k < n; ++k) out[k] = {2}{3};\n}}\n"
                                         "void store(const {1}* restrict x, {0}* restrict out, int64_t n) {{\n"
                                         "  for (int64_t k = 0; k < n; ++k) {4};\n}}\n",
                                         storage_type(dtype), compute_type(dtype), load_function(dtype), load,
                                         fmt::format(fmt::runtime(store), store_function(dtype)));
}

// The element of the compute type as a lane.
Lane lane_at(DType dtype, const Bytes& elements, size_t k) {
  const std::byte* const at = elements.data() + k * compute_bytes(dtype);
  const auto read = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  const std::string_view suffix = compute_suffix(dtype);
  if (suffix == "f32") return Lane{.f = static_cast<double>(read(float{}))};
  if (suffix == "f64") return Lane{.f = read(double{})};
  if (suffix == "i32") return Lane{.i = read(int32_t{})};
  if (suffix == "u32") return Lane{.i = read(uint32_t{})};
  if (suffix == "bool") return Lane{.i = read(uint8_t{})};
  return Lane{.i = read(int64_t{})};
}

bool same(DType dtype, Lane a, Lane b) { return a.i == b.i || (is_float(dtype) && std::isnan(a.f) && std::isnan(b.f)); }

Bytes random_bytes(size_t count, std::mt19937_64& random) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Numbers of the dtype, the middles between neighbours, and the floats beside both; then random bits and the specials.
std::vector<float> floats_to_store(DType dtype, std::mt19937_64& random) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<Lane> numbers(20011);
  unpack(dtype, random_bytes(static_cast<size_t>(storage_bytes(dtype, 20011)), random), numbers);
  std::vector<float> values = {0.0f,           -0.0f,     kInf,      -kInf,     std::nanf(""),
                               -std::nanf(""), 0x1p-149f, 0x1p-127f, -0x1p-126f};
  for (size_t k = 0; k < numbers.size(); ++k) {
    const double number = numbers[k].f;
    const double step = std::ldexp(1.0, std::ilogb(number == 0 ? 1e-3 : number) - info(dtype).mantissa_bits - 1);
    for (const double near : {number, number + step, number - step, number + step / 2}) {
      const float value = static_cast<float>(near);
      values.insert(values.end(), {value, std::nextafter(value, kInf), std::nextafter(value, -kInf)});
    }
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
  return values;
}

Bytes elements_to_store(DType dtype, std::mt19937_64& random) {
  if (!is_float(dtype) || dtype == f64 || dtype == f32) return random_bytes(compute_bytes(dtype) * 100003, random);
  const std::vector<float> values = floats_to_store(dtype, random);
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Compilers and flags: clang has ways of its own for some conversions.
std::vector<std::pair<std::string, std::string>> ways_to_compile() {
  std::vector<std::pair<std::string, std::string>> ways;
  for (const std::string& flags : flag_sets()) ways.emplace_back("cc", flags);
  static const bool has_clang = run_command("clang --version").status == 0;
  if (has_clang) ways.emplace_back("clang", flag_sets()[0]);
  return ways;
}

class Convert : public ::testing::TestWithParam<DType> {};

TEST_P(Convert, loads_as_the_reference_unpacks) {
  const DType dtype = GetParam();
  std::mt19937_64 random(21);
  const size_t count = 200003;
  const Bytes stored = random_bytes(static_cast<size_t>(storage_bytes(dtype, count)), random);
  std::vector<Lane> expected(count);
  unpack(dtype, stored, expected);
  for (const auto& [compiler, flags] : ways_to_compile()) {
    if (flags != flag_sets()[0]) continue;  // loads do not calculate
    const CompiledText compiled(kernels(dtype), flags, compiler);
    auto* const load = compiled.function<void(const std::byte*, std::byte*, int64_t)>("load");
    ASSERT_NE(load, nullptr);
    Bytes loaded(count * compute_bytes(dtype), kPoison);
    load(stored.data(), loaded.data(), count);
    for (size_t k = 0; k < count; ++k) {
      const Lane got = lane_at(dtype, loaded, k);
      ASSERT_TRUE(same(dtype, got, expected[k])) << name(dtype) << " element " << k << " with " << compiler << ": "
                                                 << got.f << " or " << got.i << ", expected " << expected[k].f;
    }
  }
}

TEST_P(Convert, stores_as_the_reference_rounds_and_packs) {
  const DType dtype = GetParam();
  for (const auto& [compiler, flags] : ways_to_compile()) {
    const CompiledText compiled(kernels(dtype), flags, compiler);
    auto* const store = compiled.function<void(const std::byte*, std::byte*, int64_t)>("store");
    ASSERT_NE(store, nullptr);
    std::mt19937_64 random(22);
    const Bytes elements = elements_to_store(dtype, random);
    const size_t count = elements.size() / compute_bytes(dtype);
    const size_t size = static_cast<size_t>(storage_bytes(dtype, static_cast<int64_t>(count)));
    Bytes stored(size + 16, kPoison);
    store(elements.data(), stored.data(), static_cast<int64_t>(count));
    for (size_t k = size; k < stored.size(); ++k) ASSERT_EQ(stored[k], kPoison) << "written past the end";
    if (dtype == f32 || dtype == f64) {
      EXPECT_EQ(std::memcmp(elements.data(), stored.data(), size), 0);
      continue;
    }
    std::vector<Lane> lanes(count);
    for (size_t k = 0; k < count; ++k) {
      lanes[k] = lane_at(dtype, elements, k);
      lanes[k] = is_float(dtype) ? Lane{.f = round_to(dtype, lanes[k].f)} : Lane{.i = wrap_to(dtype, lanes[k].i)};
    }
    Bytes expected(size);
    pack(dtype, lanes, expected);
    // The bits after the last element keep what was there.
    const size_t whole = static_cast<size_t>(count * static_cast<size_t>(info(dtype).bits) / 8);
    for (size_t k = 0; k < whole; ++k) {
      ASSERT_EQ(stored[k], expected[k]) << name(dtype) << " byte " << k << " with " << compiler << " " << flags
                                        << ", near " << lanes[k * 8 / static_cast<size_t>(info(dtype).bits)].f;
    }
  }
}

class Wrap : public ::testing::TestWithParam<DType> {};

TEST_P(Wrap, wraps_as_the_reference) {
  const DType dtype = GetParam();
  const std::string text =
      scalar_prelude(Syntax::c) +
      fmt::format(
          "void wrap(const {0}* x, {0}* out, int64_t n) {{ for (int64_t k = 0; k < n; ++k) out[k] = {1}(x[k]); }}",
          compute_type(dtype), wrap_function(dtype));
  const CompiledText compiled(text, LUMEN_NATIVE);
  auto* const wrap = compiled.function<void(const std::byte*, std::byte*, int64_t)>("wrap");
  ASSERT_NE(wrap, nullptr);
  std::mt19937_64 random(23);
  const size_t count = 10007;
  const Bytes x = random_bytes(count * compute_bytes(dtype), random);
  Bytes out(x.size(), kPoison);
  wrap(x.data(), out.data(), count);
  for (size_t k = 0; k < count; ++k) ASSERT_EQ(lane_at(dtype, out, k).i, wrap_to(dtype, lane_at(dtype, x, k).i)) << k;
}

std::vector<DType> converted_dtypes(bool floats, bool others) {
  std::vector<DType> dtypes;
  for (const DTypeInfo& row : all_dtypes()) {
    if (is_float(row.dtype) ? floats : others) dtypes.push_back(row.dtype);
  }
  return dtypes;
}
std::string dtype_name(const ::testing::TestParamInfo<DType>& param) { return std::string(name(param.param)); }
INSTANTIATE_TEST_SUITE_P(Scalar, Convert, ::testing::ValuesIn(converted_dtypes(true, true)), dtype_name);
INSTANTIATE_TEST_SUITE_P(Scalar, Wrap, ::testing::ValuesIn(converted_dtypes(false, true)), dtype_name);

}  // namespace
}  // namespace lumen
