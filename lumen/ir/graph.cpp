#include "lumen/ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cctype>
#include <cstring>

#include "lumen/ir/scope.h"

namespace lumen {

namespace {

struct HashText {
  using is_avalanching = void;
  size_t operator()(std::string_view text) const { return hash_bytes(text); }
};
using NameMap = boost::unordered_flat_map<std::string_view, uint32_t, HashText>;  // views of interned names

constexpr std::array<std::string_view, 16> kTaken = {"and",     "ceil_div", "dim",       "else",   "false", "if",
                                                     "lumen",   "max",      "min",       "not",    "or",    "output",
                                                     "product", "true",     "undefined", "updates"};

Expected<void> check_dim_name(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const bool spelled = !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.';
  });
  if (!spelled) {
    return error(fmt::format("dim name {} is not a letter followed by letters, digits, _ or .", quoted(name)));
  }
  const bool coordinate = name[0] == 'i' && name.size() > 1 && std::all_of(name.begin() + 1, name.end(), is_digit);
  if (coordinate || std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end()) {
    return error(fmt::format("dim name `{}` is a word of the text format", name));
  }
  return {};
}

uint64_t hash_node(const OpDef& op, const void* fields, std::span<const NodeId> operands) {
  Hasher hasher(op.hash(fields));
  for (const NodeId operand : operands) hasher.add(operand);
  return hasher.value();
}

}  // namespace

// The hash-consing table: open addressing over node ids, at most half full.
struct Graph::Index {
  explicit Index(const Graph& graph) : scope(graph) {}

  std::vector<uint32_t> slots = std::vector<uint32_t>(64, kFree);
  std::vector<uint64_t> hashes;  // by node
  std::vector<uint64_t> body_hashes;
  NameMap input_names, output_names;
  Scope scope;

  static constexpr uint32_t kFree = ~uint32_t{0};

  // The slot where a node with this hash for which `same` holds is, or where it would go.
  template <class Same>
  uint32_t& find(uint64_t hash, Same same) {
    const size_t mask = slots.size() - 1;
    size_t at = static_cast<size_t>(hash) & mask;
    while (slots[at] != kFree && !(hashes[slots[at]] == hash && same(slots[at]))) at = (at + 1) & mask;
    return slots[at];
  }
  void grow_for_one_more() {
    if (2 * (hashes.size() + 1) <= slots.size()) return;
    slots.assign(2 * slots.size(), kFree);
    for (uint32_t node = 0; node < hashes.size(); ++node) find(hashes[node], [](uint32_t) { return false; }) = node;
  }
};

Graph::Graph() : index_(std::make_unique<Index>(*this)) {}
Graph::~Graph() = default;

Expected<TensorType> Input::infer(const Input& input, std::span<const TensorType>) {
  return TensorType{input.dtype, input.shape};
}

Expected<Expr> Graph::add_dim(std::string_view name, int64_t lo, int64_t hi) {
  LUMEN_TRY(check_dim_name(name));
  if (lo < 0 || hi < lo) return error(fmt::format("dim `{}` has bounds {}..{}; 0 <= lo <= hi is needed", name, lo, hi));
  const auto at = std::lower_bound(dims_.begin(), dims_.end(), name,
                                   [](const Expr& dim, std::string_view wanted) { return dim.dim_name() < wanted; });
  if (at == dims_.end() || at->dim_name() != name) return *dims_.insert(at, Expr::dim(name, lo, hi));
  const auto [declared_lo, declared_hi] = at->dim_bounds();
  if (lo == declared_lo && hi == declared_hi) return *at;
  return error(
      fmt::format("dim `{}` has bounds {}..{}; it was declared with {}..{}", name, lo, hi, declared_lo, declared_hi));
}

Expected<NodeId> Graph::add_input(const Input& input) {
  if (input.name.str().empty()) return error("[Input] the name is empty");
  if (find_input(input.name.str())) return error(fmt::format("[Input] the name {} is taken", quoted(input.name.str())));
  const NodeId id = LUMEN_TRY(insert(op_def<Input>(), &input, {}));
  index_->input_names.emplace(input.name.str(), static_cast<uint32_t>(id));
  inputs_.push_back(id);
  return id;
}

Expected<NodeId> Graph::add(const OpDef& op, const void* fields, std::span<const NodeId> operands) {
  if (op.arity != kVariadic && static_cast<size_t>(op.arity) != operands.size()) {
    return error(
        fmt::format("[{}] takes {} operand{}, got {}", op.name, op.arity, op.arity == 1 ? "" : "s", operands.size()));
  }
  if (&op == &op_def<Input>()) return add_input(*static_cast<const Input*>(fields));
  return insert(op, fields, operands);
}

Expected<NodeId> Graph::insert(const OpDef& op, const void* fields, std::span<const NodeId> operands) {
  const uint64_t hash = hash_node(op, fields, operands);
  const auto same = [&](uint32_t at) {
    const Node& node = nodes_[at];
    return node.op == &op && std::equal(operands.begin(), operands.end(), node.operands.begin(), node.operands.end()) &&
           op.equal(fields, node.fields);
  };
  if (const uint32_t found = index_->find(hash, same); found != Index::kFree) return static_cast<NodeId>(found);

  LUMEN_TRY(index_->scope.check(op, fields));
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (const NodeId operand : operands) {
    CHECK(static_cast<size_t>(operand) < nodes_.size(), "an operand of another graph");
    types.push_back(nodes_[static_cast<size_t>(operand)].type);
  }
  const TensorType type = LUMEN_TRY(op.infer(fields, types));
  LUMEN_TRY(index_->scope.check(op, type.shape));

  std::byte* own = static_cast<std::byte*>(arena_.allocate(op.size, op.align));
  std::memcpy(own, fields, op.size);
  for (const FieldInfo& field : op.fields) {
    if (field.type != &field_type<Body>()) continue;
    Body& body = *reinterpret_cast<Body*>(own + field.offset);
    std::shared_ptr<const Graph> shared = body.graph->weak_from_this().lock();
    CHECK(shared != nullptr, "a body must be held by a shared_ptr");
    body = adopt(std::move(shared));
  }
  index_->grow_for_one_more();
  const auto id = static_cast<uint32_t>(nodes_.size());
  index_->find(hash, [](uint32_t) { return false; }) = id;
  index_->hashes.push_back(hash);
  nodes_.push_back({&op, own, arena_.copy(operands), type});
  return static_cast<NodeId>(id);
}

Expected<void> Graph::add_output(std::string_view name, NodeId value, std::optional<NodeId> alias) {
  CHECK(static_cast<size_t>(value) < nodes_.size(), "a value of another graph");
  if (name.empty()) return error("[Output] the name is empty");
  if (find_output(name) != nullptr) return error(fmt::format("[Output] the name {} is taken", quoted(name)));
  if (alias) {
    CHECK(static_cast<size_t>(*alias) < nodes_.size(), "an alias of another graph");
    const Node& target = (*this)[*alias];
    if (!target.is<Input>() || target.as<Input>().kind != InputKind::state) {
      return error(fmt::format("[Output] {} updates what is not a state input", quoted(name)));
    }
    const std::string state = quoted(target.as<Input>().name.str());
    if (target.type != (*this)[value].type) {
      return error(fmt::format("[Output] {} is {}, but {}, which it updates, is {}", quoted(name),
                               (*this)[value].type.str(), state, target.type.str()));
    }
    for (const Output& other : outputs_) {
      if (other.alias != alias) continue;
      return error(fmt::format("[Output] {} and {} both update {}", quoted(other.name.str()), quoted(name), state));
    }
  }
  outputs_.push_back({name, value, alias});
  index_->output_names.emplace(outputs_.back().name.str(), static_cast<uint32_t>(outputs_.size() - 1));
  return {};
}

Body Graph::adopt(std::shared_ptr<const Graph> body) {
  CHECK(body != nullptr && body.get() != this);
  for (const auto& known : bodies_) {
    if (known == body) return {known.get()};
  }
  const uint64_t hash = body->hash();
  for (size_t k = 0; k < bodies_.size(); ++k) {
    if (index_->body_hashes[k] == hash && bodies_[k]->equals(*body)) return {bodies_[k].get()};
  }
  index_->body_hashes.push_back(hash);
  bodies_.push_back(std::move(body));
  return {bodies_.back().get()};
}

std::optional<NodeId> Graph::find_input(std::string_view name) const {
  const auto at = index_->input_names.find(name);
  if (at == index_->input_names.end()) return {};
  return static_cast<NodeId>(at->second);
}

const Output* Graph::find_output(std::string_view name) const {
  const auto at = index_->output_names.find(name);
  return at == index_->output_names.end() ? nullptr : &outputs_[at->second];
}

std::optional<Expr> Graph::find_dim(std::string_view name) const {
  const auto at = std::lower_bound(dims_.begin(), dims_.end(), name,
                                   [](const Expr& dim, std::string_view wanted) { return dim.dim_name() < wanted; });
  if (at == dims_.end() || at->dim_name() != name) return {};
  return *at;
}

size_t Graph::bytes() const {
  const auto held = [](const auto& vector) { return vector.capacity() * sizeof(vector[0]); };
  size_t bytes = sizeof(Graph) + sizeof(Index) + arena_.capacity() + nodes_.size() * sizeof(Node) + held(inputs_) +
                 held(outputs_) + held(dims_) + held(bodies_) + held(index_->slots) + held(index_->hashes) +
                 held(index_->body_hashes);
  const size_t names = index_->input_names.bucket_count() + index_->output_names.bucket_count();
  bytes += names * sizeof(NameMap::value_type);
  for (const auto& body : bodies_) bytes += body->bytes();
  return bytes;
}

}  // namespace lumen
