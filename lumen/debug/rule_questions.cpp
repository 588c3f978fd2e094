#include "lumen/debug/rule_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/report/explain.h"
#include "lumen/egraph/report/why_not.h"

namespace lumen::debug {

using egraph::kNone;
using egraph::Reason;
using egraph::RuleId;
using egraph::Trace;
using egraph::Value;

namespace {

constexpr size_t kMostRuleSteps = 12;

// Merges that a rule asked for, as the ids on their sides.
std::vector<std::pair<Value, Value>> merges_by(Inspection& inspection, RuleId rule) {
  std::vector<std::pair<Value, Value>> merges;
  const std::vector<Trace::Edge>& edges = inspection.egraph().state().trace->sorts[inspection.tensor_sort()].edges;
  for (Value id = 0; id < edges.size(); ++id) {
    const Trace::Edge& edge = edges[id];
    if (edge.to == kNone || edge.reason.kind != Reason::Kind::rule || edge.reason.rule != rule) continue;
    merges.emplace_back(edge.reversed ? edge.to : id, edge.reversed ? id : edge.to);
  }
  return merges;
}

// The id of the graph's own term.
Value own_id(Inspection& inspection, NodeId var) {
  const Node& node = inspection.graph()[var];
  for (const TermOp& op : inspection.saturated().encoding().ops()) {
    if (op.op != node.op || op.operands != node.operands.size()) continue;
    Value found = kNone;
    inspection.egraph().for_each_row(op.table, [&](std::span<const Value> row, bool) {
      if (found == kNone && row.back() == inspection.class_of(var)) {
        found = traced_id(inspection.egraph(), op.table, row.first(row.size() - 1));
      }
    });
    return found;
  }
  return kNone;
}

Expected<egraph::WhyNot> probe(Inspection& inspection, RuleId rule, NodeId var) {
  const egraph::ValueText text = [&](auto sort, auto value) { return inspection.value_text(sort, value); };
  return egraph::why_not(inspection.egraph(), rule, inspection.tensor_sort(), inspection.class_of(var), text);
}

// A rule's name as the shell takes it.
std::string as_argument(std::string_view rule) {
  return rule.find(' ') == std::string_view::npos ? std::string(rule) : fmt::format("'{}'", rule);
}

bool finds_equals(const egraph::Rule& rule) {
  return std::ranges::any_of(rule.actions,
                             [](const egraph::Action& action) { return action.kind == egraph::Action::Kind::unite; });
}

std::string not_merged(Inspection& inspection, const WhyRule& found, RuleId rule, const std::string& var) {
  const egraph::Rule& asked = inspection.egraph().rule(rule);
  const std::string& name = asked.name;
  if (!found.fires) {
    return fmt::format("{} does not fire at {}; --why-not {} {} tells why\n", name, var, as_argument(name), var);
  }
  if (inspection.is_off(rule)) return fmt::format("{} matches at {}, but is switched off\n", name, var);
  if (finds_equals(asked)) return fmt::format("{} fires at {}, and what it says was known already\n", name, var);
  return fmt::format("{} fires at {} and states a fact; --inspect-var {} shows all facts\n", name, var, var);
}

}  // namespace

Expected<WhyRule> why(Inspection& inspection, std::string_view name, NodeId var) {
  const RuleId rule = LUMEN_TRY(inspection.find_rule(name));
  WhyRule found;
  found.matches = inspection.egraph().report(rule).matches;
  found.fires = LUMEN_TRY(probe(inspection, rule, var)).matches;
  const Value tensor = inspection.class_of(var);
  Value last = kNone;
  for (const auto& [before, after] : merges_by(inspection, rule)) {
    if (inspection.egraph().find(inspection.tensor_sort(), before) != tensor) continue;
    last = after;
    WhyRule::Step step{inspection.made_text(before), inspection.made_text(after)};
    const auto same = [&](const WhyRule::Step& each) { return each.before == step.before && each.after == step.after; };
    if (std::ranges::none_of(found.steps, same)) found.steps.push_back(std::move(step));
  }
  const std::string where = inspection.var(var);
  if (found.steps.empty()) {
    found.text = not_merged(inspection, found, rule, where);
    return found;
  }
  found.text = fmt::format("{} matched {} times in the graph; at {} ({}) it says\n", name, found.matches, where,
                           inspection.node_text(var));
  for (size_t k = 0; k < std::min(found.steps.size(), kMostRuleSteps); ++k) {
    found.text += fmt::format("  {}\n    = {}\n", found.steps[k].before, found.steps[k].after);
  }
  if (found.steps.size() > kMostRuleSteps)
    found.text += fmt::format("  and {} more\n", found.steps.size() - kMostRuleSteps);
  const Value own = own_id(inspection, var);
  if (own == kNone) return found;
  const Expected<egraph::Explanation> proof = explain(inspection.egraph(), inspection.tensor_sort(), own, last);
  if (!proof.ok()) return found;
  found.proof = proof->text();
  found.text += fmt::format("{} comes to the last of these by", where);
  for (const egraph::ExplainStep& step : proof->steps) {
    found.text += fmt::format(" {}{}{}", step.rule, step.backwards ? " backwards" : "",
                              &step == &proof->steps.back() ? "\n" : ",");
  }
  return found;
}

Expected<WhyNotRule> why_not(Inspection& inspection, std::string_view name, NodeId var) {
  const RuleId rule = LUMEN_TRY(inspection.find_rule(name));
  const egraph::WhyNot why = LUMEN_TRY(probe(inspection, rule, var));
  WhyNotRule found{why.matches, inspection.is_off(rule), why.failed, {}};
  const std::string where = fmt::format("{} ({})", inspection.var(var), inspection.node_text(var));
  if (found.fires && found.is_off) {
    found.text = fmt::format("{} matches at {}, but is switched off\n", name, where);
  } else if (found.fires) {
    found.text = fmt::format("{} fires at {}; --why {} {} shows what it says\n", name, where, as_argument(name),
                             inspection.var(var));
  } else {
    found.text = fmt::format("{} does not fire at {}{}\n{}", name, where, found.is_off ? " (and is switched off)" : "",
                             why.text());
  }
  return found;
}

Expected<std::vector<AbsentRule>> absent_rules(Inspection& inspection) {
  std::set<std::string> run;
  for (const egraph::RuleReport& rule : inspection.saturated().report().rules) run.insert(rule.name);
  InspectionOptions all = inspection.options();
  all.saturate.without.clear();
  all.saturate.without_facts.clear();
  all.saturate.rules = built_in_rules();
  const std::unique_ptr<Inspection> full = LUMEN_TRY(Inspection::make(inspection.shared_graph(), all));
  std::vector<AbsentRule> absent;
  for (const egraph::RuleReport& report : full->saturated().report().rules) {
    if (run.contains(report.name) || report.matches == 0) continue;
    AbsentRule rule{report.name, report.matches, {}};
    for (const auto& [before, after] : merges_by(*full, LUMEN_TRY(full->find_rule(report.name)))) {
      const std::optional<NodeId> node = full->node_of(before);
      if (node && std::ranges::find(rule.vars, *node) == rule.vars.end()) rule.vars.push_back(*node);
    }
    std::ranges::sort(rule.vars);
    absent.push_back(std::move(rule));
  }
  return absent;
}

}  // namespace lumen::debug
