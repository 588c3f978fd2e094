// Rationals of two i64: whatever does not fit fails, also in the steps between.
#include <cmath>
#include <limits>
#include <numeric>

#include "lumen/base/hash.h"
#include "lumen/egraph/core/primitives/builtin.h"
#include "lumen/egraph/core/primitives/number.h"

namespace lumen::egraph {
namespace {

using MaybeRational = std::optional<Rational>;
using Wide = __int128;

std::optional<int64_t> checked_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}

Wide gcd(Wide a, Wide b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a < 0 ? -a : a;
}

MaybeRational reduced(Wide numer, Wide denom) {
  if (denom == 0) return std::nullopt;
  const Wide divisor = gcd(numer, denom) * (denom < 0 ? -1 : 1);
  numer /= divisor;
  denom /= divisor;
  constexpr Wide kMax = std::numeric_limits<int64_t>::max();
  if (denom > kMax || numer > kMax || numer < kMinI64) return std::nullopt;
  return Rational{static_cast<int64_t>(numer), static_cast<int64_t>(denom)};
}

// a / b + sign * c / d, over the least common denominator.
MaybeRational rational_sum(const Rational& a, const Rational& b, int sign) {
  const std::optional<int64_t> lcm = checked_product(a.denom / static_cast<int64_t>(gcd(a.denom, b.denom)), b.denom);
  if (!lcm) return std::nullopt;
  const std::optional<int64_t> left = checked_product(*lcm / a.denom, a.numer);
  const std::optional<int64_t> right = checked_product(*lcm / b.denom, b.numer);
  if (!left || !right) return std::nullopt;
  int64_t numer = 0;
  const bool overflow =
      sign > 0 ? __builtin_add_overflow(*left, *right, &numer) : __builtin_sub_overflow(*left, *right, &numer);
  return overflow ? std::nullopt : reduced(numer, *lcm);
}

MaybeRational product(const Rational& a, const Rational& b) {
  return reduced(Wide{a.numer} * b.numer, Wide{a.denom} * b.denom);
}

MaybeRational quotient(const Rational& a, const Rational& b) {
  if (b.numer == 0) return std::nullopt;
  return reduced(Wide{a.numer} * b.denom, Wide{a.denom} * b.numer);
}

bool rational_less(const Rational& a, const Rational& b) { return Wide{a.numer} * b.denom < Wide{b.numer} * a.denom; }

Wide floor_quotient(Wide numer, Wide denom) { return numer / denom - (numer % denom < 0 ? 1 : 0); }

// Exponents are truncated to integers; negative ones fail.
MaybeRational rational_power(const Rational& base, const Rational& exponent) {
  if (base.numer == 0) return exponent.numer > 0 ? MaybeRational(Rational{0, 1}) : std::nullopt;
  int64_t left = exponent.numer / exponent.denom;
  if (left < 0) return std::nullopt;
  MaybeRational result = Rational{1, 1};
  MaybeRational square = base;
  while (left > 0 && result) {
    if (!square) return std::nullopt;
    if (left % 2 == 1) result = product(*result, *square);
    left /= 2;
    if (left > 0) square = product(*square, *square);
  }
  return result;
}

std::optional<int64_t> exact_sqrt(int64_t x) {
  auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(x)));
  while (Wide{root} * root > x) --root;
  while (Wide{root + 1} * (root + 1) <= x) ++root;
  return root * root == x ? std::optional(root) : std::nullopt;
}

MaybeRational rational_square_root(const Rational& a) {
  if (a.numer <= 0) return std::nullopt;
  const std::optional<int64_t> numer = exact_sqrt(a.numer);
  const std::optional<int64_t> denom = exact_sqrt(a.denom);
  return numer && denom ? MaybeRational(Rational{*numer, *denom}) : std::nullopt;
}

// log and cube root are known of 1 only.
MaybeRational rational_at_one(const Rational& a, int64_t result) {
  return a == Rational{1, 1} ? MaybeRational(Rational{result, 1}) : std::nullopt;
}

}  // namespace

Sort rational_sort() {
  return pooled_sort<Rational>(
      "Rational", [](const Rational& a) { return Hasher().add(a.numer).add(a.denom).value(); },
      [](const Rational& a) { return "(rational " + std::to_string(a.numer) + " " + std::to_string(a.denom) + ")"; });
}

void define_rational(Definer& define) {
  define("+", [](const Rational& a, const Rational& b) { return rational_sum(a, b, 1); });
  define("-", [](const Rational& a, const Rational& b) { return rational_sum(a, b, -1); });
  define("*", &product);
  define("/", &quotient);
  define.order<Rational>(&rational_less);
  define("neg", [](const Rational& a) { return reduced(-Wide{a.numer}, a.denom); });
  define("abs", [](const Rational& a) { return a.numer < 0 ? reduced(-Wide{a.numer}, a.denom) : a; });
  define("floor", [](const Rational& a) { return reduced(floor_quotient(a.numer, a.denom), 1); });
  define("ceil", [](const Rational& a) { return reduced(-floor_quotient(-Wide{a.numer}, a.denom), 1); });
  define("round", [](const Rational& a) {
    const Wide size = floor_quotient(2 * (a.numer < 0 ? -Wide{a.numer} : Wide{a.numer}) + a.denom, 2 * Wide{a.denom});
    return reduced(a.numer < 0 ? -size : size, 1);
  });
  define("rational", [](int64_t numer, int64_t denom) { return reduced(numer, denom); });
  define("numer", [](const Rational& a) { return a.numer; });
  define("denom", [](const Rational& a) { return a.denom; });
  define("to-f64", [](const Rational& a) { return nearest_f64(a.numer, a.denom); });
  define("pow", &rational_power);
  define("log", [](const Rational& a) { return rational_at_one(a, 0); });
  define("sqrt", &rational_square_root);
  define("cbrt", [](const Rational& a) { return rational_at_one(a, 1); });
}

}  // namespace lumen::egraph
