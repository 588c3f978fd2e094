// StopStrings: ends a stream of text where one of some strings begins. Text that may be the start of one is held back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen {

class StopStrings {
 public:
  // An error for a string that is empty or not valid UTF-8.
  static Expected<StopStrings> make(std::vector<std::string> strings);

  // What can be shown now that `text` has come. Nothing once stopped.
  std::string push(std::string_view text);
  // No more text comes: what was held back.
  std::string finish();
  bool stopped() const { return stopped_; }
  // The string that was found; empty while none is.
  const std::string& found() const { return found_; }

 private:
  std::vector<std::string> strings_;
  std::string held_;
  std::string found_;
  bool stopped_ = false;
};

}  // namespace lumen
