// What cmake/rules.cmake makes of lumen/rules/*.egg.
#pragma once

#include <span>
#include <string_view>

namespace lumen {

struct RuleText {
  std::string_view name;
  std::string_view text;
};
std::span<const RuleText> rule_texts();

}  // namespace lumen
