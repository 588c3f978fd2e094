#include "lumen/egraph/extract/flatten.h"

#include <deque>

namespace lumen::egraph {
namespace {

bool is_extractable(const TableDecl& table) { return table.constructor && table.extractable; }

// The tables whose rows could be part of a term of one of the sorts; breadth first over sorts, as the reference engine
// goes through them, because that decides which of several equally good terms is taken.
std::vector<TableId> tables_for(const EGraph& egraph, std::span<const TypedValue> roots) {
  std::vector<TableId> tables;
  if (roots.empty()) {
    for (TableId t = 0; t < egraph.table_count(); ++t) {
      if (is_extractable(egraph.table(t))) tables.push_back(t);
    }
    return tables;
  }
  std::vector<std::vector<TableId>> by_result(egraph.sorts().size());
  for (TableId t = 0; t < egraph.table_count(); ++t) {
    if (is_extractable(egraph.table(t))) by_result[egraph.table(t).result].push_back(t);
  }
  std::vector<uint8_t> seen(egraph.sorts().size(), 0);
  std::deque<SortId> queue;
  const auto visit = [&](SortId sort) {
    if (!seen[sort]) queue.push_back(sort);
    seen[sort] = 1;
  };
  for (const TypedValue& root : roots) visit(root.sort);
  while (!queue.empty()) {
    const SortId sort = queue.front();
    queue.pop_front();
    if (egraph.sorts()[sort].kind == SortKind::container) {
      for (const SortId element : egraph.sorts()[sort].elements) visit(element);
    }
    for (const TableId t : by_result[sort]) {
      tables.push_back(t);
      for (const SortId param : egraph.table(t).params) visit(param);
    }
  }
  return tables;
}

class Flattener {
 public:
  Flattener(EGraph& egraph, const FlattenOptions& options) : egraph_(egraph), options_(options) {
    result_.ids.resize(egraph.sorts().size());
    result_.values.resize(egraph.sorts().size());
    for (const Sort& sort : egraph.sorts()) kinds_.push_back(sort.kind);
  }

  Flattened run() {
    const std::vector<TableId> tables = tables_for(egraph_, options_.roots);
    reserve(tables);
    for (const TableId t : tables) add_table(t);
    for (const TypedValue& root : options_.roots) {
      result_.roots.push_back(class_of(root.sort, egraph_.find(root.sort, root.value)));
    }
    result_.graph.finish();
    return std::move(result_);
  }

 private:
  void reserve(std::span<const TableId> tables) {
    size_t nodes = 0;
    size_t children = 0;
    for (const TableId t : tables) {
      nodes += egraph_.row_count(t);
      children += egraph_.row_count(t) * egraph_.table(t).params.size();
    }
    FlatGraph& graph = result_.graph;
    graph.node_class.reserve(nodes);
    graph.cost.reserve(nodes);
    graph.child_start.reserve(nodes + 1);
    graph.origin.reserve(nodes);
    graph.children.reserve(children);
  }

  void add_table(TableId t) {
    const TableDecl& decl = egraph_.table(t);
    const size_t arity = decl.params.size();
    std::vector<ClassId> children(arity);
    egraph_.for_each_row(t, [&](std::span<const Value> columns, bool subsumed) {
      if (subsumed) return;
      for (size_t i = 0; i < arity; ++i) children[i] = class_of(decl.params[i], columns[i]);
      const ClassId owner = class_of(decl.result, columns[arity]);
      const Cost cost = options_.row_cost ? options_.row_cost(t, columns) : static_cast<Cost>(decl.cost);
      add_node(owner, children, cost, {FlatGraph::Origin::Kind::row, t});
    });
  }

  void add_node(ClassId owner, std::span<const ClassId> children, Cost cost, FlatGraph::Origin origin) {
    result_.graph.add_node(owner, children, cost);
    result_.graph.origin.push_back(origin);
  }

  ClassId new_class(SortId sort, Value value) {
    result_.graph.class_sort.push_back(sort);
    result_.graph.class_value.push_back(value);
    return result_.graph.add_class();
  }

  ClassId class_of(SortId sort, Value value) {
    const SortKind kind = kinds_[sort];
    if (kind == SortKind::eq) {
      std::vector<ClassId>& ids = result_.ids[sort];
      if (value >= ids.size()) ids.resize(std::max<size_t>(value + size_t{1}, ids.size() * 2), kNone);
      if (ids[value] == kNone) ids[value] = new_class(sort, value);
      return ids[value];
    }
    const auto at = result_.values[sort].find(value);
    if (at != result_.values[sort].end()) return at->second;
    const ClassId c = kind == SortKind::base ? add_base(sort, value) : add_container(sort, value);
    result_.values[sort].emplace(value, c);
    return c;
  }

  ClassId add_base(SortId sort, Value value) {
    const ClassId c = new_class(sort, value);
    add_node(c, {}, options_.base_cost, {FlatGraph::Origin::Kind::base, sort});
    return c;
  }

  ClassId add_container(SortId sort, Value value) {
    std::vector<ClassId> children;
    for (const ContainerTerm::Element& e : container_term(egraph_.sorts()[sort], value).elements) {
      children.push_back(class_of(e.sort, e.value));
    }
    const ClassId c = new_class(sort, value);
    add_node(c, children, 0, {FlatGraph::Origin::Kind::container, sort});
    return c;
  }

  EGraph& egraph_;
  const FlattenOptions& options_;
  std::vector<SortKind> kinds_;  // by sort
  Flattened result_;
};

}  // namespace

ClassId Flattened::class_of(const EGraph& egraph, SortId sort, Value value) const {
  value = egraph.find(sort, value);
  if (egraph.sorts()[sort].kind == SortKind::eq) return value < ids[sort].size() ? ids[sort][value] : kNone;
  const auto at = values[sort].find(value);
  return at == values[sort].end() ? kNone : at->second;
}

Flattened flatten(EGraph& egraph, const FlattenOptions& options) { return Flattener(egraph, options).run(); }

TermId container_term_of(Terms& terms, const EGraph& egraph, SortId sort, Value value,
                         std::span<const TermId> elements) {
  const ContainerTerm shape = container_term(egraph.sorts()[sort], value);
  if (shape.nested) {
    TermId map = terms.call("map-empty", {});
    for (size_t i = 0; i + 1 < elements.size(); i += 2) {
      const TermId arguments[] = {map, elements[i], elements[i + 1]};
      map = terms.call(shape.head, arguments);
    }
    return map;
  }
  if (!shape.function) return terms.call(shape.head, elements);
  const FunctionValue& f = *shape.function;
  const std::string& callee = f.is_primitive ? egraph.primitives()[f.callee].name : egraph.table(f.callee).name;
  std::vector<TermId> arguments{terms.atom('"' + callee + '"')};
  arguments.insert(arguments.end(), elements.begin(), elements.end());
  return terms.call(shape.head, arguments);
}

NodeNamer egraph_names(const EGraph& egraph, const FlatGraph& graph) {
  return [&egraph, &graph](Terms& terms, NodeId n, std::span<const TermId> children) {
    const FlatGraph::Origin& origin = graph.origin[n];
    const Value value = graph.class_value[graph.node_class[n]];
    switch (origin.kind) {
      case FlatGraph::Origin::Kind::row:
        return terms.call(egraph.table(origin.owner).name, children);
      case FlatGraph::Origin::Kind::base:
        return terms.atom(print_base_value(egraph.sorts()[origin.owner], origin.owner, value));
      case FlatGraph::Origin::Kind::container:
        break;
    }
    return container_term_of(terms, egraph, origin.owner, value, children);
  };
}

}  // namespace lumen::egraph
