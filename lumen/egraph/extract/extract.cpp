#include "lumen/egraph/extract/extract.h"

#include <algorithm>
#include <tuple>

namespace lumen::egraph {

Extractor::Extractor(EGraph& egraph, const ExtractOptions& options)
    : egraph_(egraph),
      options_(options),
      flat_(flatten(egraph, options_.flatten)),
      tree_(tree_extract(flat_.graph, options_.tree)),
      builder_(terms_, flat_.graph, tree_.choice, egraph_names(egraph_, flat_.graph)) {}

std::optional<std::pair<TermId, Cost>> Extractor::best_term(SortId sort, Value value) {
  const ClassId c = flat_.class_of(egraph_, sort, value);
  if (c != kNone) {
    if (tree_.choice[c] == kNone) return std::nullopt;
    return std::pair{builder_.of_class(c), tree_.cost[c]};
  }
  switch (egraph_.sorts()[sort].kind) {
    case SortKind::eq:
      return std::nullopt;
    case SortKind::base:
      return std::pair{terms_.atom(print_base_value(egraph_.sorts()[sort], sort, value)), options_.flatten.base_cost};
    case SortKind::container:
      break;
  }
  return container_best(sort, egraph_.find(sort, value));
}

// Of a container that no term mentions.
std::optional<std::pair<TermId, Cost>> Extractor::container_best(SortId sort, Value value) {
  std::vector<TermId> elements;
  Cost cost = 0;
  for (const ContainerTerm::Element& e : container_term(egraph_.sorts()[sort], value).elements) {
    const auto element = best_term(e.sort, e.value);
    if (!element) return std::nullopt;
    elements.push_back(element->first);
    cost = add_costs(cost, element->second);
  }
  return std::pair{container_term_of(terms_, egraph_, sort, value, elements), cost};
}

std::optional<Extracted> Extractor::best(SortId sort, Value value) {
  const auto term = best_term(sort, value);
  if (!term) return std::nullopt;
  return Extracted{terms_.text(term->first), term->second};
}

std::optional<Extracted> Extractor::call(TableId table, std::span<const Value> args) {
  const TableDecl& decl = egraph_.table(table);
  std::vector<TermId> children;
  Cost cost = static_cast<Cost>(decl.cost);
  for (size_t i = 0; i < args.size(); ++i) {
    const auto argument = best_term(decl.params[i], args[i]);
    if (!argument) return std::nullopt;
    children.push_back(argument->first);
    cost = add_costs(cost, argument->second);
  }
  return Extracted{terms_.text(terms_.call(decl.name, children)), cost};
}

// Those with a term, in the order of variants().
std::vector<std::pair<NodeId, Cost>> Extractor::ranked_nodes(ClassId c) const {
  const FlatGraph& graph = flat_.graph;
  struct Ranked {
    Cost cost;
    const std::string* name;
    std::vector<Value> arguments;
    NodeId node;
  };
  std::vector<Ranked> ranked;
  for (const NodeId n : graph.nodes_of(c)) {
    std::vector<Cost> costs;
    std::vector<Value> arguments;
    for (const ClassId child : graph.children_of(n)) {
      costs.push_back(tree_.cost[child]);
      arguments.push_back(graph.class_value[child]);
    }
    const Cost cost = combine_costs(graph, n, costs, options_.tree);
    if (cost == kInfinite) continue;
    ranked.push_back({cost, &egraph_.table(graph.origin[n].owner).name, std::move(arguments), n});
  }
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    return std::tie(a.cost, *a.name, a.arguments, a.node) < std::tie(b.cost, *b.name, b.arguments, b.node);
  });
  std::vector<std::pair<NodeId, Cost>> result;
  for (const Ranked& r : ranked) result.push_back({r.node, r.cost});
  return result;
}

std::vector<Extracted> Extractor::variants(SortId sort, Value value, size_t n) {
  std::vector<Extracted> result;
  if (n == 0) return result;
  if (egraph_.sorts()[sort].kind != SortKind::eq) {
    if (auto only = best(sort, value)) result.push_back(std::move(*only));
    return result;
  }
  const ClassId c = flat_.class_of(egraph_, sort, value);
  if (c == kNone) return result;
  for (const auto& [node, cost] : ranked_nodes(c)) {
    if (result.size() == n) break;
    result.push_back({terms_.text(builder_.of_node(node)), cost});
  }
  return result;
}

}  // namespace lumen::egraph
