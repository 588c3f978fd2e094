#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "lumen/base/hash.h"
#include "lumen/egraph/core/primitives/builtin.h"

namespace lumen::egraph {
namespace {

uint64_t hash_f64(double x) {
  if (x == 0) return 0;  // of both signs: they are equal
  return std::isnan(x) ? 1 : hash_mix(std::bit_cast<uint64_t>(x));
}

// NaN is the greatest number.
bool f64_less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

// |x| = 0.d0d1d2... * 10^exponent, with the fewest digits that read back as x.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal decimal(double x) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, std::fabs(x), std::chars_format::scientific).ptr;
  const std::string_view all(text, static_cast<size_t>(end - text));
  const size_t e = all.find('e');
  Decimal result;
  for (const char c : all.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  result.exponent = x == 0 ? 1 : std::stoi(std::string(all.substr(e + 1))) + 1;
  return result;
}

std::string special(double x) { return std::isnan(x) ? "NaN" : x < 0 ? "-inf" : "inf"; }

// Without exponent; no point when there is nothing behind it.
std::string positional(double x) {
  const auto [digits, exponent] = decimal(x);
  const std::string sign = std::signbit(x) ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (exponent <= 0) return sign + "0." + std::string(static_cast<size_t>(-exponent), '0') + digits;
  if (exponent >= count) return sign + digits + std::string(static_cast<size_t>(exponent - count), '0');
  return sign + digits.substr(0, static_cast<size_t>(exponent)) + "." + digits.substr(static_cast<size_t>(exponent));
}

// As to-string gives it: with an exponent when the number is very large or very small.
std::string text_of(double x) {
  if (!std::isfinite(x)) return special(x);
  const double size = std::fabs(x);
  if (size == 0 || (size >= 1e-4 && size < 1e16)) {
    const std::string text = positional(x);
    return text.find('.') == std::string::npos ? text + ".0" : text;
  }
  auto [digits, exponent] = decimal(x);
  if (digits.size() > 1) digits.insert(1, ".");
  return (x < 0 ? "-" : "") + digits + "e" + std::to_string(exponent - 1);
}

int64_t truncate(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (x < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

}  // namespace

std::string print_f64(double x) {
  if (!std::isfinite(x)) return special(x);
  const std::string text = positional(x);
  // Only what would read back as an i64 needs the point.
  int64_t ignored = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), ignored);
  const bool integer = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return integer ? text + ".0" : text;
}

Sort f64_sort() { return pooled_sort<double>("f64", &hash_f64, &print_f64); }

void define_f64(Definer& define) {
  define("neg", [](double a) { return -a; });
  define("+", [](double a, double b) { return a + b; });
  define("-", [](double a, double b) { return a - b; });
  define("*", [](double a, double b) { return a * b; });
  define("^", [](double a, double b) { return std::pow(a, b); });
  define("/", [](double a, double b) { return b == 0 ? std::nullopt : std::optional(a / b); });
  define("%", [](double a, double b) { return b == 0 ? std::nullopt : std::optional(std::fmod(a, b)); });
  define.order<double>(&f64_less);
  define("abs", [](double a) { return std::fabs(a); });
  define("to-f64", [](int64_t a) { return static_cast<double>(a); });
  define("to-i64", &truncate);
  define("to-string", &text_of);
}

}  // namespace lumen::egraph
