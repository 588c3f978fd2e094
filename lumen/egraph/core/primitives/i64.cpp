#include <bit>

#include "lumen/egraph/core/primitives/builtin.h"

namespace lumen::egraph {
namespace {

using MaybeI64 = std::optional<int64_t>;

MaybeI64 unless(bool overflow, int64_t result) { return overflow ? std::nullopt : MaybeI64(result); }

MaybeI64 add(int64_t a, int64_t b) {
  int64_t sum = 0;
  const bool overflow = __builtin_add_overflow(a, b, &sum);
  return unless(overflow, sum);
}

MaybeI64 difference_of(int64_t a, int64_t b) {
  int64_t difference = 0;
  const bool overflow = __builtin_sub_overflow(a, b, &difference);
  return unless(overflow, difference);
}

MaybeI64 product_of(int64_t a, int64_t b) {
  int64_t product = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &product);
  return unless(overflow, product);
}

bool divides(int64_t a, int64_t b) { return b != 0 && !(a == kMinI64 && b == -1); }
MaybeI64 divide(int64_t a, int64_t b) { return divides(a, b) ? MaybeI64(a / b) : std::nullopt; }
MaybeI64 remainder(int64_t a, int64_t b) { return divides(a, b) ? MaybeI64(a % b) : std::nullopt; }

bool shifts(int64_t by) { return by >= 0 && by < 64; }
MaybeI64 shift_left(int64_t a, int64_t by) {
  return shifts(by) ? MaybeI64(static_cast<int64_t>(static_cast<uint64_t>(a) << by)) : std::nullopt;
}
MaybeI64 shift_right(int64_t a, int64_t by) { return shifts(by) ? MaybeI64(a >> by) : std::nullopt; }

MaybeI64 log2(int64_t a) { return a > 0 ? MaybeI64(63 - std::countl_zero(static_cast<uint64_t>(a))) : std::nullopt; }

}  // namespace

void define_i64(Definer& define) {
  define("+", &add);
  define("-", &difference_of);
  define("*", &product_of);
  define("/", &divide);
  define("%", &remainder);
  define("&", [](int64_t a, int64_t b) { return a & b; });
  define("|", [](int64_t a, int64_t b) { return a | b; });
  define("^", [](int64_t a, int64_t b) { return a ^ b; });
  define("<<", &shift_left);
  define(">>", &shift_right);
  define("not-i64", [](int64_t a) { return ~a; });
  define("log2", &log2);
  define("abs", [](int64_t a) { return a == kMinI64 ? std::nullopt : MaybeI64(a < 0 ? -a : a); });
  define.order<int64_t>([](int64_t a, int64_t b) { return a < b; });
  define.bool_order<int64_t>();
  define("to-string", [](int64_t a) { return std::to_string(a); });
}

}  // namespace lumen::egraph
