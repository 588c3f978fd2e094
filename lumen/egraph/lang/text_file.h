// Text files, with what the system says when one cannot be read or written.
#pragma once

#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::egraph {

Expected<std::string> read_text(const std::string& path);
Expected<void> write_text(const std::string& path, std::string_view text, bool append);

}  // namespace lumen::egraph
