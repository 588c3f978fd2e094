#include "lumen/base/flags.h"

#include <cstdio>

#include "tools/commands.h"

namespace lumen::tools {

Expected<int> list_flags() {
  std::fputs(flags_markdown().c_str(), stdout);
  return 0;
}

}  // namespace lumen::tools
