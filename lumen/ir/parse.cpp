#include <fmt/format.h>

#include "lumen/base/nearest.h"
#include "lumen/ir/text.h"
#include "lumen/ir/text_reader.h"

namespace lumen {

namespace {

std::string suggestion(std::string_view found, std::span<const std::string_view> known) {
  const auto meant = nearest(found, known);
  return meant ? fmt::format("; did you mean `{}`?", *meant) : "";
}

}  // namespace

Expected<std::shared_ptr<Graph>> TextReader::graph() {
  if (!accept_word("lumen")) return fail(fmt::format("expected `lumen 1`, got {}", next_shown()));
  const size_t start = position();
  const int64_t version = LUMEN_TRY(integer());
  if (version != 1) return fail(fmt::format("version {} is not known; this reads version 1", version), start);
  return statements(false);
}

Expected<Body> TextReader::body() {
  const size_t start = position();
  LUMEN_TRY(expect("{"));
  if (frames_.size() > kMaxNesting) return fail(fmt::format("bodies nest deeper than {}", kMaxNesting), start);
  const Shape outer = extents_;
  std::shared_ptr<Graph> graph = LUMEN_TRY(statements(true));
  extents_ = outer;
  return frames_.back().graph->adopt(std::move(graph));
}

Expected<std::shared_ptr<Graph>> TextReader::statements(bool braces) {
  frames_.push_back({std::make_shared<Graph>(), {}, {}, {}});
  while (braces ? !accept("}") : !at_end()) {
    if (accept_word("dim")) {
      LUMEN_TRY(dim_statement());
    } else if (accept_word("output")) {
      LUMEN_TRY(output_statement());
    } else if (accept("%")) {
      LUMEN_TRY(node_statement());
    } else {
      return fail(fmt::format("expected `dim`, `output` or `%`, got {}", next_shown()));
    }
  }
  std::shared_ptr<Graph> graph = std::move(frames_.back().graph);
  frames_.pop_back();
  return graph;
}

Expected<void> TextReader::dim_statement() {
  const size_t start = position();
  const std::string_view name = LUMEN_TRY(word("the name of a dim"));
  const int64_t lo = LUMEN_TRY(integer());
  LUMEN_TRY(expect(".."));
  const int64_t hi = LUMEN_TRY(integer());
  Graph& graph = *frames_.back().graph;
  if (graph.find_dim(name)) return fail(fmt::format("dim `{}` is declared twice", name), start);
  Expected<Expr> added = graph.add_dim(name, lo, hi);
  if (!added.ok()) return fail(added.diag().message, start);
  return {};
}

Expected<void> TextReader::output_statement() {
  const size_t start = position();
  const std::string name = LUMEN_TRY(string("the name of an output"));
  LUMEN_TRY(expect("="));
  LUMEN_TRY(expect("%"));
  const NodeId value = LUMEN_TRY(node_reference());
  std::optional<NodeId> alias;
  if (accept_word("updates")) {
    LUMEN_TRY(expect("%"));
    alias = LUMEN_TRY(node_reference());
  }
  Expected<void> added = frames_.back().graph->add_output(name, value, alias);
  if (!added.ok()) return fail(added.diag().message, start);
  return {};
}

Expected<NodeId> TextReader::node_reference() {
  const size_t start = at_ - 1;
  const std::string_view name = LUMEN_TRY(word("the name of a node"));
  const auto& nodes = frames_.back().nodes;
  if (const auto found = nodes.find(name); found != nodes.end()) return found->second;
  return fail(fmt::format("%{} is not defined above", name.substr(0, 40)), start);
}

Expected<const OpDef*> TextReader::op_name() {
  const size_t start = position();
  const std::string_view name = LUMEN_TRY(word("the name of an op"));
  if (const OpDef* op = ops_.find(name)) return op;
  std::vector<std::string_view> known;
  for (const OpDef* op : ops_.ops()) known.push_back(op->name);
  return fail(fmt::format("unknown op `{}`{}", name.substr(0, 40), suggestion(name.substr(0, 40), known)), start);
}

Expected<std::vector<NodeId>> TextReader::operands() {
  std::vector<NodeId> result;
  LUMEN_TRY(expect("("));
  while (!accept(")")) {
    if (!result.empty()) LUMEN_TRY(expect(","));
    LUMEN_TRY(expect("%"));
    result.push_back(LUMEN_TRY(node_reference()));
  }
  return result;
}

Expected<void> TextReader::fields(const OpDef& op, void* out) {
  extents_ = Shape();
  std::vector<bool> given(op.fields.size());
  for (size_t start = position(); accept(":"); start = position()) {
    const std::string_view name = LUMEN_TRY(word("the name of a field"));
    size_t k = 0;
    while (k < op.fields.size() && op.fields[k].name != name) ++k;
    if (k == op.fields.size()) {
      std::vector<std::string_view> known;
      for (const FieldInfo& field : op.fields) known.push_back(field.name);
      return fail(
          fmt::format("{} has no field `{}`{}", op.name, name.substr(0, 40), suggestion(name.substr(0, 40), known)),
          start);
    }
    if (given[k]) return fail(fmt::format("field `{}` is given twice", name), start);
    given[k] = true;
    LUMEN_TRY(op.fields[k].type->parse(*this, static_cast<std::byte*>(out) + op.fields[k].offset));
  }
  return {};
}

Expected<void> TextReader::node_statement() {
  const size_t start = at_ - 1;
  const std::string_view name = LUMEN_TRY(word("the name of a node"));
  if (frames_.back().nodes.contains(name)) return fail(fmt::format("%{} is defined twice", name.substr(0, 40)), start);
  LUMEN_TRY(expect("="));
  const size_t op_start = position();
  const OpDef& op = *LUMEN_TRY(op_name());
  const std::vector<NodeId> given = LUMEN_TRY(operands());

  CHECK(op.align <= alignof(std::max_align_t));
  std::vector<std::max_align_t> storage(op.size / sizeof(std::max_align_t) + 1);
  op.construct(storage.data());
  LUMEN_TRY(fields(op, storage.data()));
  // A body among the fields has pushed and popped frames: this statement's is on top again.
  Frame& frame = frames_.back();
  Expected<NodeId> added = frame.graph->add(op, storage.data(), given);
  if (!added.ok()) return fail(added.diag().message, op_start);
  frame.nodes.emplace(name, *added);
  if (frames_.size() == 1) made_.push_back({*added, name, start});
  if (!accept("->")) return {};

  const size_t type_start = position();
  const TensorType written = LUMEN_TRY(type());
  const TensorType& inferred = (*frame.graph)[*added].type;
  if (written == inferred) return {};
  return fail(fmt::format("the type is {}, not {}", inferred.str(), written.str()), type_start);
}

std::vector<Statement> TextReader::made() const {
  std::vector<Statement> result;
  uint32_t line = 1;
  size_t at = 0;
  for (const Made& each : made_) {
    for (; at < each.start; ++at) line += text_[at] == '\n' ? 1 : 0;
    result.push_back({each.node, std::string(each.name), line});
  }
  return result;
}

Expected<std::shared_ptr<Graph>> parse(std::string_view text, const OpTable& ops, std::string_view file,
                                       std::vector<Statement>* statements) {
  TextReader reader(text, file, ops);
  std::shared_ptr<Graph> graph = LUMEN_TRY(reader.graph());
  if (statements != nullptr) *statements = reader.made();
  return graph;
}

}  // namespace lumen
