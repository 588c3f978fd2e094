#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen {

// The text as a JSON object in which every name occurs once; a repeated one is refused, not resolved. Messages are
// "PATH: the WHAT is not a JSON object".
Expected<nlohmann::json> parse_json_object(std::string_view text, std::string_view path, std::string_view what);

}  // namespace lumen
