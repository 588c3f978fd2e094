// Compares models with what transformers computed (oracle.py writes the folders).
// Usage: model_oracle [--measure] FOLDER...
#include <fmt/format.h>

#include "tests/models/oracle/case.h"

namespace lumen::models {
namespace {

int run(std::span<char* const> arguments) {
  // Every kernel is right, whichever is chosen: timing them all would take most of an hour.
  CompileOptions options = CompileOptions::from_flags();
  options.measure = false;
  Counts counts;
  for (const std::string_view argument : arguments) {
    if (argument == "--measure") {
      options.measure = true;
      continue;
    }
    const std::string folder(argument);
    const Expected<Case> given = read_case(folder);
    if (!given.ok()) {
      fmt::print("FAILED {}\n", given.diag().str());
      ++counts.failed;
    } else if (given->is("encoder")) {
      compare_encoder(*given, options, counts);
    } else {
      compare_causal(*given, options, counts);
    }
  }
  fmt::print("models: {} passed, {} failed\n", counts.passed, counts.failed);
  return counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace lumen::models

int main(int argc, char** argv) { return lumen::models::run({argv + 1, static_cast<size_t>(argc - 1)}); }
