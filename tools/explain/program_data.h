// A compiled program as the page of `lumen explain` wants it.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/suite/profile.h"
#include "lumen/compile.h"
#include "lumen/ir/text.h"

namespace lumen::tools {

struct ExplainedProgram {
  std::string name;
  std::shared_ptr<const Graph> graph;
  std::vector<Statement> statements;  // that the graph was read from, where it comes from a file
  CompileReport report;
  BackendKind backend = BackendKind::cpu;
  std::vector<search::PartRecord> parts;
  // Runs of the whole, with what they are of; none when it was not run.
  std::vector<std::pair<std::string, bench::Profile>> runs;
};

// Everything that is shown of it.
nlohmann::json program_data(const ExplainedProgram& program, const bench::Limits& limits);
nlohmann::json limits_data(const bench::Limits& limits);

}  // namespace lumen::tools
