#include "tools/commit.h"

namespace lumen::tools {

std::string built_from() { return LUMEN_COMMIT; }

}  // namespace lumen::tools
