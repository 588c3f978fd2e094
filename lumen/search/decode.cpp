#include "lumen/search/decode.h"

#include <map>

#include "lumen/egraph/extract/selection.h"
#include "lumen/kernel/contract.h"

namespace lumen {

using egraph::ClassId;
using egraph::FlatGraph;
using egraph::Value;

namespace {

class Decoder {
 public:
  Decoder(Saturated& saturated, const egraph::Flattened& flat) : saturated_(saturated), flat_(flat) {}

  Expected<std::shared_ptr<Graph>> run(std::span<const egraph::NodeId> choice) {
    const Graph& from = saturated_.graph();
    for (const Expr& dim : from.dims()) {
      const auto [lo, hi] = dim.dim_bounds();
      LUMEN_TRY(graph_->add_dim(dim.dim_name(), lo, hi));
    }
    for (const NodeId input : from.inputs()) LUMEN_TRY(graph_->add_input(from[input].as<Input>()));
    for (const ClassId c : needed_classes(flat_.graph, flat_.roots, choice)) LUMEN_TRY(add(c, choice[c]));
    for (size_t k = 0; k < from.outputs().size(); ++k) {
      const Output& output = from.outputs()[k];
      std::optional<NodeId> alias;
      if (output.alias) alias = graph_->find_input(from[*output.alias].as<Input>().name.str());
      const auto value = made_.find(flat_.roots[k]);
      if (value == made_.end()) return error("an output has no program in the e-graph");
      LUMEN_TRY(graph_->add_output(output.name.str(), value->second, alias));
    }
    LUMEN_TRY(verify(*graph_, llir_stage()));
    return graph_;
  }
  std::vector<ClassId> classes() const {
    std::vector<ClassId> result(graph_->size(), egraph::kNone);
    for (const auto& [c, node] : made_) result[static_cast<size_t>(node)] = c;
    return result;
  }

 private:
  Expected<void> add(ClassId c, egraph::NodeId node) {
    const FlatGraph& graph = flat_.graph;
    if (graph.origin[node].kind != FlatGraph::Origin::Kind::row) return {};
    const TermOp& op = *saturated_.encoding().op_of(graph.origin[node].owner);
    const std::span<const ClassId> children = graph.children_of(node);
    std::vector<NodeId> operands;
    for (const ClassId child : children.first(op.operands)) operands.push_back(made_.at(child));
    std::vector<Value> row;
    for (const ClassId child : children) row.push_back(graph.class_value[child]);
    const FieldBuffer fields = saturated_.encoding().fields_of(op, row);
    if (op.op == &op_def<Input>()) {
      made_[c] = *graph_->find_input(static_cast<const Input*>(fields.data())->name.str());
    } else {
      made_[c] = LUMEN_TRY(graph_->add(*op.op, fields.data(), operands));
    }
    return {};
  }

  Saturated& saturated_;
  const egraph::Flattened& flat_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::map<ClassId, NodeId> made_;
};

}  // namespace

Expected<std::shared_ptr<Graph>> decode(Saturated& saturated, const egraph::Flattened& flat,
                                        std::span<const egraph::NodeId> choice, std::vector<egraph::ClassId>* classes) {
  Decoder decoder(saturated, flat);
  std::shared_ptr<Graph> graph = LUMEN_TRY(decoder.run(choice));
  if (classes != nullptr) *classes = decoder.classes();
  return graph;
}

}  // namespace lumen
