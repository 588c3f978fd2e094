// `lumen debug`: why a graph is lowered as it is.
#include <fmt/format.h>

#include "lumen/debug/cases.h"
#include "lumen/debug/report.h"
#include "lumen/egraph/report/html.h"
#include "lumen/egraph/report/json.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace lumen::tools {

namespace {

int list_cases() {
  for (const debug::DebugCase& each : debug::debug_cases()) fmt::print("{:12} {}\n", each.name, each.doc);
  return 0;
}

Expected<std::vector<std::pair<std::string, std::shared_ptr<Graph>>>> chosen_graphs(const DebugArguments& arguments) {
  std::vector<std::pair<std::string, std::shared_ptr<Graph>>> graphs;
  const int given = (arguments.all ? 1 : 0) + (arguments.name.empty() ? 0 : 1) + (arguments.file.empty() ? 0 : 1);
  if (given != 1) return error("debug needs one of --case NAME, --file FILE and --all (--list shows the cases)");
  if (!arguments.file.empty()) graphs.emplace_back(arguments.file, LUMEN_TRY(read_any_graph(arguments.file)));
  for (const debug::DebugCase& each : debug::debug_cases()) {
    if (arguments.all) graphs.emplace_back(each.name, LUMEN_TRY(debug::make_case(each.name, arguments.size)));
  }
  if (!arguments.name.empty()) {
    graphs.emplace_back(arguments.name, LUMEN_TRY(debug::make_case(arguments.name, arguments.size)));
  }
  return graphs;
}

// The older tool has other names for two of the checks.
std::string check_name(const std::string& name) {
  if (name == "missing-backend") return "missing-kernel";
  return name == "fn" ? "facts" : name;
}

debug::Questions questions_of(const DebugArguments& arguments) {
  const auto pair = [](const std::vector<std::string>& words) {
    return words.empty() ? std::nullopt : std::optional(std::pair(words[0], words[1]));
  };
  debug::Questions questions;
  questions.analyze = arguments.analyze;
  questions.inspect_op = arguments.inspect_op;
  questions.inspect_var = arguments.inspect_var;
  questions.trace_fact = pair(arguments.trace_fact);
  questions.first_missing_fact = arguments.trace_missing_dtype ? "type_of" : arguments.first_missing_fact;
  questions.within_op = arguments.within_op;
  questions.check = check_name(arguments.check);
  questions.why = pair(arguments.why);
  questions.why_not = pair(arguments.why_not);
  questions.print_egraph = arguments.print_egraph;
  return questions;
}

bool is_page(const std::string& file) { return file.ends_with(".html"); }

Expected<void> check_arguments(const DebugArguments& arguments) {
  if (!arguments.within_op.empty() && arguments.first_missing_fact.empty() && !arguments.trace_missing_dtype) {
    return error("--within-op is for --trace-first-missing-fact");
  }
  const std::string& dump = arguments.dump_egraph;
  if (!dump.empty() && dump != "-" && !is_page(dump) && !dump.ends_with(".json")) {
    return error(fmt::format("--dump-egraph {}: the name ends in .html for a page, in .json for JSON", dump));
  }
  if (arguments.all && !dump.empty()) return error("--dump-egraph is for one graph at a time");
  LUMEN_TRY(check_writable(arguments.json));
  return check_writable(dump);
}

Expected<void> dump_egraph(debug::Inspection& inspection, const std::string& title, const std::string& file) {
  egraph::PageOptions page;
  page.title = title;
  page.facts = false;  // --trace-fact follows them; here they would hide the terms
  for (const egraph::Value root : inspection.saturated().roots()) {
    page.view.roots.push_back({inspection.tensor_sort(), root});
  }
  for (const NodeId id : inspection.graph().order()) {
    page.view.names.emplace_back(inspection.var(id),
                                 egraph::TypedValue{inspection.tensor_sort(), inspection.class_of(id)});
  }
  if (is_page(file)) return write_text(file, html_page(inspection.egraph(), page));
  return write_text(file, graph_json(inspection.egraph(), page.view) + "\n");
}

}  // namespace

Expected<int> debug_graph(const DebugArguments& arguments) {
  if (arguments.list) return list_cases();
  LUMEN_TRY(check_arguments(arguments));
  const auto graphs = LUMEN_TRY(chosen_graphs(arguments));
  debug::InspectionOptions options;
  options.saturate.without = arguments.without_rules;
  options.saturate.without_facts = arguments.without_facts;
  options.without_kernels = arguments.without_kernels;
  size_t findings = 0;
  std::string json;
  for (const auto& [title, graph] : graphs) {
    const std::unique_ptr<debug::Inspection> inspection = LUMEN_TRY(debug::Inspection::make(graph, options));
    const debug::Answers answers = LUMEN_TRY(answer(*inspection, questions_of(arguments), title));
    fmt::print("{}", answers.text);
    findings += answers.findings;
    json += (json.empty() ? "" : ",\n") + answers.json;
    if (!arguments.dump_egraph.empty()) LUMEN_TRY(dump_egraph(*inspection, title, arguments.dump_egraph));
  }
  if (!arguments.json.empty()) LUMEN_TRY(write_text(arguments.json, graphs.size() > 1 ? "[" + json + "]\n" : json));
  return findings == 0 ? 0 : 1;
}

}  // namespace lumen::tools
