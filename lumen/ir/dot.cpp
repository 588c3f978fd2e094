#include <fmt/format.h>

#include "lumen/ir/text.h"

namespace lumen {

namespace {

constexpr size_t kMaxField = 80;  // of what is shown of one field

// One left-aligned line of a label.
void append_line(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  out += "\\l";
}

std::string_view color(const Node& node) {
  if (!node.is<Input>()) return "white";
  switch (node.as<Input>().kind) {
    case InputKind::data:
      return "lightblue";
    case InputKind::weight:
      return "lightgoldenrod";
    case InputKind::state:
      return "lightpink";
  }
  return "white";
}

std::string label(const Node& node) {
  std::string out;
  append_line(node.op->name, out);
  for (const FieldInfo& field : node.op->fields) {
    std::string value;
    field.type->print(static_cast<const std::byte*>(node.fields) + field.offset, value);
    if (value.size() > kMaxField) {
      value.resize(kMaxField);
      value += "...";
    }
    append_line(fmt::format("{}: {}", field.name, value), out);
  }
  append_line(node.type.str(), out);
  return out;
}

}  // namespace

std::string print_dot(const Graph& graph) {
  std::string out = "digraph lumen {\n  node [shape=box, style=filled, fontname=monospace];\n";
  const std::vector<NodeId> order = graph.order();
  std::vector<size_t> number(graph.size());
  for (size_t k = 0; k < order.size(); ++k) number[static_cast<size_t>(order[k])] = k;
  for (size_t k = 0; k < order.size(); ++k) {
    const Node& node = graph[order[k]];
    out += fmt::format("  n{} [fillcolor={}, label=\"{}\"];\n", k, color(node), label(node));
    for (size_t operand = 0; operand < node.operands.size(); ++operand) {
      const size_t from = number[static_cast<size_t>(node.operands[operand])];
      const std::string which = node.operands.size() > 1 ? fmt::format(" [headlabel=\"{}\"]", operand) : "";
      out += fmt::format("  n{} -> n{}{};\n", from, k, which);
    }
  }
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    const Output& output = graph.outputs()[k];
    std::string text;
    append_line("output " + quoted(output.name.str()), text);
    out += fmt::format("  o{} [fillcolor=lightgreen, label=\"{}\"];\n", k, text);
    out += fmt::format("  n{} -> o{};\n", number[static_cast<size_t>(output.value)], k);
    if (!output.alias) continue;
    out += fmt::format("  o{} -> n{} [style=dashed, constraint=false, label=updates];\n", k,
                       number[static_cast<size_t>(*output.alias)]);
  }
  return out + "}\n";
}

}  // namespace lumen
