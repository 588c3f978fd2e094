// exp for weights: the same bits on every machine, which std::exp does not promise.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lumen::text {

// e^x for x <= 0, within 2 ulp; 0 below -700. Only operations that IEEE 754 rounds in one way are used, so this needs
// -ffp-contract=off where it is compiled.
inline double exp_of_nonpositive(double x) {
  if (!(x > -700)) return 0;
  // 1 / n! from 13 to 0.
  constexpr std::array kTerms = {
      1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0,
      1 / 720.0,        1 / 120.0,       1 / 24.0,       1 / 6.0,       1 / 2.0,      1.0,         1.0};
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 0.693147180369123816490;  // its low bits are 0: products with small integers are exact
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  const double power = static_cast<double>(static_cast<int64_t>(x * kLog2E - 0.5));
  const double r = (x - power * kLn2High) - power * kLn2Low;  // |r| <= ln(2) / 2
  double sum = kTerms[0];
  for (size_t k = 1; k < kTerms.size(); ++k) sum = sum * r + kTerms[k];
  return sum * std::bit_cast<double>(static_cast<uint64_t>(static_cast<int64_t>(power) + 1023) << 52);
}

}  // namespace lumen::text
