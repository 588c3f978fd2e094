// Runs cases: builds their graphs, takes them through text, compiles them together, executes and compares.
#pragma once

#include <span>
#include <vector>

#include "lumen/compile.h"
#include "tests/conformance/compare.h"

namespace lumen::conformance {

// With `symbolic`, every dim of 2 to 64 elements becomes a symbol (equal sizes the same one) that the run then sets.
struct CaseRun {
  const Case* test;
  bool symbolic;
};

std::vector<Comparison> run_cases(std::span<const CaseRun> runs, const CompileOptions& options);

}  // namespace lumen::conformance
