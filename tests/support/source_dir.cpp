#include "tests/support/source_dir.h"

namespace lumen::tests {

std::filesystem::path source_dir() { return LUMEN_SOURCE_DIR; }

}  // namespace lumen::tests
