// What this program was built from.
#pragma once

#include <string>

namespace lumen::tools {

// As git describes it; "unknown" outside of a repository.
std::string built_from();

}  // namespace lumen::tools
