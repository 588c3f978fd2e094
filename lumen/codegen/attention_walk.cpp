#include "lumen/codegen/attention_walk.h"

#include <set>

#include "lumen/codegen/constant_of.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/view.h"

namespace lumen {

namespace {

Element through_view(const ElementWriter& writer, const Graph& graph, const Element& from) {
  const Node& node = graph[from.node];
  const View& view = node.as<hlir::View>().view;
  const NodeId source = node.operands[0];
  const Expr flat = writer.place(view.index(), view.shape(), from.at);
  return {source, unflatten(flat, writer.rename(graph[source].type.shape))};
}

class Walk {
 public:
  Walk(const Graph& graph, NodeId target) : graph_(graph), writer_(graph, 0), target_(target) {}

  void visit(const Element& here, bool guarded) {
    if (here.node == target_) {
      found_.insert(here);
      guarded_ = guarded_ || guarded;
      return;
    }
    const Node& node = graph_[here.node];
    const bool is_view = node.is<hlir::View>();
    if (!seen_.insert(here).second || !(is_view || is_element_op(node))) return;
    if (is_view) {
      visit(through_view(writer_, graph_, here), guarded || node.as<hlir::View>().view.has_guard());
      return;
    }
    for (const NodeId operand : node.operands) visit({operand, here.at}, guarded);
  }

  std::optional<std::vector<Expr>> only() const {
    if (found_.size() != 1 || guarded_) return std::nullopt;
    return found_.begin()->at;
  }

 private:
  const Graph& graph_;
  ElementWriter writer_;
  NodeId target_;
  std::set<Element> seen_, found_;
  bool guarded_ = false;
};

class Linearise {
 public:
  explicit Linearise(const Graph& graph) : graph_(graph), writer_(graph, 0) {}

  void add(const Element& here, double factor) {
    const Node& node = graph_[here.node];
    if (const std::optional<double> constant = constant_of(graph_, here.node)) {
      form_.constant += factor * *constant;
    } else if (node.is<hlir::View>() && !node.as<hlir::View>().view.has_guard()) {
      add(through_view(writer_, graph_, here), factor);
    } else if (node.is<hlir::Add>()) {
      for (const NodeId operand : node.operands) add({operand, here.at}, factor);
    } else if (!add_multiple(here, factor)) {
      form_.terms[here] += factor;
    }
  }
  LinearForm take() { return std::move(form_); }

 private:
  bool add_multiple(const Element& here, double factor) {
    const Node& node = graph_[here.node];
    if (!node.is<hlir::Mul>()) return false;
    for (const size_t k : {size_t{0}, size_t{1}}) {
      const std::optional<double> constant = constant_of(graph_, node.operands[k]);
      if (!constant) continue;
      add({node.operands[1 - k], here.at}, factor * *constant);
      return true;
    }
    return false;
  }

  const Graph& graph_;
  ElementWriter writer_;
  LinearForm form_;
};

}  // namespace

bool Element::operator<(const Element& o) const {
  if (node != o.node) return node < o.node;
  for (size_t k = 0; k < std::min(at.size(), o.at.size()); ++k) {
    if (const int order = compare(at[k], o.at[k]); order != 0) return order < 0;
  }
  return at.size() < o.at.size();
}

std::optional<std::vector<Expr>> source_place(const Graph& graph, const Element& from, NodeId target) {
  Walk walk(graph, target);
  walk.visit(from, false);
  return walk.only();
}

LinearForm linear_form(const Graph& graph, const Element& from) {
  Linearise linearise(graph);
  linearise.add(from, 1);
  return linearise.take();
}

}  // namespace lumen
