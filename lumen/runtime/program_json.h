// A Program as JSON, and back. Nothing that is read is believed: every number is checked before it is used.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "lumen/backend/program.h"

namespace lumen {

using Json = nlohmann::json;

Json program_json(const Graph& graph, const Program& program);

struct ReadProgram {
  std::shared_ptr<const Graph> graph;
  Program program;
};
Expected<ReadProgram> read_program_json(const Json& json);

}  // namespace lumen
