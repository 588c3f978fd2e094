// The texts of lumen/rules/*.egg, which are compiled in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen {

struct RuleFile {
  std::string name;  // "views.egg"
  std::string text;
};

// Sorted by name.
std::vector<RuleFile> built_in_rules();
// Every *.egg in the folder, sorted by name.
Expected<std::vector<RuleFile>> read_rules(const std::string& folder);
// Those of the folder that LUMEN_RULES names, else the built-in ones.
Expected<std::vector<RuleFile>> rules_in_use();

// A text as the engine reads it: $elementwise1, $elementwise2 and $elementwise3 are the names of all elementwise ops
// with so many operands.
std::string with_op_lists(std::string_view text);

}  // namespace lumen
