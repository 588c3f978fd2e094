#pragma once

#include <string_view>

namespace lumen {

// Whether the bytes are well-formed UTF-8: no surrogates, nothing longer than it need be.
bool is_utf8(std::string_view text);

}  // namespace lumen
