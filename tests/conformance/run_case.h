// Runs one case: builds its graph, takes it through text, executes it and compares.
#pragma once

#include "tests/conformance/compare.h"

namespace lumen::conformance {

// With `symbolic`, every dim of 2 to 64 elements becomes a symbol (equal sizes the same one) that the run then sets.
Comparison run_case(const Case& test, bool symbolic);

}  // namespace lumen::conformance
