#include <fmt/format.h>

#include "lumen/codegen/scalar.h"
#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

namespace {

// {S}: the dtype, {C}: its compute type, {T}: its storage type, {bits}: its width, {mask}: that many ones.
const char* const kPlain = R"(
LUMEN_FN {C} lumen_load_{S}({T} x) {{ return ({C})x; }}
LUMEN_FN {T} lumen_store_{S}({C} x) {{ return ({T})x; }}
)";
const char* const kWrap = R"(
LUMEN_FN {C} lumen_wrap_{S}({C} x) {{ return ({C})({T})x; }}
)";
const char* const kWrapPacked = R"(
LUMEN_FN {C} lumen_wrap_{S}({C} x) {{ return lumen_decode_{S}(lumen_encode_{S}(x)); }}
)";
const char* const kStoredBool = R"(
LUMEN_FN uint8_t lumen_wrap_bool(uint8_t x) { return x != 0; }
LUMEN_FN uint8_t lumen_load_bool(uint8_t x) { return x != 0; }
LUMEN_FN uint8_t lumen_store_bool(uint8_t x) { return x != 0; }
)";
// The top bit the other way: what has a sign has none, and is 128 more, or the reverse.
const char* const kFlipByte = R"(
LUMEN_FN uint8_t lumen_flip_byte(int32_t x) { return (uint8_t)(x ^ 0x80); }
)";
// Four bits never leave their byte.
const char* const kFour = R"(
LUMEN_FN {C} lumen_load_{S}(const uint8_t* bytes, int64_t k) {{
  return lumen_decode_{S}(((uint32_t)bytes[k >> 1] >> (k & 1) * 4) & 15u);
}}
LUMEN_FN void lumen_store_{S}(uint8_t* bytes, int64_t k, {C} x) {{
  uint32_t shift = (uint32_t)(k & 1) * 4;
  uint32_t kept = bytes[k >> 1] & ~(15u << shift);
  bytes[k >> 1] = (uint8_t)(kept | lumen_encode_{S}(x) << shift);
}}
)";
// Six bits may; where they do not, the second byte is the first one again, so that nothing past the end is touched.
const char* const kSix = R"(
LUMEN_FN {C} lumen_load_{S}(const uint8_t* bytes, int64_t k) {{
  int64_t byte = k * 6 >> 3;
  uint32_t shift = (uint32_t)(k * 6 & 7);
  uint32_t window = bytes[byte] | (uint32_t)bytes[byte + (shift > 2)] << 8;
  return lumen_decode_{S}((window >> shift) & 63u);
}}
LUMEN_FN void lumen_store_{S}(uint8_t* bytes, int64_t k, {C} x) {{
  int64_t byte = k * 6 >> 3;
  uint32_t shift = (uint32_t)(k * 6 & 7);
  uint32_t hole = 63u << shift;
  uint32_t filled = lumen_encode_{S}(x) << shift;
  uint32_t second = shift > 2;
  bytes[byte] = (uint8_t)((bytes[byte] & ~hole) | filled);
  bytes[byte + second] = (uint8_t)(second ? (bytes[byte + 1] & ~(hole >> 8)) | filled >> 8 : bytes[byte]);
}}
)";

std::string of_dtype(const char* text, DType dtype) {
  return fmt::format(fmt::runtime(text), fmt::arg("S", name(dtype)), fmt::arg("C", compute_type(dtype)),
                     fmt::arg("T", storage_type(dtype)));
}

// The narrow floats of 8 bits and more are written out in text_narrow_floats.cpp.
std::string conversions(DType dtype) {
  std::string text;
  if (is_bool(dtype)) return kStoredBool;
  if (is_packed(dtype)) {
    text += of_dtype(info(dtype).bits == 4 ? kFour : kSix, dtype);
  } else if (is_int(dtype) || dtype == f32 || dtype == f64) {
    text += of_dtype(kPlain, dtype);
  }
  if (is_int(dtype)) text += of_dtype(is_packed(dtype) ? kWrapPacked : kWrap, dtype);
  return text;
}

}  // namespace

std::string storage() {
  std::string text = kFlipByte;
  for (const DTypeInfo& row : all_dtypes()) text += conversions(row.dtype);
  return text;
}

}  // namespace lumen::scalar_text
