#include "lumen/debug/class_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "lumen/debug/facts.h"
#include "lumen/search/check_terms.h"

namespace lumen::debug {

using egraph::Value;

namespace {

constexpr size_t kMostUsers = 20;

std::string with_type(Inspection& inspection, Value tensor) {
  const std::optional<TensorType> type = inspection.saturated().encoding().type_of(tensor);
  return fmt::format("{} {}", inspection.value_text(inspection.tensor_sort(), tensor),
                     type ? type->str() : "of no type");
}

std::vector<std::string> vars_of(Inspection& inspection, Value tensor) {
  std::vector<std::string> vars;
  for (const NodeId id : inspection.graph().order()) {
    if (inspection.class_of(id) == tensor) vars.push_back(inspection.var(id));
  }
  return vars;
}

}  // namespace

ClassView view_class(Inspection& inspection, Value tensor) {
  ClassView view;
  view.name = inspection.value_text(inspection.tensor_sort(), tensor);
  view.vars = vars_of(inspection, tensor);
  view.facts = facts_of(inspection, tensor);
  const Encoding& encoding = inspection.saturated().encoding();
  std::set<Value> children;
  for (const TermOp& op : encoding.ops()) {
    inspection.egraph().for_each_row(op.table, [&](std::span<const Value> row, bool) {
      const std::span<const Value> operands = row.first(op.operands);
      if (row.back() == tensor) {
        view.members.push_back({inspection.term_text(op.table, row), maker_of(inspection.egraph(), encoding, op, row)});
        children.insert(operands.begin(), operands.end());
      } else if (std::ranges::find(operands, tensor) != operands.end()) {
        view.users.push_back(fmt::format("{} = {}", inspection.value_text(inspection.tensor_sort(), row.back()),
                                         inspection.term_text(op.table, row)));
      }
    });
  }
  std::ranges::stable_sort(view.members, {}, [](const Member& each) { return !each.rule.empty(); });
  for (const Value child : children) view.children.push_back(with_type(inspection, child));
  return view;
}

std::string ClassView::text() const {
  std::string text = fmt::format("{}{}: {} terms are equal\n", name,
                                 vars.size() > 1 ? fmt::format(" ({})", fmt::join(vars, " = ")) : "", members.size());
  for (const Member& each : members) {
    text += fmt::format("  {}{}\n", each.term, each.rule.empty() ? "" : "   by " + each.rule);
  }
  const auto list = [&](std::string_view title, const std::vector<std::string>& lines, size_t most) {
    if (lines.empty()) return;
    text += fmt::format("{}\n", title);
    for (size_t k = 0; k < std::min(lines.size(), most); ++k) text += fmt::format("  {}\n", lines[k]);
    if (lines.size() > most) text += fmt::format("  and {} more\n", lines.size() - most);
  };
  list("facts", facts, facts.size());
  list("reads", children, children.size());
  list("read by", users, kMostUsers);
  return text;
}

std::string print_egraph(Inspection& inspection) {
  std::map<Value, std::vector<std::string>> members;
  for (const TermOp& op : inspection.saturated().encoding().ops()) {
    inspection.egraph().for_each_row(op.table, [&](std::span<const Value> row, bool) {
      members[row.back()].push_back(inspection.term_text(op.table, row));
    });
  }
  std::string text;
  const auto print = [&](Value tensor, const std::vector<std::string>& terms) {
    text += fmt::format("{}\n", with_type(inspection, tensor));
    for (const std::string& term : terms) text += fmt::format("  {}\n", term);
  };
  for (const NodeId id : inspection.graph().order()) {
    const auto found = members.find(inspection.class_of(id));
    if (found == members.end()) continue;  // printed with another value of the class
    print(found->first, found->second);
    members.erase(found);
  }
  for (const auto& [tensor, terms] : members) print(tensor, terms);
  return text;
}

}  // namespace lumen::debug
