// A report as a page to look at.
#pragma once

#include <string>

#include "bench/suite/report.h"

namespace lumen::bench {

// One HTML file that needs nothing else: the limits, a roofline with every case, the share of the limit that each case
// reaches, and a table that sorts by a click on a heading. With a comparison, the table says what changed.
std::string html_report(const Report& report, const Comparison* comparison = nullptr);

}  // namespace lumen::bench
