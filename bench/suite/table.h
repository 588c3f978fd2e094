// Reports as text for people.
#pragma once

#include <string>

#include "bench/suite/report.h"

namespace lumen::bench {

std::string time_text(double seconds);  // "12.3 us"

// Each ends with a newline.
std::string limits_text(const Limits& limits);
std::string results_table(const Report& report);
// The cases that changed, and counts of the others.
std::string comparison_text(const Comparison& comparison);

}  // namespace lumen::bench
