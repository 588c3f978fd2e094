#include "lumen/debug/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "lumen/base/nearest.h"
#include "lumen/egraph/report/why_not.h"
#include "lumen/kernel/contract.h"

namespace lumen::debug {

using egraph::Atom;
using egraph::EGraph;
using egraph::kNone;
using egraph::RuleId;
using egraph::TableId;
using egraph::Value;
using egraph::WhyNot;

namespace {

constexpr size_t kMostSteps = 400;

bool is_fact(Inspection& inspection, TableId table) {
  const egraph::TableDecl& decl = inspection.egraph().table(table);
  return !decl.constructor && !decl.params.empty() && decl.params[0] == inspection.tensor_sort();
}

Expected<TableId> find_fact(Inspection& inspection, std::string_view name) {
  if (name == "dtype" || name == "shape") name = "type_of";
  std::vector<std::string_view> known;
  for (TableId table = 0; table < inspection.egraph().table_count(); ++table) {
    if (!is_fact(inspection, table)) continue;
    known.push_back(inspection.egraph().table(table).name);
    if (known.back() == name) return table;
  }
  return error(fmt::format("no fact is called {}; there are {}", name, fmt::join(known, ", ")));
}

// What a table states of a class, each without the class.
std::vector<std::string> stated(Inspection& inspection, TableId table, Value tensor) {
  const egraph::TableDecl& decl = inspection.egraph().table(table);
  std::vector<std::string> values;
  inspection.egraph().for_each_row(table, [&](std::span<const Value> row, bool) {
    if (row[0] != tensor) return;
    std::string text;
    for (size_t k = 1; k < row.size() - (decl.relation ? 1 : 0); ++k) {
      text += (text.empty() ? "" : " ") + inspection.value_text(decl.column_sort(k), row[k]);
    }
    values.push_back(std::move(text));
  });
  return values;
}

class Tracer {
 public:
  explicit Tracer(Inspection& inspection) : inspection_(inspection), egraph_(inspection.egraph()) {}

  Expected<void> trace(TableId table, Value tensor, int depth) {
    if (!seen_.insert({table, tensor}).second || steps.size() >= kMostSteps) return {};
    const std::optional<NodeId> node = inspection_.node_of(tensor);
    const size_t at = steps.size();
    steps.push_back({depth,
                     egraph_.table(table).name,
                     inspection_.value_text(inspection_.tensor_sort(), tensor),
                     node ? inspection_.node_text(*node) : "",
                     stated(inspection_, table, tensor),
                     {},
                     {}});
    const bool found = !steps[at].values.empty();
    std::vector<Try> tries = LUMEN_TRY(tries_of(table, tensor));
    // Of a fact that is there, a rule that fires; of one that is not, the rule of the graph's own op comes first.
    const auto good = std::ranges::find_if(
        tries, [&](const Try& each) { return !found || (each.why.matches && !inspection_.is_off(each.rule)); });
    if (good == tries.end()) {
      steps[at].cause = found ? "" : no_rule(table, node);
      return {};
    }
    steps[at].rule = egraph_.rule(good->rule).name;
    const std::vector<std::pair<TableId, Value>> needs = found ? used(*good) : lacking(*good);
    if (!found && needs.empty()) steps[at].cause = blame(*good);
    for (const auto& [need, of] : needs) LUMEN_TRY(trace(need, of, depth + 1));
    return {};
  }

  std::vector<FactStep> steps;

 private:
  struct Try {
    RuleId rule;
    WhyNot why;
  };

  // The rules that state the fact of terms such as this class has, the one for the graph's own term first.
  Expected<std::vector<Try>> tries_of(TableId table, Value tensor) {
    const std::optional<NodeId> node = inspection_.node_of(tensor);
    std::vector<Try> own, others;
    for (RuleId rule = 0; rule < egraph_.rule_count(); ++rule) {
      if (!writes_table(egraph_, rule, table)) continue;
      const uint32_t root = outermost_atom(egraph_, rule, inspection_.tensor_sort());
      if (root == kNone) continue;
      const egraph::ValueText text = [&](auto sort, auto value) { return inspection_.value_text(sort, value); };
      WhyNot why = LUMEN_TRY(why_not(egraph_, rule, inspection_.tensor_sort(), tensor, text));
      if (!why.matches && why.held.empty()) continue;
      const TableId op = egraph_.rule(rule).query.atoms[root].table;
      const bool is_own = node && egraph_.table(op).name.starts_with(inspection_.graph()[*node].op->name);
      (is_own ? own : others).push_back({rule, std::move(why)});
    }
    std::ranges::move(others, std::back_inserter(own));
    return own;
  }

  // The fact that an atom asks for, when it does and its class is bound.
  std::optional<std::pair<TableId, Value>> fact_of(const Atom& atom, const std::vector<Value>& values) {
    if (!is_fact(inspection_, atom.table)) return std::nullopt;
    const egraph::Slot& slot = atom.slots[0];
    const Value tensor = slot.is_variable() ? values[slot.index] : kNone;
    if (tensor == kNone) return std::nullopt;
    return std::pair{atom.table, tensor};
  }

  std::vector<std::pair<TableId, Value>> used(const Try& fired) {
    std::vector<std::pair<TableId, Value>> facts;
    for (const Atom& atom : egraph_.rule(fired.rule).query.atoms) {
      if (const auto fact = fact_of(atom, fired.why.values)) facts.push_back(*fact);
    }
    return facts;
  }

  std::vector<std::pair<TableId, Value>> lacking(const Try& tried) {
    std::vector<std::pair<TableId, Value>> facts;
    const std::vector<Atom>& atoms = egraph_.rule(tried.rule).query.atoms;
    for (const size_t part : tried.why.failed_parts) {
      if (part >= atoms.size()) continue;
      if (const auto fact = fact_of(atoms[part], tried.why.values)) facts.push_back(*fact);
    }
    return facts;
  }

  std::string blame(const Try& tried) {
    const std::string& name = egraph_.rule(tried.rule).name;
    if (!tried.why.matches) return fmt::format("{} fails", fmt::join(tried.why.failed, ", "));
    if (inspection_.is_off(tried.rule)) return fmt::format("the rule \"{}\" fires here, but is switched off", name);
    return fmt::format("the rule \"{}\" fires here, but a limit stopped it: {}", name,
                       inspection_.saturated().report().limit);
  }

  std::string no_rule(TableId table, std::optional<NodeId> node) {
    return fmt::format("no rule states {} of {}", egraph_.table(table).name,
                       node ? std::string(inspection_.graph()[*node].op->name) : "such terms");
  }

  Inspection& inspection_;
  EGraph& egraph_;
  std::set<std::pair<TableId, Value>> seen_;
};

}  // namespace

std::string FactTrace::cause() const {
  for (const FactStep& step : steps) {
    if (!step.cause.empty()) return fmt::format("{} of {} is not known: {}", step.fact, step.of, step.cause);
  }
  return "";
}

std::string FactTrace::text() const {
  std::string text;
  for (const FactStep& step : steps) {
    const std::string value = step.values.empty() ? "is missing" : fmt::format("= {}", fmt::join(step.values, " | "));
    text += fmt::format(
        "{:{}}{} of {}{} {}{}\n", "", 2 * step.depth, step.fact, step.of, step.op.empty() ? "" : " (" + step.op + ")",
        value, step.rule.empty() ? "" : fmt::format(", {} \"{}\"", step.values.empty() ? "for" : "by", step.rule));
    if (!step.cause.empty()) text += fmt::format("{:{}}cause: {}\n", "", 2 * step.depth + 2, step.cause);
  }
  return text;
}

Expected<FactTrace> trace_fact(Inspection& inspection, std::string_view fact, NodeId var) {
  const TableId table = LUMEN_TRY(find_fact(inspection, fact));
  Tracer tracer(inspection);
  LUMEN_TRY(tracer.trace(table, inspection.class_of(var), 0));
  return FactTrace{!tracer.steps[0].values.empty(), std::move(tracer.steps)};
}

Expected<std::optional<NodeId>> first_without_fact(Inspection& inspection, std::string_view fact, std::string_view op) {
  const TableId table = LUMEN_TRY(find_fact(inspection, fact));
  if (!op.empty() && llir_ops().find(op) == nullptr) return error(fmt::format("no op is called {}", op));
  for (const NodeId id : inspection.graph().order()) {
    if (!op.empty() && inspection.graph()[id].op->name != op) continue;
    if (stated(inspection, table, inspection.class_of(id)).empty()) return std::optional(id);
  }
  return std::optional<NodeId>();
}

std::vector<std::string> facts_of(Inspection& inspection, Value tensor) {
  std::vector<std::string> facts;
  for (TableId table = 0; table < inspection.egraph().table_count(); ++table) {
    if (!is_fact(inspection, table)) continue;
    for (const std::string& value : stated(inspection, table, tensor)) {
      facts.push_back(inspection.egraph().table(table).name + " " + value);
    }
  }
  return facts;
}

}  // namespace lumen::debug
