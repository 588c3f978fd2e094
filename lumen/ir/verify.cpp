#include "lumen/ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>

#include "lumen/ir/expr_prove.h"

namespace lumen {

namespace {

bool is_never_empty(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Expr& dim) { return prove_ge0(dim - 1); });
}

// Certain to read outside: `false` means that it is proven or left to run time.
bool reads_outside(const View& view, const Expr& numel) {
  if (fits(view, numel) || view.has_guard() || !is_never_empty(view.shape())) return false;
  const std::optional<Span> span = physical_span(view);
  if (!span) return false;
  const Expr beyond = numel - span->end;
  return span->lowest.constant().value_or(0) < 0 || beyond.constant().value_or(0) < 0;
}

class Verifier {
 public:
  Verifier(const Graph& graph, const Stage& stage) : graph_(graph), stage_(stage), order_(graph.order()) {}

  Expected<void> run() {
    for (number_ = 0; number_ < order_.size(); ++number_) {
      const Node& node = graph_[order_[number_]];
      LUMEN_TRY(check_legal(node));
      LUMEN_TRY(check_type(node));
      LUMEN_TRY(check_fields(node));
    }
    return check_names();
  }

 private:
  Diag fail(const Node& node, std::string_view what) const {
    return error(fmt::format("[{}] {} (node %{})", node.op->name, what, number_));
  }

  Expected<void> check_legal(const Node& node) const {
    const bool listed = std::find(stage_.ops.begin(), stage_.ops.end(), node.op) != stage_.ops.end();
    if (listed || (stage_.custom && node.op->family == OpFamily::custom)) return {};
    return fail(node, fmt::format("is not an op of stage {}", stage_.name));
  }

  Expected<void> check_type(const Node& node) const {
    std::vector<TensorType> types;
    for (const NodeId operand : node.operands) {
      if (operand >= order_[number_]) return fail(node, "an operand comes after its user");
      types.push_back(graph_[operand].type);
    }
    Expected<TensorType> inferred = node.op->infer(node.fields, types);
    if (!inferred.ok()) return std::move(inferred).take_diag().note(fmt::format("node %{}", number_));
    if (*inferred == node.type) return {};
    return fail(node, fmt::format("has type {}, but inference says {}", node.type.str(), inferred->str()));
  }

  Expected<void> check_fields(const Node& node) const {
    size_t views = 0;  // view number k is of operand number k
    for (const FieldInfo& field : node.op->fields) {
      const void* at = static_cast<const std::byte*>(node.fields) + field.offset;
      if (field.type == &field_type<Body>()) {
        Expected<void> body = verify(*static_cast<const Body*>(at)->graph, stage_);
        if (!body.ok())
          return std::move(body).take_diag().note(fmt::format("in the {} of node %{}", field.name, number_));
      } else if (field.type == &field_type<View>() && views < node.operands.size()) {
        const View& view = *static_cast<const View*>(at);
        const TensorType& source = graph_[node.operands[views++]].type;
        if (!reads_outside(view, source.shape.numel())) continue;
        return fail(node, fmt::format("{} reads outside its source {}", view.str(), source.str()));
      }
    }
    return {};
  }

  Expected<void> check_names() const {
    boost::unordered_flat_set<std::string_view> inputs, outputs;
    for (const NodeId id : graph_.inputs()) {
      const std::string& name = graph_[id].as<Input>().name.str();
      if (!inputs.insert(name).second) return error(fmt::format("two inputs have the name {}", quoted(name)));
    }
    std::vector<NodeId> updated;
    for (const Output& output : graph_.outputs()) {
      const std::string& name = output.name.str();
      if (!outputs.insert(name).second) return error(fmt::format("two outputs have the name {}", quoted(name)));
      if (!output.alias) continue;
      const Node& state = graph_[*output.alias];
      if (!state.is<Input>() || state.as<Input>().kind != InputKind::state || state.type != graph_[output.value].type) {
        return error(fmt::format("output {} updates what is not a state input of its type", quoted(name)));
      }
      if (std::find(updated.begin(), updated.end(), *output.alias) != updated.end()) {
        return error(fmt::format("two outputs update {}", quoted(state.as<Input>().name.str())));
      }
      updated.push_back(*output.alias);
    }
    return {};
  }

  const Graph& graph_;
  const Stage& stage_;
  const std::vector<NodeId> order_;
  size_t number_ = 0;
};

}  // namespace

Expected<void> verify(const Graph& graph, const Stage& stage) { return Verifier(graph, stage).run(); }

}  // namespace lumen
