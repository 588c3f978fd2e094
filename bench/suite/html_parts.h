// Parts of the page of html.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/suite/report.h"

namespace lumen::bench {

std::string escaped(std::string_view text);

// One colour for each group, far apart.
class Palette {
 public:
  explicit Palette(const Report& report);
  std::string colour(const std::string& group) const;
  const std::vector<std::string>& groups() const { return groups_; }

 private:
  std::vector<std::string> groups_;
};

// Flops per byte against flops per second, both logarithmic, under the lines that the limits draw. Cases without flops
// are left out.
std::string roofline_svg(const Report& report, const Palette& palette);
// A bar for each case: the larger of its shares of the memory's and the arithmetic's limit.
std::string shares_svg(const Report& report, const Palette& palette);

extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace lumen::bench
