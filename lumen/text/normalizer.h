// Normalisers: what happens to text before it is cut. Valid UTF-8 in, valid UTF-8 out.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::text {

using Normalizer = std::function<Expected<std::string>(std::string text)>;

struct BertOptions {
  bool clean_text = true;      // no control characters, every white space a space
  bool chinese_spaces = true;  // spaces around ideographs
  bool strip_accents = true;
  bool lowercase = true;
};
std::string normalize_bert(std::string_view text, const BertOptions& options);

std::string strip_spaces(std::string_view text, bool left, bool right);
// Without combining marks; accents are those after NFD.
std::string strip_marks(std::string_view text, bool only_nonspacing);
std::string normalize_nmt(std::string_view text);
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace lumen::text
