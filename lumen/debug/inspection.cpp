#include "lumen/debug/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lumen/base/nearest.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/egraph/core/state.h"
#include "lumen/egraph/report/term_text.h"

namespace lumen::debug {

using egraph::RuleId;
using egraph::SortId;
using egraph::TableId;
using egraph::Value;

namespace {

std::string unknown(std::string_view what, std::string_view name, std::span<const std::string_view> known) {
  const auto guess = nearest(name, known);
  return fmt::format("no {} is called {}{}", what, name, guess ? fmt::format("; did you mean {}?", *guess) : "");
}

}  // namespace

bool writes_table(const egraph::EGraph& graph, RuleId rule, TableId table) {
  return std::ranges::any_of(graph.rule(rule).actions, [&](const egraph::Action& action) {
    const bool writes = action.kind == egraph::Action::Kind::set || action.kind == egraph::Action::Kind::make;
    return writes && action.target == table;
  });
}

Expected<std::unique_ptr<Inspection>> Inspection::make(std::shared_ptr<const Graph> graph, InspectionOptions options) {
  options.saturate.trace = true;
  options.saturate.check = false;
  Saturated saturated = LUMEN_TRY(saturate(*graph, options.saturate));
  std::unique_ptr<Inspection> result(new Inspection(std::move(graph), std::move(options), std::move(saturated)));
  LUMEN_TRY(result->check_names());
  result->order_ = result->graph_->order();
  for (size_t k = 0; k < result->order_.size(); ++k) result->position_[result->order_[k]] = k;
  result->ids_ = LUMEN_TRY(result->saturated_.encoding().encode_nodes(*result->graph_));
  LUMEN_TRY(result->egraph().rebuild());
  for (const NodeId id : result->order_) result->nodes_of_.emplace(result->class_of(id), id);
  return result;
}

Expected<void> Inspection::check_names() {
  for (const std::string& name : options_.saturate.without) LUMEN_TRY(find_rule(name));
  std::vector<std::string_view> facts;
  for (TableId table = 0; table < egraph().table_count(); ++table) {
    if (!egraph().table(table).constructor) facts.push_back(egraph().table(table).name);
  }
  for (const std::string& name : options_.saturate.without_facts) {
    if (std::ranges::find(facts, name) == facts.end()) return error(unknown("fact", name, facts));
  }
  for (const std::string& name : options_.without_kernels) {
    if (std::ranges::find(kernel_kinds(), name) == kernel_kinds().end()) {
      return error(unknown("kind of kernel", name, kernel_kinds()));
    }
  }
  return {};
}

Expected<NodeId> Inspection::find_var(std::string_view name) const {
  if (const auto input = graph_->find_input(name)) return *input;
  if (const Output* output = graph_->find_output(name)) return output->value;
  const std::string_view digits = name.starts_with('%') ? name.substr(1) : name;
  size_t number = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status == std::errc() && end == digits.data() + digits.size() && number < order_.size()) return order_[number];
  return error(
      fmt::format("the graph has no value {}: it has %0 to %{}, as `lumen ir fmt` prints them, and its inputs "
                  "and outputs by name",
                  name, order_.size() - 1));
}

Expected<Value> Inspection::find_class(std::string_view name) {
  if (!name.starts_with('#')) return class_of(LUMEN_TRY(find_var(name)));
  Value number = 0;
  const auto [end, status] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const size_t ids = egraph().state().ids[tensor_sort()].size();
  if (status != std::errc() || end != name.data() + name.size() || number >= ids) {
    return error(fmt::format("the e-graph has no class {}", name));
  }
  return egraph().find(tensor_sort(), number);
}

std::string Inspection::var(NodeId id) const { return fmt::format("%{}", position_.at(id)); }

std::string Inspection::node_text(NodeId id) const {
  return fmt::format("{} {}", graph()[id].op->name, graph()[id].type.str());
}

Value Inspection::class_of(NodeId id) { return egraph().find(tensor_sort(), ids_.at(id)); }

std::optional<NodeId> Inspection::node_of(Value tensor) {
  const auto found = nodes_of_.find(egraph().find(tensor_sort(), tensor));
  return found == nodes_of_.end() ? std::nullopt : std::optional(found->second);
}

std::string Inspection::value_text(SortId sort, Value value) {
  if (sort != tensor_sort()) return egraph::traced_term_text(egraph(), sort, value);
  const std::optional<NodeId> node = node_of(value);
  return node ? var(*node) : fmt::format("#{}", egraph().find(sort, value));
}

std::string Inspection::term_text(TableId table, std::span<const Value> row, int depth) {
  const egraph::TableDecl& decl = egraph().table(table);
  const size_t operands = decl.params.size() - decl.field_names.size();
  std::string text = decl.name + "(";
  for (size_t k = 0; k < operands; ++k) {
    const bool write_out = depth > 0 && !node_of(row[k]);
    text += (k == 0 ? "" : ", ") + (write_out ? made_text(row[k], depth - 1) : value_text(decl.params[k], row[k]));
  }
  text += ")";
  for (size_t k = operands; k < decl.params.size(); ++k) {
    text += fmt::format(" :{} {}", decl.field_names[k - operands], value_text(decl.params[k], row[k]));
  }
  return text;
}

std::string Inspection::made_text(Value id, int depth) {
  const egraph::Trace& trace = *egraph().state().trace;
  const auto& origins = trace.sorts[tensor_sort()].origins;
  if (id >= origins.size() || origins[id].table == egraph::kNone) return value_text(tensor_sort(), id);
  const egraph::Trace::Origin& made = origins[id];
  const size_t count = egraph().table(made.table).params.size();
  return term_text(made.table, std::span(trace.origin_args).subspan(made.start, count), depth);
}

Expected<RuleId> Inspection::find_rule(std::string_view name) {
  if (const auto rule = saturated_.program().find_rule(name)) return *rule;
  std::vector<std::string_view> names;
  for (RuleId rule = 0; rule < egraph().rule_count(); ++rule) names.push_back(egraph().rule(rule).name);
  return error(unknown("rule", name, names));
}

bool Inspection::is_off(RuleId rule) {
  const SaturateOptions& options = options_.saturate;
  if (std::ranges::find(options.without, egraph().rule(rule).name) != options.without.end()) return true;
  return std::ranges::any_of(options.without_facts, [&](const std::string& fact) {
    const auto table = saturated_.program().find_table(fact);
    return table && writes_table(egraph(), rule, *table);
  });
}

}  // namespace lumen::debug
