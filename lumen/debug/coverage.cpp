#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lumen/base/nearest.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/debug/lowering.h"
#include "lumen/egraph/report/why_not.h"
#include "lumen/kernel/contract.h"

namespace lumen::debug {

using egraph::RuleId;
using egraph::TableId;

namespace {

struct Mapping {
  std::string op;    // empty: any
  std::string kind;  // empty: any
};

Expected<Mapping> parse_mapping(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return error(fmt::format("{} is no OP:KERNEL, such as SumReduce:contract", text));
  }
  Mapping mapping{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
  if (mapping.op == "*") mapping.op.clear();
  if (mapping.kind == "*") mapping.kind.clear();
  std::vector<std::string_view> ops;
  for (const OpDef* op : llir_ops().ops()) ops.push_back(op->name);
  if (!mapping.op.empty() && std::ranges::find(ops, mapping.op) == ops.end()) {
    const auto guess = nearest(mapping.op, ops);
    return error(fmt::format("no op is called {}{}", mapping.op, guess ? "; did you mean " + *guess + "?" : ""));
  }
  const auto kinds = kernel_kinds();
  const bool known = std::ranges::find(kinds, mapping.kind) != kinds.end() || mapping.kind == kInterpreted;
  if (!mapping.kind.empty() && !known) {
    return error(fmt::format("no kind of kernel is called {}; there are {}, and {}", mapping.kind,
                             fmt::join(kinds, ", "), kInterpreted));
  }
  return mapping;
}

bool makes_contractions(std::string_view kind) { return kind == "contract" || kind == "attention"; }

// Rules that begin at this op and make what the kind of kernel is made of, with what keeps each from firing here.
Expected<std::vector<std::string>> hints(Inspection& inspection, NodeId node, std::string_view kind) {
  std::vector<std::string> hints;
  const auto contract = inspection.saturated().program().find_table("Contract");
  if (!makes_contractions(kind) || !contract) return hints;
  egraph::EGraph& egraph = inspection.egraph();
  const egraph::SortId sort = inspection.tensor_sort();
  for (RuleId rule = 0; rule < egraph.rule_count(); ++rule) {
    if (!writes_table(egraph, rule, *contract)) continue;
    const uint32_t root = outermost_atom(egraph, rule, sort);
    if (root == egraph::kNone) continue;
    const std::string& op = egraph.table(egraph.rule(rule).query.atoms[root].table).name;
    if (op != inspection.graph()[node].op->name) continue;
    const egraph::ValueText text = [&](auto s, auto v) { return inspection.value_text(s, v); };
    const egraph::WhyNot why = LUMEN_TRY(why_not(egraph, rule, sort, inspection.class_of(node), text));
    const std::string& name = egraph.rule(rule).name;
    if (why.matches && inspection.is_off(rule)) {
      hints.push_back(fmt::format("rule {} would fire here, but is switched off", name));
    } else if (!why.matches) {
      hints.push_back(fmt::format("rule {} does not fire: {} fails", name, fmt::join(why.failed, ", ")));
    }
  }
  return hints;
}

}  // namespace

size_t Coverage::covered() const {
  return static_cast<size_t>(std::ranges::count_if(uses, [](const OpUse& use) { return use.covered; }));
}

Expected<Coverage> inspect_op(Inspection& inspection, const Lowering& lowering, std::string_view text) {
  const Mapping mapping = LUMEN_TRY(parse_mapping(text));
  Coverage coverage;
  for (const NodeId id : inspection.graph().order()) {
    if (inspection.graph()[id].is<Input>()) continue;
    if (!mapping.op.empty() && inspection.graph()[id].op->name != mapping.op) continue;
    OpUse use{id, false, lowering.kernels_of.at(id), {}};
    use.covered = !use.kernels.empty() && std::ranges::all_of(use.kernels, [&](size_t k) {
      return mapping.kind.empty() ? lowering.kernels[k].problem.empty() : lowering.kernels[k].kind == mapping.kind;
    });
    if (!use.covered) use.hints = LUMEN_TRY(hints(inspection, id, mapping.kind));
    coverage.uses.push_back(std::move(use));
  }
  return coverage;
}

}  // namespace lumen::debug
