#include "lumen/import/utf8.h"

#include <cstddef>
#include <cstdint>

namespace lumen {

bool is_utf8(std::string_view text) {
  for (size_t k = 0; k < text.size();) {
    const auto lead = static_cast<uint8_t>(text[k]);
    const size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > text.size() - k) return false;
    uint32_t point = length == 1 ? lead : lead & (0x7fu >> length);
    for (size_t m = 1; m < length; ++m) {
      const auto next = static_cast<uint8_t>(text[k + m]);
      if (next >> 6 != 2) return false;
      point = point << 6 | (next & 0x3f);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kLeast[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
    k += length;
  }
  return true;
}

}  // namespace lumen
