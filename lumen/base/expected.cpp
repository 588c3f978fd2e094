#include "lumen/base/expected.h"

#include <fmt/format.h>

namespace lumen {

std::string Diag::str() const {
  std::string text;
  if (where.line > 0) {
    text = fmt::format("{}:{}:{}: {}", where.file, where.line, where.column, message);
  } else if (!where.file.empty()) {
    text = fmt::format("{}: {}", where.file, message);
  } else {
    text = message;
  }
  for (const std::string& line : notes) text += "\n  note: " + line;
  return text;
}

}  // namespace lumen
