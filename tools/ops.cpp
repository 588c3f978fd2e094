#include <fmt/format.h>

#include "lumen/base/nearest.h"
#include "lumen/hlir/ops.h"
#include "tools/commands.h"

namespace lumen::tools {

namespace {

std::string arity_text(const OpDef& op) { return op.arity == kVariadic ? "any" : fmt::format("{}", op.arity); }

std::string operands_text(const OpDef& op) {
  if (op.arity == 0) return "-";
  std::string text;
  const auto append = [&](bool admitted, std::string_view name) {
    if (admitted) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  append(op.operands.floating, "floats");
  append(op.operands.integer, "integers");
  append(op.operands.boolean, "bool");
  return text;
}

std::string fields_text(const OpDef& op, std::string_view quote) {
  std::string text;
  for (const FieldInfo& field : op.fields) {
    text += fmt::format("{}{}{} {}{}", text.empty() ? "" : ", ", quote, field.name, field.type->name, quote);
  }
  return text.empty() ? "-" : text;
}

// A table cell may not hold a bar.
std::string without_bars(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

void print_markdown() {
  fmt::print(
      "# Primitives\n\n"
      "Every op of a high-level graph, as declared in `lumen/hlir`. Made by `lumen ops --markdown`.\n\n"
      "| op | family | operands | of dtype | fields | meaning |\n|---|---|---|---|---|---|\n");
  for (const OpDef* op : hlir_ops().ops()) {
    fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", op->name, name(op->family), arity_text(*op), operands_text(*op),
               fields_text(*op, "`"), without_bars(op->doc));
  }
}

void print_ops() {
  fmt::print("{:<12} {:<8} {:<8} {:<24} {}\n", "op", "family", "operands", "of dtype", "fields");
  for (const OpDef* op : hlir_ops().ops()) {
    fmt::print("{:<12} {:<8} {:<8} {:<24} {}\n", op->name, name(op->family), arity_text(*op), operands_text(*op),
               fields_text(*op, ""));
  }
}

void print_one(const OpDef& op) {
  fmt::print("{}: {}\n\n", op.name, op.doc);
  fmt::print("  family    {}\n", name(op.family));
  fmt::print("  operands  {}\n", arity_text(op));
  fmt::print("  of dtype  {}\n", operands_text(op));
  for (const FieldInfo& field : op.fields) fmt::print("  :{:<8} {}\n", field.name, field.type->name);
}

}  // namespace

Expected<int> list_ops(const OpsOptions& options) {
  if (options.name.empty()) {
    options.markdown ? print_markdown() : print_ops();
    return 0;
  }
  if (options.markdown) return error("--markdown is for the whole list");
  if (const OpDef* op = hlir_ops().find(options.name)) {
    print_one(*op);
    return 0;
  }
  std::vector<std::string_view> names;
  for (const OpDef* op : hlir_ops().ops()) names.push_back(op->name);
  const std::optional<std::string> guess = nearest(options.name, names);
  return error(fmt::format("no op `{}`{}", options.name,
                           guess ? fmt::format("; did you mean `{}`?", *guess) : " (lumen ops lists them)"));
}

}  // namespace lumen::tools
