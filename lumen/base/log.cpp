#include "lumen/base/log.h"

#include <cstdio>
#include <string>

namespace lumen {

void log_line(int level, std::string_view text) {
  if (!log_enabled(level)) return;
  std::string line = "[lumen] ";
  line += text;
  line += '\n';
  // One fwrite: stdio locks the stream for the whole of it.
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace lumen
