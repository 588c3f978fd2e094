#include "lumen/egraph/report/graph_view.h"

#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>

namespace lumen::egraph {
namespace {

using ViewNode = GraphView::Node;

ViewNode make_node(ViewNode::Kind kind, std::string id, uint32_t owner) {
  ViewNode node;
  node.kind = kind;
  node.id = std::move(id);
  node.owner = owner;
  return node;
}

class Viewer {
 public:
  explicit Viewer(EGraph& egraph) : egraph_(egraph), by_value_(egraph.sorts().size()) {}

  GraphView run(const ViewOptions& options) {
    for (TableId t = 0; t < egraph_.table_count(); ++t) add_table(t);
    for (const TypedValue& root : options.roots) view_.roots.push_back(class_of(root));
    for (const auto& [name, value] : options.names) view_.classes[class_of(value)].names.push_back(name);
    for (uint32_t c = 0; c < view_.classes.size(); ++c) {
      if (!view_.classes[c].nodes.empty()) continue;
      ViewNode node = make_node(ViewNode::Kind::missing, "dummy-" + view_.classes[c].id, c);
      node.op = "[...]";
      node.cost = kInfinite;
      add_node(std::move(node));
    }
    return std::move(view_);
  }

 private:
  void add_table(TableId t) {
    const TableDecl& decl = egraph_.table(t);
    const size_t arity = decl.params.size();
    size_t row = 0;
    egraph_.for_each_row(t, [&](std::span<const Value> columns, bool subsumed) {
      const auto kind = decl.constructor ? ViewNode::Kind::term
                        : decl.relation  ? ViewNode::Kind::fact
                                         : ViewNode::Kind::entry;
      ViewNode node = make_node(kind, fmt::format("function-{}-{}", row, decl.name), 0);
      node.op = decl.name;
      for (size_t i = 0; i < arity; ++i) node.children.push_back(class_of(decl.params[i], columns[i]));
      node.cost = static_cast<Cost>(decl.cost);
      node.subsumed = subsumed;
      node.extractable = decl.constructor && decl.extractable && !subsumed;
      if (decl.relation) {
        const std::string type = "@" + decl.name + "Sort";
        node.owner = add_class(fmt::format("{}-{}", type, row), type);
      } else {
        node.owner = class_of(decl.result, columns[arity]);
      }
      add_node(std::move(node));
      ++row;
    });
  }

  uint32_t add_class(std::string id, std::string type) {
    view_.classes.push_back({std::move(id), std::move(type), false, {}, {}});
    return static_cast<uint32_t>(view_.classes.size() - 1);
  }

  void add_node(ViewNode node) {
    view_.classes[node.owner].nodes.push_back(static_cast<uint32_t>(view_.nodes.size()));
    view_.nodes.push_back(std::move(node));
  }

  uint32_t class_of(const TypedValue& v) { return class_of(v.sort, egraph_.find(v.sort, v.value)); }

  uint32_t class_of(SortId sort, Value value) {
    if (const auto at = by_value_[sort].find(value); at != by_value_[sort].end()) return at->second;
    const Sort& s = egraph_.sorts()[sort];
    const uint32_t c = add_class(fmt::format("{}-{}", s.name, value), s.name);
    by_value_[sort].emplace(value, c);
    if (s.kind == SortKind::eq) return c;
    ViewNode node = make_node(ViewNode::Kind::base, fmt::format("primitive-{}-{}", s.name, value), c);
    node.extractable = true;
    if (s.kind == SortKind::base) {
      view_.classes[c].has_base_sort = true;
      node.op = print_base_value(s, sort, value);
    } else {
      const ContainerTerm shape = container_term(s, value);
      node.kind = ViewNode::Kind::container;
      node.op = shape.nested ? "map-of" : std::string(shape.head);
      node.cost = 0;
      for (const ContainerTerm::Element& e : shape.elements) node.children.push_back(class_of(e.sort, e.value));
    }
    add_node(std::move(node));
    return c;
  }

  EGraph& egraph_;
  GraphView view_;
  std::vector<boost::unordered_flat_map<Value, uint32_t>> by_value_;
};

}  // namespace

GraphView view_graph(EGraph& egraph, const ViewOptions& options) { return Viewer(egraph).run(options); }

FlatGraph GraphView::flat() const {
  FlatGraph graph;
  for (size_t c = 0; c < classes.size(); ++c) graph.add_class();
  for (const ViewNode& n : nodes) graph.add_node(n.owner, n.children, n.extractable ? n.cost : kInfinite);
  graph.finish();
  return graph;
}

}  // namespace lumen::egraph
