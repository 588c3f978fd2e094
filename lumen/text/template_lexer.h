// Cuts a chat template into text, tags and the tokens inside tags, with Hugging Face's settings for white space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen::text {

struct TemplateToken {
  enum class Kind { text, print_begin, print_end, block_begin, block_end, name, string, integer, number, op, end };
  Kind kind;
  std::string text;  // of a string: what it stands for
  int line;
};

Expected<std::vector<TemplateToken>> lex_template(std::string_view text);

// An error at a line of a template.
Diag template_error(std::string_view message, int line);

}  // namespace lumen::text
