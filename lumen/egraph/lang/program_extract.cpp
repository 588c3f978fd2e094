#include <fmt/format.h>

#include <utility>

#include "lumen/egraph/extract/dag.h"
#include "lumen/egraph/extract/extract.h"
#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {

namespace {

constexpr std::string_view kNothing =
    "nothing can be extracted: every term of it is subsumed, deleted or unextractable";

Expected<Extracted> greedy_dag_term(EGraph& graph, const FlattenOptions& options, const Span& span) {
  const Flattened flat = flatten(graph, options);
  const Selection selection = greedy_dag(flat.graph, flat.roots);
  if (selection.cost == kInfinite) return error_at(span, std::string(kNothing));
  Terms terms;
  TermBuilder builder(terms, flat.graph, selection.choice, egraph_names(graph, flat.graph));
  const TermId term = builder.of_class(flat.roots[0]);
  return Extracted{terms.text(term), selection.cost};
}

// How many terms are asked for; 0 is one term, printed on its own.
Expected<size_t> count_of(const TypedValue& count, const EGraph& graph, const Span& span) {
  const int64_t n = count.sort == kI64 ? to_i64(graph.sorts()[kI64], count.value) : -1;
  if (n < 0) return error_at(span, "the number of terms must be an integer that is not negative");
  return static_cast<size_t>(n);
}

}  // namespace

// What set-cost gave to single terms of a constructor F is in the table cost_table_F.
FlattenOptions Program::costs_for(std::vector<TypedValue> roots) {
  FlattenOptions options;
  options.roots = std::move(roots);
  const EGraph& graph = state_.graph;
  std::vector<TableId> cost_tables(graph.table_count(), kNone);
  bool any = false;
  for (TableId t = 0; t < graph.table_count(); ++t) {
    if (!graph.table(t).constructor) continue;
    cost_tables[t] = state_.scope.table("cost_table_" + graph.table(t).name).value_or(kNone);
    any = any || cost_tables[t] != kNone;
  }
  if (!any) return options;
  options.row_cost = [&graph, tables = std::move(cost_tables)](TableId t, std::span<const Value> columns) {
    std::optional<Value> cost;
    if (tables[t] != kNone) cost = graph.lookup(tables[t], columns.first(columns.size() - 1));
    return cost ? static_cast<Cost>(to_i64(graph.sorts()[kI64], *cost)) : static_cast<Cost>(graph.table(t).cost);
  };
  return options;
}

// A fact is its own term: relations have no classes.
Expected<std::string> Program::extract_relation(const Expr& call) {
  const TableId table = *state_.scope.table(call.name);
  const TableDecl& decl = state_.graph.table(table);
  LUMEN_TRY(evaluate(call));
  std::vector<Value> args;
  std::vector<TypedValue> roots;
  for (size_t i = 0; i < call.args.size(); ++i) {
    args.push_back(LUMEN_TRY(evaluate(*call.args[i])).value);
    roots.push_back({decl.params[i], args.back()});
  }
  LUMEN_TRY(state_.graph.rebuild());
  const std::optional<Extracted> term = Extractor(state_.graph, {costs_for(std::move(roots)), {}}).call(table, args);
  if (!term) return error_at(call.span, std::string(kNothing));
  return term->text + "\n";
}

Expected<void> Program::run(const ExtractCommand& c, const Span& span) {
  if (const std::optional<TableId> table = state_.scope.table(c.expr->name);
      table && c.expr->kind == Expr::Kind::call && state_.graph.table(*table).relation) {
    print(LUMEN_TRY(extract_relation(*c.expr)));
    return {};
  }
  const TypedValue root = LUMEN_TRY(evaluate(*c.expr));
  extracted_.push_back(root);
  const size_t count =
      c.variants == nullptr ? 0 : LUMEN_TRY(count_of(LUMEN_TRY(evaluate(*c.variants)), state_.graph, c.variants->span));
  LUMEN_TRY(state_.graph.rebuild());
  std::vector<Extracted> found;
  if (c.greedy_dag) {
    found.push_back(LUMEN_TRY(greedy_dag_term(state_.graph, costs_for({root}), span)));
  } else {
    Extractor extractor(state_.graph, {costs_for({root}), {}});
    if (count > 0) {
      found = extractor.variants(root.sort, root.value, count);
    } else if (std::optional<Extracted> best = extractor.best(root.sort, root.value)) {
      found.push_back(std::move(*best));
    }
  }
  if (found.empty() && count == 0) return error_at(span, std::string(kNothing));
  std::string text = count > 0 ? "(\n" : "";
  for (const Extracted& term : found) text += (count > 0 ? "   " : "") + term.text + "\n";
  text += count > 0 ? ")\n" : "";
  if (options_.echo_costs && !found.empty()) text += fmt::format("; cost {:.0f}\n", found[0].cost);
  print(text);
  return {};
}

// (multi-extract n e...): at most n terms of each.
Expected<void> Program::multi_extract(const Expr& call) {
  if (call.args.empty()) return error_at(call.span, "multi-extract needs a number and expressions");
  const size_t count = LUMEN_TRY(count_of(LUMEN_TRY(evaluate(*call.args[0])), state_.graph, call.args[0]->span));
  std::vector<TypedValue> roots;
  for (const Expr* arg : call.args.subspan(1)) roots.push_back(LUMEN_TRY(evaluate(*arg)));
  LUMEN_TRY(state_.graph.rebuild());
  Extractor extractor(state_.graph, {costs_for(roots), {}});
  std::string text = "(\n";
  for (const TypedValue& root : roots) {
    text += "   (\n";
    for (const Extracted& term : extractor.variants(root.sort, root.value, count)) text += "      " + term.text + "\n";
    text += "   )\n";
  }
  print(text + ")\n");
  return {};
}

}  // namespace lumen::egraph
