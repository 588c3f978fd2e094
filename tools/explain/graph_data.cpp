#include "tools/explain/graph_data.h"

namespace lumen::tools {

namespace {

constexpr size_t kMostField = 4000;  // characters of a field: bodies of loops can be long

nlohmann::json fields_data(const Node& node) {
  nlohmann::json fields = nlohmann::json::array();
  for (const FieldInfo& field : node.op->fields) {
    std::string text;
    field.type->print(static_cast<const std::byte*>(node.fields) + field.offset, text);
    if (text.size() > kMostField) text = text.substr(0, kMostField) + "…";
    fields.push_back({field.name, text});
  }
  return fields;
}

}  // namespace

nlohmann::json graph_data(const Graph& graph, const NodeNotes& notes) {
  const std::vector<NodeId> order = graph.order();
  std::vector<size_t> position(graph.size());
  for (size_t k = 0; k < order.size(); ++k) position[static_cast<size_t>(order[k])] = k;
  nlohmann::json nodes = nlohmann::json::array();
  for (size_t k = 0; k < order.size(); ++k) {
    const Node& node = graph[order[k]];
    nlohmann::json in = nlohmann::json::array();
    for (const NodeId operand : node.operands) in.push_back(position[static_cast<size_t>(operand)]);
    nlohmann::json data = {{"op", node.op->name},
                           {"family", name(node.op->family)},
                           {"type", node.type.str()},
                           {"fields", fields_data(node)},
                           {"in", in}};
    if (node.is<Input>()) data["name"] = node.as<Input>().name.str();
    notes(order[k], k, data);
    nodes.push_back(std::move(data));
  }
  for (const Output& output : graph.outputs()) {
    nodes[position[static_cast<size_t>(output.value)]]["out"].push_back(output.name.str());
  }
  return {{"nodes", std::move(nodes)}};
}

}  // namespace lumen::tools
