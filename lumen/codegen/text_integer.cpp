#include <fmt/format.h>

#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

namespace {

// {T}: the type, {U}: the unsigned type of its width, {S}: the suffix.
const char* const kBoth = R"(
LUMEN_FN {T} lumen_add_{S}({T} a, {T} b) {{ return ({T})(({U})a + ({U})b); }}
LUMEN_FN {T} lumen_mul_{S}({T} a, {T} b) {{ return ({T})(({U})a * ({U})b); }}
LUMEN_FN {T} lumen_max_{S}({T} a, {T} b) {{ return a > b ? a : b; }}
LUMEN_FN uint8_t lumen_lt_{S}({T} a, {T} b) {{ return a < b; }}
LUMEN_FN uint8_t lumen_eq_{S}({T} a, {T} b) {{ return a == b; }}
LUMEN_FN {T} lumen_and_{S}({T} a, {T} b) {{ return a & b; }}
LUMEN_FN {T} lumen_or_{S}({T} a, {T} b) {{ return a | b; }}
LUMEN_FN {T} lumen_xor_{S}({T} a, {T} b) {{ return a ^ b; }}
LUMEN_FN {T} lumen_shl_{S}({T} a, {T} count, {T} width) {{
  return ({U})count < ({U})width ? ({T})(({U})a << (({U})count & {last}u)) : 0;
}}
)";

const char* const kSigned = R"(
// Floor division; 0 for a divisor of 0. The divisor -1 apart, because the smallest number has no negative.
LUMEN_FN {T} lumen_div_{S}({T} a, {T} b) {{
  {T} d = ((b == 0) | (b == -1)) ? 1 : b;
  {T} q = a / d;
  q -= (q * d != a) & ((a < 0) != (d < 0));
  q = b == -1 ? ({T})(0 - ({U})a) : q;
  return b == 0 ? 0 : q;
}}
// The remainder of that: it has the sign of b.
LUMEN_FN {T} lumen_mod_{S}({T} a, {T} b) {{
  {T} d = ((b == 0) | (b == -1)) ? 1 : b;
  {T} rest = a % d;
  return ((rest != 0) & ((rest < 0) != (d < 0))) ? rest + d : rest;
}}
LUMEN_FN {T} lumen_shr_{S}({T} a, {T} count, {T} width) {{
  return a >> (({U})count < ({U})width ? ({U})count & {last}u : {last}u);
}}
)";

const char* const kUnsigned = R"(
LUMEN_FN {T} lumen_div_{S}({T} a, {T} b) {{ return b == 0 ? 0 : a / (b == 0 ? 1 : b); }}
LUMEN_FN {T} lumen_mod_{S}({T} a, {T} b) {{ return b == 0 ? 0 : a % (b == 0 ? 1 : b); }}
LUMEN_FN {T} lumen_shr_{S}({T} a, {T} count, {T} width) {{
  return count < width ? a >> (count & {last}u) : 0;
}}
)";

const char* const kBool = R"(
LUMEN_FN uint8_t lumen_add_bool(uint8_t a, uint8_t b) { return a | b; }
LUMEN_FN uint8_t lumen_mul_bool(uint8_t a, uint8_t b) { return a & b; }
LUMEN_FN uint8_t lumen_max_bool(uint8_t a, uint8_t b) { return a | b; }
LUMEN_FN uint8_t lumen_lt_bool(uint8_t a, uint8_t b) { return a < b; }
LUMEN_FN uint8_t lumen_eq_bool(uint8_t a, uint8_t b) { return a == b; }
LUMEN_FN uint8_t lumen_and_bool(uint8_t a, uint8_t b) { return a & b; }
LUMEN_FN uint8_t lumen_or_bool(uint8_t a, uint8_t b) { return a | b; }
LUMEN_FN uint8_t lumen_xor_bool(uint8_t a, uint8_t b) { return a ^ b; }
)";

std::string of_width(int bits, bool is_signed) {
  const std::string u = fmt::format("uint{}_t", bits);
  const std::string t = is_signed ? u.substr(1) : u;
  const std::string s = fmt::format("{}{}", is_signed ? 'i' : 'u', bits);
  std::string text;
  for (const char* part : {kBoth, is_signed ? kSigned : kUnsigned}) {
    text += fmt::format(fmt::runtime(part), fmt::arg("T", t), fmt::arg("U", u), fmt::arg("S", s),
                        fmt::arg("last", bits - 1));
  }
  return text;
}

}  // namespace

std::string integers() {
  return of_width(32, true) + of_width(32, false) + of_width(64, true) + of_width(64, false) + kBool;
}

}  // namespace lumen::scalar_text
