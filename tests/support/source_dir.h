// Where the sources are that tests read files of.
#pragma once

#include <filesystem>

namespace lumen::tests {

std::filesystem::path source_dir();

}  // namespace lumen::tests
