#include "lumen/text/stop_strings.h"

#include <algorithm>
#include <utility>

#include "lumen/text/utf8.h"

namespace lumen {

Expected<StopStrings> StopStrings::make(std::vector<std::string> strings) {
  for (const std::string& string : strings) {
    if (string.empty()) return error("a stop string is empty");
    if (!text::utf8_valid(string)) return error("a stop string is not valid UTF-8");
  }
  StopStrings stop;
  stop.strings_ = std::move(strings);
  return stop;
}

std::string StopStrings::push(std::string_view text) {
  if (stopped_) return "";
  held_ += text;
  size_t first = std::string::npos;
  for (const std::string& string : strings_) {
    const size_t at = held_.find(string);
    if (at >= first) continue;
    first = at;
    found_ = string;
  }
  if (first != std::string::npos) {
    stopped_ = true;
    held_.resize(first);
    return std::exchange(held_, {});
  }
  // The longest end of the text that a string starts with.
  size_t kept = 0;
  for (const std::string& string : strings_) {
    for (size_t size = std::min(string.size() - 1, held_.size()); size > kept; --size) {
      if (held_.ends_with(std::string_view(string).substr(0, size))) kept = size;
    }
  }
  std::string shown = held_.substr(0, held_.size() - kept);
  held_.erase(0, shown.size());
  return shown;
}

std::string StopStrings::finish() { return std::exchange(held_, {}); }

}  // namespace lumen
