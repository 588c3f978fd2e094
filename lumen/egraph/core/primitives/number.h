// The numbers of Rational, BigInt and BigRat. Internal to core/primitives.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

namespace lumen::egraph {

using BigInt = boost::multiprecision::cpp_int;
using BigRat = boost::multiprecision::cpp_rational;

// In lowest terms, denominator > 0.
struct Rational {
  int64_t numer = 0;
  int64_t denom = 1;

  bool operator==(const Rational&) const = default;
};

// The f64 nearest to numer / denom; denom > 0.
double nearest_f64(const BigInt& numer, const BigInt& denom);

}  // namespace lumen::egraph
