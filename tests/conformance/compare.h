// Whether a result is what the case expects, and how far off it is.
#pragma once

#include <string>

#include "tests/conformance/case_file.h"

namespace lumen::conformance {

struct Comparison {
  bool passed = true;
  double ratio = 0;     // the largest error over its tolerance; 0 for exact results that are equal
  std::string problem;  // when not passed: the worst position with both values
};

Comparison compare(const ExpectedTensor& expected, const HostTensor& got);

}  // namespace lumen::conformance
