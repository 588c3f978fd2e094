// Frequencies against the formulas written out on the host, rotations against pairs turned one by one.
#include "nn/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "tests/frontend/rig.h"

namespace lumen::nn {
namespace {

constexpr int64_t kHeadSize = 16;
constexpr double kBase = 10000;

double plain(int64_t pair) { return std::pow(kBase, -2.0 * static_cast<double>(pair) / kHeadSize); }

void expect_frequencies(const RopeSettings& settings, double largest_position,
                        const std::function<double(int64_t)>& wanted) {
  Rig rig;
  const Tensor positions = rig.input({1, 2}, {1, largest_position}, i64);
  std::vector<double> all;
  for (int64_t k = 0; k < settings.size / 2; ++k) all.push_back(wanted(k));
  expect_close(rig.run(rope_frequencies(settings, positions)), all, 1e-12);
}

TEST(RopeFrequencies, none_and_linear) {
  expect_frequencies({.size = kHeadSize}, 5, plain);
  expect_frequencies({.size = kHeadSize, .scaling = RopeScaling::linear, .factor = 4}, 5,
                     [](int64_t k) { return plain(k) / 4; });
}

TEST(RopeFrequencies, dynamic_follows_the_longest_text) {
  const RopeSettings settings{.size = kHeadSize, .scaling = RopeScaling::dynamic, .factor = 2, .trained_context = 32};
  expect_frequencies(settings, 31, plain);
  const double base = kBase * std::pow(2.0 * 50 / 32 - 1, 16.0 / 14);
  expect_frequencies(settings, 49,
                     [&](int64_t k) { return std::pow(base, -2.0 * static_cast<double>(k) / kHeadSize); });
}

TEST(RopeFrequencies, llama3_has_three_ranges) {
  const RopeSettings settings{.size = kHeadSize,
                              .scaling = RopeScaling::llama3,
                              .factor = 8,
                              .trained_context = 64,
                              .low_freq_factor = 1,
                              .high_freq_factor = 4};
  int stay = 0, divided = 0, between = 0;
  expect_frequencies(settings, 5, [&](int64_t k) {
    const double length = 2 * std::numbers::pi / plain(k);
    if (length < 64.0 / 4) return ++stay, plain(k);
    if (length > 64.0) return ++divided, plain(k) / 8;
    const double smooth = (64 / length - 1) / 3;
    return ++between, (1 - smooth) * plain(k) / 8 + smooth * plain(k);
  });
  EXPECT_TRUE(stay > 0 && divided > 0 && between > 0);
}

TEST(RopeFrequencies, longrope_has_two_lists) {
  RopeSettings settings{.size = 4, .scaling = RopeScaling::longrope, .trained_context = 8};
  settings.short_factors = {1, 2};
  settings.long_factors = {3, 5};
  expect_frequencies(settings, 7, [](int64_t k) { return k == 0 ? 1.0 : 0.01 / 2; });
  expect_frequencies(settings, 8, [](int64_t k) { return k == 0 ? 1.0 / 3 : 0.01 / 5; });
}

TEST(RopeFrequencies, yarn_interpolates_slow_pairs) {
  RopeSettings settings{.size = kHeadSize, .scaling = RopeScaling::yarn, .factor = 8, .trained_context = 4096};
  for (const bool truncate : {false, true}) {
    settings.truncate = truncate;
    const auto pair_of = [](double turns) {
      return kHeadSize * std::log(4096 / (turns * 2 * std::numbers::pi)) / (2 * std::log(kBase));
    };
    const double lo = truncate ? std::floor(pair_of(32)) : pair_of(32);
    const double hi = truncate ? std::ceil(pair_of(1)) : pair_of(1);
    expect_frequencies(settings, 5, [&](int64_t k) {
      const double ramp = std::clamp((static_cast<double>(k) - lo) / (hi - lo), 0.0, 1.0);
      return plain(k) / 8 * ramp + plain(k) * (1 - ramp);
    });
  }
}

TEST(RopeFrequencies, proportional_leaves_pairs_still) {
  const RopeSettings settings{.size = kHeadSize, .scaling = RopeScaling::proportional, .rotated_pairs = 3};
  expect_frequencies(settings, 5, [](int64_t k) { return k < 3 ? plain(k) : 0; });
}

TEST(Rope, turns_pairs_of_both_layouts) {
  for (const RopeLayout layout : {RopeLayout::half, RopeLayout::interleaved}) {
    Rig rig;
    const Tensor x = rig.random({2, 3, 2, 6});
    const Tensor positions = rig.input({2, 2}, {0, 7, 3, 40}, i64);
    const std::vector<double> given = rig.values(x), at{0, 7, 3, 40};
    std::vector<double> wanted = given;
    for (size_t row = 0; row < 12; ++row) {
      const double position = at[row / 6 * 2 + row % 2];
      for (size_t k = 0; k < 2; ++k) {  // two pairs of the first four elements are turned, the rest stays
        const size_t first = row * 6 + (layout == RopeLayout::half ? k : 2 * k);
        const size_t second = layout == RopeLayout::half ? first + 2 : first + 1;
        const double angle = position * std::pow(100.0, -0.5 * static_cast<double>(k));
        wanted[first] = 1.5 * (given[first] * std::cos(angle) - given[second] * std::sin(angle));
        wanted[second] = 1.5 * (given[second] * std::cos(angle) + given[first] * std::sin(angle));
      }
    }
    const Rope rope({.size = 4, .base = 100, .layout = layout, .attention_factor = 1.5}, positions);
    expect_close(rig.run(rope(x)), wanted, 2e-5);
  }
}

}  // namespace
}  // namespace lumen::nn
