#include <algorithm>
#include <cmath>

#include "lumen/egraph/core/primitives/builtin.h"
#include "lumen/egraph/core/primitives/number.h"

namespace lumen::egraph {
namespace {

using MaybeBigInt = std::optional<BigInt>;

// A number of so many bits is a mistake; making it would take all memory.
constexpr int64_t kMaxBits = int64_t{1} << 31;

int64_t bits(const BigInt& a) { return a == 0 ? 0 : static_cast<int64_t>(msb(a < 0 ? BigInt(-a) : a)) + 1; }

MaybeBigInt shift_big_left(const BigInt& a, int64_t by) {
  if (by < 0 || by > kMaxBits || bits(a) + by > kMaxBits) return std::nullopt;
  return BigInt(a << static_cast<uint64_t>(by));
}

// Towards minus infinity.
MaybeBigInt shift_big_right(const BigInt& a, int64_t by) {
  if (by < 0) return std::nullopt;
  if (by >= bits(a)) return BigInt(a < 0 ? -1 : 0);
  const auto count = static_cast<uint64_t>(by);
  if (a >= 0) return BigInt(a >> count);
  return BigInt(-((-a - 1) >> count) - 1);
}

// Digits with an optional sign; "_" may stand anywhere but in front of the first digit.
MaybeBigInt parse_big(const std::string& text) {
  const size_t start = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (start == text.size() || text[start] == '_') return std::nullopt;
  std::string digits;
  for (const char c : text.substr(start)) {
    if (c == '_') continue;
    if (c < '0' || c > '9') return std::nullopt;
    if (c != '0' || !digits.empty()) digits += c;  // a leading 0 would mean octal
  }
  const BigInt size = digits.empty() ? BigInt(0) : BigInt(digits);
  return text[0] == '-' ? BigInt(-size) : size;
}

}  // namespace

double nearest_f64(const BigInt& numer, const BigInt& denom) {
  if (numer == 0) return 0;
  const BigInt size = numer < 0 ? BigInt(-numer) : numer;
  // A quotient of 62 or 63 bits; its last one is set when a remainder is left, so that rounding sees it.
  const int64_t shift = 62 - (bits(size) - bits(denom));
  BigInt quotient;
  BigInt rest;
  divide_qr(shift > 0 ? BigInt(size << static_cast<uint64_t>(shift)) : size,
            shift < 0 ? BigInt(denom << static_cast<uint64_t>(-shift)) : denom, quotient, rest);
  const uint64_t rounded = static_cast<uint64_t>(quotient) | (rest != 0 ? 1 : 0);
  const double result =
      std::ldexp(static_cast<double>(rounded), static_cast<int>(std::clamp<int64_t>(-shift, -9999, 9999)));
  return numer < 0 ? -result : result;
}

Sort bigint_sort() {
  return pooled_sort<BigInt>(
      "BigInt", [](const BigInt& a) { return hash_value(a); },
      [](const BigInt& a) { return "(from-string \"" + a.str() + "\")"; });
}

void define_bigint(Definer& define) {
  define("bigint", [](int64_t a) { return BigInt(a); });
  define("+", [](const BigInt& a, const BigInt& b) { return BigInt(a + b); });
  define("-", [](const BigInt& a, const BigInt& b) { return BigInt(a - b); });
  define("*", [](const BigInt& a, const BigInt& b) { return BigInt(a * b); });
  define("/", [](const BigInt& a, const BigInt& b) { return b == 0 ? std::nullopt : MaybeBigInt(a / b); });
  define("%", [](const BigInt& a, const BigInt& b) { return b == 0 ? std::nullopt : MaybeBigInt(a % b); });
  define("&", [](const BigInt& a, const BigInt& b) { return BigInt(a & b); });
  define("|", [](const BigInt& a, const BigInt& b) { return BigInt(a | b); });
  define("^", [](const BigInt& a, const BigInt& b) { return BigInt(a ^ b); });
  define("<<", &shift_big_left);
  define(">>", &shift_big_right);
  define("not-Z", [](const BigInt& a) { return BigInt(-a - 1); });
  define("bits", [](const BigInt& a) { return BigInt(bits(a)); });
  define.order<BigInt>([](const BigInt& a, const BigInt& b) { return a < b; });
  define.bool_order<BigInt>();
  define("to-string", [](const BigInt& a) { return a.str(); });
  define("from-string", &parse_big);
}

}  // namespace lumen::egraph
