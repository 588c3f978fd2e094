#include "bench/suite/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "bench/suite/report_json.h"
#include "bench/suite/subject.h"
#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/backend/cpu/work_dir.h"

namespace lumen::bench {

namespace {

Json type_json(const std::string& name, const TensorType& type) {
  Json dims = Json::array();
  for (int64_t axis = 0; axis < type.shape.rank(); ++axis) dims.push_back(type.shape[axis].constant().value());
  return {{"name", name}, {"dtype", lumen::name(type.dtype)}, {"dims", dims}};
}

Json case_json(const Case& c) {
  const std::shared_ptr<Graph> graph = c.graph();
  Json inputs = Json::array(), outputs = Json::array(), parameters = Json::object();
  for (const NodeId id : graph->inputs()) {
    const Input& input = (*graph)[id].as<Input>();
    const ValueRange range = c.range_of(input.name.str(), input.dtype);
    Json json = type_json(input.name.str(), (*graph)[id].type);
    json["weight"] = input.kind == InputKind::weight;
    json["lo"] = range.lo;
    json["hi"] = range.hi;
    inputs.push_back(json);
  }
  for (const Output& output : graph->outputs()) {
    outputs.push_back(type_json(output.name.str(), (*graph)[output.value].type));
  }
  for (const auto& [name, value] : c.parameters) parameters[name] = value;
  return {{"name", c.name()},
          {"group", c.group},
          {"size", c.size},
          {"dtype", lumen::name(c.dtype)},
          {"unit", c.unit == Unit::matrix ? "matrix" : "vector"},
          {"fused", c.fused},
          {"quick", c.quick},
          {"flops", c.flops},
          {"bytes", least_bytes(*graph)},
          {"parameters", parameters},
          {"inputs", inputs},
          {"outputs", outputs}};
}

class Server {
 public:
  Server() : cases_(pattern_cases()), pool_(cpu::shared_pool()) {}

  Expected<Json> answer(const Json& request) {
    const std::string what = request.at("do").get<std::string>();
    if (what == "cases") {
      Json cases = Json::array();
      for (const Case& c : cases_) cases.push_back(case_json(c));
      return Json{{"cases", cases}};
    }
    const std::string name = request.at("case").get<std::string>();
    if (what == "load") return load(name, request.at("folder").get<std::string>());
    const auto found = subjects_.find(name);
    if (found == subjects_.end()) return error(fmt::format("case `{}` is not loaded", name));
    if (what == "time") return Json{{"seconds", LUMEN_TRY(found->second.time(request.at("runs").get<int64_t>()))}};
    if (what == "limit") return limit(name, request.at("runs").get<int64_t>());
    if (what == "store") return store(found->second, request.at("folder").get<std::string>());
    if (what != "drop") return error(fmt::format("cannot do `{}`", what));
    subjects_.erase(found);
    return Json::object();
  }

 private:
  // What the machine takes at the moment for the bytes of a case of vectors, or the products of one of matrices.
  Expected<Json> limit(const std::string& name, int64_t runs) {
    const auto found = std::ranges::find(cases_, name, &Case::name);
    if (!trials_) trials_ = LUMEN_TRY(LimitTrials::make(LUMEN_TRY(cpu::Compiler::find()), *pool_));
    const double seconds = found->unit == Unit::matrix
                               ? trials_->tiles(found->dtype, found->flops, runs)
                               : trials_->copy(std::llround(least_bytes(*found->graph())), runs);
    return Json{{"seconds", seconds}};
  }

  Expected<Json> load(const std::string& name, const std::string& folder) {
    for (const Case& c : cases_) {
      if (c.name() != name) continue;
      Subject subject = LUMEN_TRY(Subject::make(c, false));
      LUMEN_TRY(fill_inputs(subject, folder));
      const CompileFacts facts = subject.compile_facts();
      subjects_.insert_or_assign(name, std::move(subject));
      return Json{
          {"seconds", facts.seconds}, {"measured", facts.measured}, {"kernels", facts.kernels}, {"calls", facts.calls}};
    }
    return error(fmt::format("no case `{}`", name));
  }

  static Expected<void> fill_inputs(const Subject& subject, const std::string& folder) {
    const Graph& graph = subject.graph();
    for (size_t k = 0; k < graph.inputs().size(); ++k) {
      const std::string file = folder + "/" + graph[graph.inputs()[k]].as<Input>().name.str() + ".bin";
      const std::string bytes = LUMEN_TRY(cpu::read_file(file));
      const std::span<std::byte> to = subject.input(k);
      if (bytes.size() != to.size()) {
        return error(fmt::format("{}: {} bytes, the input has {}", file, bytes.size(), to.size()));
      }
      std::memcpy(to.data(), bytes.data(), bytes.size());
    }
    return {};
  }

  static Expected<Json> store(Subject& subject, const std::string& folder) {
    LUMEN_TRY(subject.run());
    for (const Output& output : subject.graph().outputs()) {
      const std::span<const std::byte> bytes = subject.output(output.name.str());
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      LUMEN_TRY(cpu::write_file(folder + "/" + output.name.str() + ".out", text));
    }
    return Json::object();
  }

  std::vector<Case> cases_;
  std::shared_ptr<ThreadPool> pool_;
  std::map<std::string, Subject> subjects_;
  std::optional<LimitTrials> trials_;
};

}  // namespace

Expected<void> serve(std::istream& in, std::ostream& out) {
  Server server;
  for (std::string line; std::getline(in, line);) {
    Expected<Json> answer = Json();
    try {
      answer = server.answer(Json::parse(line));
    } catch (const nlohmann::json::exception& problem) {
      answer = error(problem.what());
    }
    out << (answer.ok() ? *answer : Json{{"error", answer.diag().str()}}).dump() << std::endl;
  }
  return {};
}

}  // namespace lumen::bench
