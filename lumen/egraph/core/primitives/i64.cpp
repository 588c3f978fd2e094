#include <bit>
#include <limits>

#include "lumen/egraph/core/primitives/builtin.h"

namespace lumen::egraph {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

using Result = std::optional<int64_t>;

Result unless(bool overflow, int64_t result) { return overflow ? std::nullopt : Result(result); }

Result add(int64_t a, int64_t b) {
  int64_t sum = 0;
  const bool overflow = __builtin_add_overflow(a, b, &sum);
  return unless(overflow, sum);
}

Result subtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  const bool overflow = __builtin_sub_overflow(a, b, &difference);
  return unless(overflow, difference);
}

Result multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &product);
  return unless(overflow, product);
}

bool divides(int64_t a, int64_t b) { return b != 0 && !(a == kMin && b == -1); }
Result divide(int64_t a, int64_t b) { return divides(a, b) ? Result(a / b) : std::nullopt; }
Result remainder(int64_t a, int64_t b) { return divides(a, b) ? Result(a % b) : std::nullopt; }

bool shifts(int64_t by) { return by >= 0 && by < 64; }
Result shift_left(int64_t a, int64_t by) {
  return shifts(by) ? Result(static_cast<int64_t>(static_cast<uint64_t>(a) << by)) : std::nullopt;
}
Result shift_right(int64_t a, int64_t by) { return shifts(by) ? Result(a >> by) : std::nullopt; }

Result log2(int64_t a) { return a > 0 ? Result(63 - std::countl_zero(static_cast<uint64_t>(a))) : std::nullopt; }

}  // namespace

void define_i64(Definer& define) {
  define("+", &add);
  define("-", &subtract);
  define("*", &multiply);
  define("/", &divide);
  define("%", &remainder);
  define("&", [](int64_t a, int64_t b) { return a & b; });
  define("|", [](int64_t a, int64_t b) { return a | b; });
  define("^", [](int64_t a, int64_t b) { return a ^ b; });
  define("<<", &shift_left);
  define(">>", &shift_right);
  define("not-i64", [](int64_t a) { return ~a; });
  define("log2", &log2);
  define("abs", [](int64_t a) { return a == kMin ? std::nullopt : Result(a < 0 ? -a : a); });
  define.order<int64_t>([](int64_t a, int64_t b) { return a < b; });
  define.bool_order<int64_t>();
  define("to-string", [](int64_t a) { return std::to_string(a); });
}

}  // namespace lumen::egraph
