#include "tools/explain/program_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "lumen/kernel/title.h"
#include "tools/explain/graph_data.h"
#include "tools/explain/written_nodes.h"

namespace lumen::tools {

namespace {

using nlohmann::json;
using search::PartRecord;

json schedules_data(const std::vector<search::TuningEntry>& entries) {
  json result = json::array();
  for (const search::TuningEntry& entry : entries) {
    result.push_back({{"schedule", entry.schedule},
                      {"seconds", entry.seconds},
                      {"spread", entry.spread},
                      {"trials", entry.trials},
                      {"rejected", entry.rejected}});
  }
  return result;
}

// The most that a kernel of this work could reach here, and what keeps it from more.
json roof_data(const Work& work, double seconds, const bench::Limits& limits) {
  const bench::KernelProfile kernel{"", "", 1, seconds, work};
  const double memory = kernel.memory_share(limits), compute = kernel.compute_share(limits);
  return {{"mbu", memory}, {"mfu", compute}, {"bound", memory >= compute ? "memory" : "compute"}};
}

// By place in the order of the program's graph: the op, and what the file says of it.
struct SaidOfNode {
  const OpDef* op;
  std::vector<Statement> statements;
};
using Said = std::vector<SaidOfNode>;

std::vector<size_t> places_in_order(const Graph& graph) {
  const std::vector<NodeId> order = graph.order();
  std::vector<size_t> places(graph.size(), order.size());
  for (size_t k = 0; k < order.size(); ++k) places[static_cast<size_t>(order[k])] = k;
  return places;
}

Said said_of(const ExplainedProgram& program) {
  Said said;
  for (const NodeId id : program.graph->order()) said.push_back({(*program.graph)[id].op, {}});
  const std::vector<size_t> places = places_in_order(*program.graph);
  for (const Statement& statement : program.statements) {
    const size_t place = places[static_cast<size_t>(statement.node)];
    if (place < said.size()) said[place].statements.push_back(statement);  // else no output needs it
  }
  return said;
}

class PartData {
 public:
  PartData(const PartRecord& part, const ExplainedProgram& program, const Said& said, const bench::Limits& limits)
      : part_(part),
        program_(program),
        said_(said),
        limits_(limits),
        from_(written_nodes(part)),
        places_(places_in_order(*part.body)) {}

  json run() const {
    const Program& lowered = part_.lowered.program;
    json calls = json::array();
    for (const ProgramCall& call : lowered.calls) calls.push_back(call.kernel);
    return {{"where", part_.where},
            {"times", part_.times},
            {"dims", dims_text()},
            {"written", written()},
            {"chosen", chosen()},
            {"rules", rules()},
            {"growth", growth()},
            {"saturation", saturation()},
            {"classes", classes()},
            {"calls", std::move(calls)},
            {"candidates", candidates()},
            {"kernels", kernels()},
            {"cuts", cuts()},
            {"from", from()}};
  }

 private:
  std::string dims_text() const {
    std::string text;
    for (const Expr& dim : part_.body->dims()) {
      const std::optional<int64_t> value = part_.dims.get(dim.dim_name());
      if (value) text += (text.empty() ? "" : " ") + std::string(dim.dim_name()) + "=" + std::to_string(*value);
    }
    return text;
  }

  // Inputs of a part are numbered; the graph has names for those that are its own.
  void name_input(const Graph& graph, NodeId id, json& node) const {
    const auto number = std::ranges::find(graph.inputs(), id) - graph.inputs().begin();
    if (static_cast<size_t>(number) >= part_.inputs.size()) return;
    const std::string& name = part_.inputs[static_cast<size_t>(number)];
    if (name.empty()) return;
    node["name"] = name;
    node["given"] = true;  // by the graph
  }

  json written() const {
    return graph_data(*part_.body, [&](NodeId id, size_t, json& node) {
      const std::vector<Statement> statements = statements_of(id);
      for (const Statement& statement : statements) {
        node["lines"].push_back(statement.line);
        node["names"].push_back("%" + statement.name);
      }
      name_input(*part_.body, id, node);
    });
  }

  // Where the program's graph says what a node of the body stands for.
  std::vector<Statement> statements_of(NodeId id) const {
    std::vector<Statement> result;
    for (const size_t origin : part_.origins[static_cast<size_t>(id)]) {
      // A graph that was given in place of the program's has other nodes.
      if (origin >= said_.size()) return {};
      const bool is_same = (*part_.body)[id].op == said_[origin].op;
      if (!is_same && !(*part_.body)[id].is<Input>()) return {};
      const std::vector<Statement>& own = said_[origin].statements;
      result.insert(result.end(), own.begin(), own.end());
    }
    return result;
  }

  json chosen() const {
    const Graph& graph = *part_.lowered.program.graph;
    std::map<NodeId, std::vector<size_t>> calls;
    for (size_t k = 0; k < part_.lowered.nodes.size(); ++k) {
      for (const NodeId id : part_.lowered.nodes[k]) calls[id].push_back(k);
    }
    const std::vector<egraph::ClassId>& classes = part_.candidates[part_.chosen].classes;
    return graph_data(graph, [&](NodeId id, size_t, json& node) {
      if (const auto found = calls.find(id); found != calls.end()) node["calls"] = found->second;
      const auto number = static_cast<size_t>(id);
      if (number < classes.size() && classes[number] != egraph::kNone) node["class"] = classes[number];
      node["from"] = places(from_.equal[number]);
      name_input(graph, id, node);
    });
  }

  // Of nodes of the body in its order, which is theirs on the page.
  std::vector<size_t> places(std::span<const NodeId> nodes) const {
    std::vector<size_t> result;
    for (const NodeId id : nodes) result.push_back(places_[static_cast<size_t>(id)]);
    return result;
  }

  json from() const {
    json result = json::array();
    for (const std::vector<NodeId>& nodes : from_.of_calls) result.push_back(places(nodes));
    return result;
  }

  json rules() const {
    json result = json::array();
    for (const egraph::RuleReport& rule : part_.rules.rules) {
      result.push_back({{"name", rule.name},
                        {"matches", rule.matches},
                        {"rows", rule.rows},
                        {"unions", rule.unions},
                        {"seconds", rule.search_seconds + rule.apply_seconds}});
    }
    return result;
  }

  json growth() const {
    json result = json::array();
    for (const egraph::IterationReport& each : part_.rules.growth) {
      result.push_back({{"matches", each.matches},
                        {"rows", each.rows},
                        {"classes", each.classes},
                        {"seconds", each.search_seconds + each.apply_seconds + each.rebuild_seconds}});
    }
    return result;
  }

  json saturation() const {
    return {
        {"rows", part_.rules.rows},       {"classes", part_.rules.classes},    {"iterations", part_.rules.iterations},
        {"seconds", part_.rules.seconds}, {"facts", part_.rules.fact_seconds}, {"limit", part_.rules.limit}};
  }

  json classes() const {
    json result = json::array();
    for (const ClassRecord& each : part_.classes.classes) {
      json terms = json::array();
      for (const TermRecord& term : each.terms) {
        terms.push_back({{"op", term.op},
                         {"fields", term.fields},
                         {"in", term.operands},
                         {"cost", term.cost},
                         {"avoided", term.avoided},
                         {"total", std::isfinite(term.total) ? json(term.total) : json(nullptr)}});
      }
      result.push_back({{"id", each.id}, {"type", each.type}, {"terms", terms}, {"omitted", each.omitted}});
    }
    return result;
  }

  json candidates() const {
    json result = json::array();
    for (size_t k = 0; k < part_.candidates.size(); ++k) {
      const bool timed = k < part_.candidate_seconds.size();
      result.push_back({{"estimate", part_.candidates[k].cost},
                        {"seconds", timed ? json(part_.candidate_seconds[k]) : json(nullptr)},
                        {"nodes", part_.candidates[k].graph->order().size()},
                        {"chosen", k == part_.chosen}});
    }
    return result;
  }

  // Of one call, in the run of the whole; of kernels that look the same together.
  std::optional<double> seconds_in_run(const ProgramKernel& kernel) const {
    for (const auto& [name, profile] : program_.runs) {
      for (const bench::KernelProfile& each : profile.kernels()) {
        if (each.name != kernel_title(*kernel.body) || each.schedule != kernel.schedule) continue;
        return each.seconds / static_cast<double>(each.calls);
      }
    }
    return std::nullopt;
  }

  json kernels() const {
    json result = json::array();
    const Program& program = part_.lowered.program;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
      const ProgramKernel& kernel = program.kernels[k];
      const auto calls = std::ranges::count(program.calls, k, &ProgramCall::kernel);
      const Work work = work_of(*kernel.body, part_.dims);
      const std::optional<double> run = seconds_in_run(kernel);
      // The tuner has no time of what is interpreted.
      const double seconds = kernel.schedule.empty() && run ? *run : part_.lowered.kernel_seconds[k];
      json data = {{"title", kernel_title(*kernel.body)},
                   {"schedule", kernel.schedule},
                   {"source", kernel.text.text},
                   {"seconds", seconds},
                   {"run", run ? json(*run) : json(nullptr)},
                   {"calls", calls},
                   {"bytes", work.bytes},
                   {"flops", work.flops},
                   {"schedules", schedules_data(part_.schedules[k])}};
      data.update(roof_data(work, seconds, limits_));
      result.push_back(std::move(data));
    }
    return result;
  }

  json cuts() const {
    json result = json::array();
    for (const search::TriedCut& cut : part_.lowered.cuts) {
      result.push_back({{"whole", cut.whole},
                        {"before", cut.before},
                        {"after", cut.after},
                        {"one", cut.one},
                        {"two", cut.two},
                        {"possible", cut.possible},
                        {"taken", cut.taken},
                        {"undone", cut.undone}});
    }
    return result;
  }

  const PartRecord& part_;
  const ExplainedProgram& program_;
  const Said& said_;
  const bench::Limits& limits_;
  const WrittenNodes from_;
  const std::vector<size_t> places_;  // by node of the body
};

json report_data(const CompileReport& report) {
  return {{"parts", report.parts},
          {"distinct", report.distinct},
          {"candidates", report.candidates},
          {"measured", report.measured},
          {"expected", report.expected},
          {"stages",
           {{{"name", "roll"}, {"seconds", report.rolling}},
            {{"name", "rewrite"}, {"seconds", report.rewriting}},
            {{"name", "group and tune"}, {"seconds", report.lowering}},
            {{"name", "build"}, {"seconds", report.building}},
            {{"name", "verify"}, {"seconds", report.verifying}}}}};
}

}  // namespace

json limits_data(const bench::Limits& limits) {
  json copies = json::array();
  for (const bench::CopyRate& copy : limits.copies) copies.push_back({{"bytes", copy.bytes}, {"rate", copy.rate}});
  return {{"threads", limits.threads},
          {"copies", copies},
          {"f32", limits.f32_flops},
          {"bf16", limits.bf16_flops},
          {"i8", limits.i8_flops}};
}

json program_data(const ExplainedProgram& program, const bench::Limits& limits) {
  json parts = json::array();
  const Said said = said_of(program);
  for (const PartRecord& part : program.parts) parts.push_back(PartData(part, program, said, limits).run());
  json runs = json::array();
  for (const auto& [name, profile] : program.runs) {
    json run = json::parse(bench::profile_json(profile, limits));
    run["name"] = name;
    runs.push_back(std::move(run));
  }
  return {{"name", program.name},
          {"nodes", program.graph->order().size()},
          {"report", report_data(program.report)},
          {"runs", std::move(runs)},
          {"parts", std::move(parts)}};
}

}  // namespace lumen::tools
