#include "lumen/egraph/report/term_text.h"

#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

std::string traced_term_text(const EGraph& graph, SortId sort, Value value, int depth) {
  const EGraph::State& s = graph.state();
  const Sort& declared = s.sorts[sort];
  if (declared.kind == SortKind::base) return print_base_value(declared, sort, value);
  if (depth == 0) return "...";
  if (declared.kind == SortKind::container) {
    const ContainerTerm term = container_term(declared, value);
    std::string text = "(" + std::string(term.head);
    for (const ContainerTerm::Element& e : term.elements) {
      text += " " + traced_term_text(graph, e.sort, e.value, depth - 1);
    }
    return text + ")";
  }
  if (s.trace == nullptr || sort >= s.trace->sorts.size() || value >= s.trace->sorts[sort].origins.size() ||
      s.trace->sorts[sort].origins[value].table == kNone) {
    return declared.name + "#" + std::to_string(value);
  }
  const Trace::Origin& origin = s.trace->sorts[sort].origins[value];
  const TableDecl& decl = s.tables[origin.table].decl;
  std::string text = "(" + decl.name;
  for (size_t i = 0; i < decl.params.size(); ++i) {
    text += " " + traced_term_text(graph, decl.params[i], s.trace->origin_args[origin.start + i], depth - 1);
  }
  return text + ")";
}

}  // namespace lumen::egraph
