// A Program as JSON, and back. Nothing that is read is believed: every number is checked before it is used.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lumen/backend/program.h"

namespace lumen {

using Json = nlohmann::json;

// Members of a JSON object by name; one that is missing or of the wrong kind is an error that says so.
class JsonMembers {
 public:
  JsonMembers(const Json& json, std::string what) : json_(json), what_(std::move(what)) {}

  Expected<const Json*> array(const char* name) const;
  Expected<const Json*> object(const char* name) const;
  Expected<std::string> text(const char* name) const;
  Expected<int64_t> number(const char* name) const;
  Expected<double> real(const char* name) const;
  // Numbers below `end`.
  Expected<std::vector<uint32_t>> numbers(const char* name, size_t end) const;
  Diag wrong(const char* name, const std::string& wanted) const;

 private:
  const Json* find(const char* name) const;
  const Json& json_;
  std::string what_;
};

// Its graph is written, as its dims have their own bounds.
Json program_json(const Program& program);
// `whole` is the graph of the file: the program has its inputs and outputs.
Expected<Program> read_program_json(const Json& json, const Graph& whole);

}  // namespace lumen
