// Log lines on stderr, as many as LUMEN_DEBUG asks for; a line is never torn by another thread's.
//
//   if (log_enabled(2)) log_line(2, fmt::format("{} of {} candidates left", left, all));
//   LUMEN_LOG(1, "saturate: " + text);       // the same, with the text made only when it is shown
#pragma once

#include <string_view>

#include "lumen/base/flags.h"

namespace lumen {

// Level 0 is always shown (warnings); 1 to 4 need LUMEN_DEBUG of at least that.
inline bool log_enabled(int level) { return level <= 0 || level <= flags().debug; }

// Writes `[lumen] text` and a newline in one call when `level` is enabled.
void log_line(int level, std::string_view text);

}  // namespace lumen

#define LUMEN_LOG(level, text)                                           \
  do {                                                                   \
    if (::lumen::log_enabled(level)) ::lumen::log_line((level), (text)); \
  } while (false)
