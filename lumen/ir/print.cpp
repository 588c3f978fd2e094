#include <fmt/format.h>

#include "lumen/ir/text.h"
#include "lumen/ir/text_reader.h"

namespace lumen {

namespace {

void print_reference(NodeId id, std::span<const uint32_t> numbers, std::string& out) {
  out += '%';
  out += std::to_string(numbers[static_cast<size_t>(id)]);
}

void print_node(const Graph& graph, NodeId id, std::span<const uint32_t> numbers, std::string& out) {
  const Node& node = graph[id];
  print_reference(id, numbers, out);
  out += " = ";
  out += node.op->name;
  out += '(';
  for (const NodeId& operand : node.operands) {
    if (&operand != node.operands.data()) out += ", ";
    print_reference(operand, numbers, out);
  }
  out += ')';
  for (const FieldInfo& field : node.op->fields) {
    out += " :";
    out += field.name;
    out += ' ';
    field.type->print(static_cast<const std::byte*>(node.fields) + field.offset, out);
  }
  out += " -> ";
  out += node.type.str();
  out += '\n';
}

void print_statements(const Graph& graph, std::string& out) {
  for (const Expr& dim : graph.dims()) {
    const auto [lo, hi] = dim.dim_bounds();
    out += fmt::format("dim {} {}..{}\n", dim.dim_name(), lo, hi);
  }
  const std::vector<NodeId> order = graph.order();
  std::vector<uint32_t> numbers(graph.size());
  for (const NodeId& id : order) numbers[static_cast<size_t>(id)] = static_cast<uint32_t>(&id - order.data());
  for (const NodeId id : order) print_node(graph, id, numbers, out);
  for (const Output& output : graph.outputs()) {
    out += "output " + quoted(output.name.str()) + " = ";
    print_reference(output.value, numbers, out);
    if (output.alias) {
      out += " updates ";
      print_reference(*output.alias, numbers, out);
    }
    out += '\n';
  }
}

}  // namespace

std::string print(const Graph& graph) {
  std::string out = "lumen 1\n";
  print_statements(graph, out);
  return out;
}

void print_body(const Graph& body, std::string& out) {
  std::string inner;
  print_statements(body, inner);
  out += "{\n";
  for (size_t at = 0; at < inner.size();) {
    const size_t end = inner.find('\n', at) + 1;
    out += "  ";
    out.append(inner, at, end - at);
    at = end;
  }
  out += '}';
}

}  // namespace lumen
