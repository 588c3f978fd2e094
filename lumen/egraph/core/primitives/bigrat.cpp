#include <limits>

#include "lumen/base/hash.h"
#include "lumen/egraph/core/primitives/builtin.h"
#include "lumen/egraph/core/primitives/number.h"

namespace lumen::egraph {
namespace {

using MaybeBigRat = std::optional<BigRat>;

BigInt numer(const BigRat& a) { return numerator(a); }
BigInt denom(const BigRat& a) { return denominator(a); }
bool negative(const BigRat& a) { return a < 0; }

BigRat floor_of(const BigRat& a) {
  BigInt quotient;
  BigInt rest;
  divide_qr(numer(a), denom(a), quotient, rest);
  return BigRat(rest < 0 ? BigInt(quotient - 1) : quotient);
}

BigRat ceil_of(const BigRat& a) { return BigRat(-floor_of(BigRat(-a))); }

// Halves go away from zero.
BigRat round_of(const BigRat& a) {
  const BigRat half(1, 2);
  return negative(a) ? ceil_of(BigRat(a - half)) : floor_of(BigRat(a + half));
}

// base^exponent for an integer exponent; 0^0 = 1.
MaybeBigRat big_power(const BigRat& base, const BigRat& exponent) {
  if (denom(exponent) != 1) return std::nullopt;
  const bool inverse = negative(exponent);
  if (base == 0) return inverse ? std::nullopt : MaybeBigRat(exponent == 0 ? 1 : 0);
  const BigInt size = inverse ? BigInt(-numer(exponent)) : numer(exponent);
  if (size > std::numeric_limits<int64_t>::max()) return std::nullopt;
  const BigRat start = inverse ? BigRat(1 / base) : base;
  if (start == 1 || start == -1) return bit_test(size, 0) ? start : BigRat(1);
  constexpr int64_t kMaxExponent = int64_t{1} << 28;  // the result would not fit into memory
  if (size > kMaxExponent) return std::nullopt;
  const auto count = static_cast<unsigned>(size);
  return BigRat(pow(numer(start), count), pow(denom(start), count));
}

MaybeBigRat big_square_root(const BigRat& a) {
  if (a <= 0) return std::nullopt;
  const BigInt top = sqrt(numer(a));
  const BigInt bottom = sqrt(denom(a));
  if (top * top != numer(a) || bottom * bottom != denom(a)) return std::nullopt;
  return BigRat(top, bottom);
}

// log and cube root are known of 1 only.
MaybeBigRat big_at_one(const BigRat& a, int result) { return a == 1 ? MaybeBigRat(result) : std::nullopt; }

std::string print(const BigRat& a) {
  return "(bigrat (from-string \"" + numer(a).str() + "\") (from-string \"" + denom(a).str() + "\"))";
}

}  // namespace

Sort bigrat_sort() {
  return pooled_sort<BigRat>(
      "BigRat", [](const BigRat& a) { return hash_combine(hash_value(numer(a)), hash_value(denom(a))); }, &print);
}

void define_bigrat(Definer& define) {
  define("+", [](const BigRat& a, const BigRat& b) { return BigRat(a + b); });
  define("-", [](const BigRat& a, const BigRat& b) { return BigRat(a - b); });
  define("*", [](const BigRat& a, const BigRat& b) { return BigRat(a * b); });
  define("/", [](const BigRat& a, const BigRat& b) { return b == 0 ? std::nullopt : MaybeBigRat(a / b); });
  define.order<BigRat>([](const BigRat& a, const BigRat& b) { return a < b; });
  define("neg", [](const BigRat& a) { return BigRat(-a); });
  define("abs", [](const BigRat& a) { return negative(a) ? BigRat(-a) : a; });
  define("floor", &floor_of);
  define("ceil", &ceil_of);
  define("round", &round_of);
  define("bigrat", [](const BigInt& n, const BigInt& d) { return d == 0 ? std::nullopt : MaybeBigRat(BigRat(n, d)); });
  define("numer", &numer);
  define("denom", &denom);
  define("to-f64", [](const BigRat& a) { return nearest_f64(numer(a), denom(a)); });
  define("pow", &big_power);
  define("log", [](const BigRat& a) { return big_at_one(a, 0); });
  define("sqrt", &big_square_root);
  define("cbrt", [](const BigRat& a) { return big_at_one(a, 1); });
}

}  // namespace lumen::egraph
