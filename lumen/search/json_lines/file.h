// The file of a JSON-lines database, as bytes. Call these with the folder's lock held.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::search {

// The bytes from this offset on; nothing when the file is shorter.
Expected<std::optional<std::string>> read_from(const std::string& path, size_t offset);

// Puts the lines at `offset`, where the last complete line ends, and cuts off what was beyond; the offset moves on.
// After an error the file has the complete lines that it had.
Expected<void> append_lines(const std::string& path, std::string_view lines, size_t& offset);

// The file has this text, or is as it was.
Expected<void> replace_file(const std::string& path, std::string_view text);

}  // namespace lumen::search
