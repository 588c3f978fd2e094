#include <fmt/format.h>

#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

namespace {

// Zeros are one key, and NaNs are one key above all.
const char* const kKeys = R"(
LUMEN_FN uint32_t lumen_key_f32(float x) {
  const uint32_t u = lumen_bits_f32(x == 0.0f ? 0.0f : x);
  const uint32_t ordered = u >> 31 ? ~u : u | 0x80000000u;
  return x != x ? 0xffffffffu : ordered;
}
LUMEN_FN uint64_t lumen_key_f64(double x) {
  const uint64_t u = lumen_bits_f64(x == 0.0 ? 0.0 : x);
  const uint64_t ordered = u >> 63 ? ~u : u | 0x8000000000000000ull;
  return x != x ? 0xffffffffffffffffull : ordered;
}
)";

// Keys in ascending order, equal ones as they came, and places along with them. Few elements by insertion; many by
// their digits, the lowest first, leaving out those that are the same in all.
const char* const kSort = R"(
LUMEN_BIG_FN void lumen_insert_{U}({T}* keys, uint32_t* places, int64_t n) {{
  for (int64_t k = 1; k < n; ++k) {{
    const {T} key = keys[k];
    const uint32_t place = places[k];
    int64_t j = k;
    for (; j > 0 && keys[j - 1] > key; --j) {{
      keys[j] = keys[j - 1];
      places[j] = places[j - 1];
    }}
    keys[j] = key;
    places[j] = place;
  }}
}}
LUMEN_BIG_FN void lumen_sort_{U}({T}* keys, uint32_t* places, {T}* other_keys, uint32_t* other_places, int64_t n) {{
  if (n < 64) {{
    lumen_insert_{U}(keys, places, n);
    return;
  }}
  {T}* from = keys;
  {T}* to = other_keys;
  uint32_t* from_places = places;
  uint32_t* to_places = other_places;
  for (int shift = 0; shift < {bits}; shift += 8) {{
    uint32_t ends[256];
    for (int d = 0; d < 256; ++d) ends[d] = 0;
    for (int64_t k = 0; k < n; ++k) ++ends[(from[k] >> shift) & 255u];
    if (ends[(from[0] >> shift) & 255u] == (uint32_t)n) continue;
    uint32_t total = 0;
    for (int d = 0; d < 256; ++d) {{
      const uint32_t count = ends[d];
      ends[d] = total;
      total += count;
    }}
    for (int64_t k = 0; k < n; ++k) {{
      const uint32_t place = ends[(from[k] >> shift) & 255u]++;
      to[place] = from[k];
      to_places[place] = from_places[k];
    }}
    {T}* const keys_now = to;
    uint32_t* const places_now = to_places;
    to = from;
    to_places = from_places;
    from = keys_now;
    from_places = places_now;
  }}
  if (from_places == places) return;
  for (int64_t k = 0; k < n; ++k) places[k] = from_places[k];
}}
)";

}  // namespace

std::string sorting() {
  std::string text = kKeys;
  for (const int bits : {32, 64}) {
    text += fmt::format(fmt::runtime(kSort), fmt::arg("T", fmt::format("uint{}_t", bits)),
                        fmt::arg("U", fmt::format("u{}", bits)), fmt::arg("bits", bits));
  }
  return text;
}

}  // namespace lumen::scalar_text
