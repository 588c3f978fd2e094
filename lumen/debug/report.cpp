#include "lumen/debug/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "lumen/debug/checks.h"
#include "lumen/debug/class_view.h"
#include "lumen/debug/facts.h"
#include "lumen/debug/rule_questions.h"
#include "lumen/search/roll.h"

namespace lumen::debug {

namespace {

using Json = nlohmann::ordered_json;

// In the summary.
constexpr size_t kMostRules = 12;
constexpr size_t kMostRoots = 6;

std::map<std::string, size_t> count_ops(const Graph& graph) {
  std::map<std::string, size_t> counts;
  for (const NodeId id : graph.order()) {
    if (!graph[id].is<Input>()) ++counts[std::string(graph[id].op->name)];
  }
  return counts;
}

std::string counts_text(const std::map<std::string, size_t>& counts) {
  size_t total = 0;
  std::string text;
  for (const auto& [name, count] : counts) {
    total += count;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return fmt::format("{} ops{}{}", total, text.empty() ? "" : ": ", text);
}

class Report {
 public:
  Report(Inspection& inspection, const Questions& questions)
      : inspection_(inspection), questions_(questions), lowering_(lower(inspection)) {}

  Expected<Answers> run(const std::string& title) {
    parts_ = std::max<size_t>(1, LUMEN_TRY(search::roll(inspection_.graph())).size());
    answers_.text = title + "\n";
    json_["graph"] = title;
    summarize(questions_.none() || questions_.analyze);
    if (questions_.analyze) LUMEN_TRY(analyze());
    if (!questions_.inspect_op.empty()) LUMEN_TRY(inspect_op());
    if (!questions_.inspect_var.empty()) LUMEN_TRY(inspect_var());
    if (questions_.trace_fact) LUMEN_TRY(trace(questions_.trace_fact->first, questions_.trace_fact->second));
    if (!questions_.first_missing_fact.empty()) LUMEN_TRY(trace_first_missing());
    if (questions_.why) LUMEN_TRY(ask_why());
    if (questions_.why_not) LUMEN_TRY(ask_why_not());
    if (!questions_.check.empty()) LUMEN_TRY(run_check());
    if (questions_.print_egraph) answers_.text += print_egraph(inspection_);
    answers_.json = json_.dump(1) + "\n";
    return std::move(answers_);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    answers_.text += fmt::format(format, std::forward<Args>(args)...);
  }

  void summarize(bool shown) {
    const Graph& graph = inspection_.graph();
    const SaturateReport& rules = inspection_.saturated().report();
    std::map<std::string, size_t> kinds;
    if (lowering_.ok()) {
      for (const KernelView& kernel : lowering_->kernels) ++kinds[kernel.kind];
    }
    Json& summary = json_["summary"];
    summary["before"] = count_ops(graph);
    summary["after"] = lowering_.ok() ? Json(count_ops(*lowering_->program)) : Json();
    summary["kernels"] = kinds;
    summary["parts"] = parts_;
    summary["limit"] = rules.limit;
    Json& matches = summary["rules"] = Json::object();
    for (const egraph::RuleReport& rule : rules.rules) {
      if (rule.matches > 0) matches[rule.name] = rule.matches;
    }
    for (const Output& output : graph.outputs()) {
      summary["roots"].push_back({{"output", output.name.str()},
                                  {"var", inspection_.var(output.value)},
                                  {"op", inspection_.node_text(output.value)}});
    }
    if (!lowering_.ok()) summary["problem"] = lowering_.diag().message;
    if (shown) say_summary(kinds, rules);
  }

  void say_summary(const std::map<std::string, size_t>& kinds, const SaturateReport& rules) {
    say("before   {}\n", counts_text(count_ops(inspection_.graph())));
    if (lowering_.ok()) {
      say("after    {}\n", counts_text(count_ops(*lowering_->program)));
      std::vector<std::string> texts;
      for (const auto& [kind, count] : kinds) texts.push_back(fmt::format("{} {}", count, kind));
      say("kernels  {}\n", fmt::join(texts, ", "));
    } else {
      say("after    no program: {}\n", lowering_.diag().message);
    }
    if (parts_ > 1) {
      say("parts    {}: compiled apart, while this is about the whole; LUMEN_DUMP writes each\n", parts_);
    }
    const std::span<const Output> outputs = inspection_.graph().outputs();
    for (const Output& output : outputs.first(std::min(outputs.size(), kMostRoots))) {
      say("root     \"{}\" = {} {}\n", output.name.str(), inspection_.var(output.value),
          inspection_.node_text(output.value));
    }
    if (outputs.size() > kMostRoots) say("  and {} more\n", outputs.size() - kMostRoots);
    std::vector<egraph::RuleReport> fired = rules.rules;
    std::erase_if(fired, [](const auto& rule) { return rule.matches == 0; });
    std::ranges::stable_sort(fired, std::greater{}, &egraph::RuleReport::matches);
    say("rules    {} of {} fired; {} rows in {} classes after {} iterations{}\n", fired.size(), rules.rules.size(),
        rules.rows, rules.classes, rules.iterations, rules.limit.empty() ? "" : "; stopped: " + rules.limit);
    for (size_t k = 0; k < std::min(fired.size(), kMostRules); ++k) {
      say("  {:6} matches {:5} merged  {}\n", fired[k].matches, fired[k].unions, fired[k].name);
    }
    if (fired.size() > kMostRules) say("  and {} more\n", fired.size() - kMostRules);
  }

  bool has_op(std::string_view name) const {
    return std::ranges::any_of(inspection_.graph().order(),
                               [&](NodeId id) { return inspection_.graph()[id].op->name == name; });
  }

  std::string kernel_names(const std::vector<size_t>& kernels) const {
    std::string text;
    for (const size_t k : kernels) {
      text += fmt::format("{}k{} ({})", text.empty() ? "" : ", ", k, lowering_->kernels[k].kind);
    }
    return text;
  }

  // Where a value of the graph ends up.
  std::string place_of(NodeId id) const {
    if (!lowering_.ok()) return "";
    const auto found = lowering_->kernels_of.find(id);
    if (inspection_.graph()[id].is<Input>()) return "given";
    if (found == lowering_->kernels_of.end() || found->second.empty()) return "not needed";
    return fmt::format("{} {}", lowering_->is_computed.at(id) ? "in" : "inside", kernel_names(found->second));
  }

  Expected<void> analyze() {
    say("values\n");
    for (const NodeId id : inspection_.graph().order()) {
      const size_t terms = view_class(inspection_, inspection_.class_of(id)).members.size();
      say("  {:5} {:34} {} terms, {}\n", inspection_.var(id), inspection_.node_text(id), terms, place_of(id));
      json_["values"].push_back({{"var", inspection_.var(id)},
                                 {"op", inspection_.graph()[id].op->name},
                                 {"type", inspection_.graph()[id].type.str()},
                                 {"terms", terms},
                                 {"place", place_of(id)}});
    }
    if (lowering_.ok()) {
      say("kernels\n");
      for (size_t k = 0; k < lowering_->kernels.size(); ++k) {
        const KernelView& kernel = lowering_->kernels[k];
        say("  k{} {}: {}{}\n", k, kernel.kind, kernel.title, kernel.problem.empty() ? "" : "; " + kernel.problem);
        json_["kernels"].push_back({{"kind", kernel.kind}, {"title", kernel.title}, {"problem", kernel.problem}});
      }
    }
    return say_absent_rules();
  }

  Expected<void> say_absent_rules() {
    json_["absent_rules"] = Json::array();
    for (const AbsentRule& rule : LUMEN_TRY(absent_rules(inspection_))) {
      std::vector<std::string> vars;
      for (const NodeId id : rule.vars) vars.push_back(inspection_.var(id));
      say("absent   rule {} is not run; it would fire {} times{}\n", rule.name, rule.matches,
          vars.empty() ? "" : fmt::format(", at {}", fmt::join(vars, " ")));
      json_["absent_rules"].push_back({{"rule", rule.name}, {"matches", rule.matches}, {"vars", vars}});
    }
    return {};
  }

  Expected<void> inspect_op() {
    if (!lowering_.ok()) return lowering_.diag();
    const Coverage coverage = LUMEN_TRY(debug::inspect_op(inspection_, *lowering_, questions_.inspect_op));
    if (coverage.uses.empty()) {
      const std::string op = questions_.inspect_op.substr(0, questions_.inspect_op.find(':'));
      say("{}: {}\n", questions_.inspect_op,
          has_op(op) ? "inputs are given, not computed" : "there is none in the graph");
    } else {
      say("{}: {} of {} covered\n", questions_.inspect_op, coverage.covered(), coverage.uses.size());
    }
    Json& json = json_["inspect_op"] = {
        {"mapping", questions_.inspect_op}, {"covered", coverage.covered()}, {"uses", Json::array()}};
    for (const OpUse& use : coverage.uses) {
      say("  {} {:5} {:34} {}\n", use.covered ? "yes" : "no ", inspection_.var(use.node),
          inspection_.node_text(use.node), place_of(use.node));
      for (const std::string& hint : use.hints) say("        {}\n", hint);
      json["uses"].push_back({{"var", inspection_.var(use.node)},
                              {"covered", use.covered},
                              {"place", place_of(use.node)},
                              {"hints", use.hints}});
    }
    if (coverage.covered() < coverage.uses.size()) return say_absent_rules();
    return {};
  }

  Expected<void> inspect_var() {
    const egraph::Value tensor = LUMEN_TRY(inspection_.find_class(questions_.inspect_var));
    const std::optional<NodeId> node = inspection_.node_of(tensor);
    const std::string place = node ? place_of(*node) : "";
    const ClassView view = view_class(inspection_, tensor);
    answers_.text += view.text();
    if (!place.empty()) say("lowered\n  {}\n", place);
    Json& json = json_["inspect_var"] = {{"class", view.name},      {"vars", view.vars},     {"facts", view.facts},
                                         {"reads", view.children},  {"read_by", view.users}, {"place", place},
                                         {"members", Json::array()}};
    for (const Member& each : view.members) json["members"].push_back({{"term", each.term}, {"rule", each.rule}});
    return {};
  }

  Expected<void> trace(const std::string& fact, const std::string& name) {
    const FactTrace found = LUMEN_TRY(trace_fact(inspection_, fact, LUMEN_TRY(inspection_.find_var(name))));
    answers_.text += found.text();
    Json& json = json_["trace_fact"] = {{"found", found.found}, {"cause", found.cause()}, {"steps", Json::array()}};
    for (const FactStep& step : found.steps) {
      json["steps"].push_back({{"depth", step.depth},
                               {"fact", step.fact},
                               {"of", step.of},
                               {"op", step.op},
                               {"values", step.values},
                               {"rule", step.rule},
                               {"cause", step.cause}});
    }
    return {};
  }

  Expected<void> trace_first_missing() {
    const std::string& fact = questions_.first_missing_fact;
    const std::optional<NodeId> id = LUMEN_TRY(first_without_fact(inspection_, fact, questions_.within_op));
    if (id) return trace(fact, inspection_.var(*id));
    const std::string& op = questions_.within_op;
    if (!op.empty() && !has_op(op)) {
      say("there is no {} in the graph\n", op);
    } else {
      say("every {} has {}\n", op.empty() ? "value" : op, fact);
    }
    json_["trace_fact"] = {{"found", true}, {"cause", ""}, {"steps", Json::array()}};
    return {};
  }

  Expected<void> ask_why() {
    const auto& [rule, name] = *questions_.why;
    const WhyRule found = LUMEN_TRY(why(inspection_, rule, LUMEN_TRY(inspection_.find_var(name))));
    answers_.text += found.text;
    Json& json = json_["why"] = {{"rule", rule},
                                 {"fires", found.fires},
                                 {"matches", found.matches},
                                 {"proof", found.proof},
                                 {"steps", Json::array()}};
    for (const WhyRule::Step& step : found.steps) json["steps"].push_back({step.before, step.after});
    return {};
  }

  Expected<void> ask_why_not() {
    const auto& [rule, name] = *questions_.why_not;
    const WhyNotRule found = LUMEN_TRY(why_not(inspection_, rule, LUMEN_TRY(inspection_.find_var(name))));
    answers_.text += found.text;
    json_["why_not"] = {{"rule", rule}, {"fires", found.fires}, {"off", found.is_off}, {"failed", found.failed}};
    return {};
  }

  Expected<void> run_check() {
    json_["findings"] = Json::array();
    for (const Finding& each : LUMEN_TRY(check(inspection_, lowering_, questions_.check))) {
      say("{}: {}{}{}\n", each.check, each.var, each.var.empty() ? "" : ": ", each.message);
      json_["findings"].push_back({{"check", each.check}, {"var", each.var}, {"message", each.message}});
      ++answers_.findings;
    }
    if (answers_.findings == 0) say("{}: nothing found\n", questions_.check);
    return {};
  }

  Inspection& inspection_;
  const Questions& questions_;
  Expected<Lowering> lowering_;
  size_t parts_ = 1;  // that the graph would be cut into, as it repeats itself
  Answers answers_;
  Json json_;
};

}  // namespace

bool Questions::none() const {
  return !analyze && inspect_op.empty() && inspect_var.empty() && !trace_fact && first_missing_fact.empty() &&
         check.empty() && !why && !why_not && !print_egraph;
}

Expected<Answers> answer(Inspection& inspection, const Questions& questions, const std::string& title) {
  return Report(inspection, questions).run(title);
}

}  // namespace lumen::debug
