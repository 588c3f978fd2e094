// JSON that reports and the server share. Only for sources that print or read JSON: the library is heavy.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/suite/limits.h"

namespace lumen::bench {

using Json = nlohmann::ordered_json;  // people read keys in our order

Json limits_json(const Limits& limits);

}  // namespace lumen::bench
