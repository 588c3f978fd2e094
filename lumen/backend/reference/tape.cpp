#include "lumen/backend/reference/tape.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "lumen/hlir/leaves.h"
#include "lumen/hlir/view.h"

namespace lumen::reference {

namespace {

// Leaves and steps are numbered apart while compiling: which slot a step gets is known only when all leaves are.
struct Slot {
  bool is_leaf;
  size_t number;
};

}  // namespace

struct Tape::Compiler {
  const Graph& graph;
  const std::vector<bool>& stored;
  const DimValues& dims;
  Tape& tape;
  std::map<NodeId, Slot> slots = {};
  std::vector<std::vector<Slot>> operands = {};  // of each step

  Slot add_leaf(NodeId id, LineReader reader, std::optional<NodeId> source) {
    tape.leaves_.push_back({std::move(reader), source});
    if (source && std::find(tape.sources_.begin(), tape.sources_.end(), *source) == tape.sources_.end()) {
      tape.sources_.push_back(*source);
    }
    return slots[id] = Slot{true, tape.leaves_.size() - 1};
  }

  Expected<Slot> add_view(NodeId id) {
    const Node& node = graph[id];
    int64_t numel = 1;
    for (const int64_t dim : LUMEN_TRY(graph[node.operands[0]].type.shape.evaluate(dims))) numel *= dim;
    return add_leaf(id, LUMEN_TRY(LineReader::view(node.as<hlir::View>().view, tape.dims_, dims, numel)),
                    node.operands[0]);
  }

  Expected<Slot> add(NodeId id, bool from_store) {
    if (const auto found = slots.find(id); found != slots.end()) return found->second;
    const Node& node = graph[id];
    if (from_store) return add_leaf(id, LineReader::whole(tape.dims_), id);
    if (node.is<hlir::View>()) return add_view(id);
    if (node.is<hlir::Iota>()) {
      const hlir::Iota& iota = node.as<hlir::Iota>();
      return add_leaf(id, LUMEN_TRY(LineReader::iota(iota.value, iota.dtype, tape.dims_, dims)), {});
    }
    CHECK(node.op->is_elementwise(), "only elementwise ops, views and iotas are pulled");
    Step step{&node, {}, {}, {}};
    std::vector<Slot> inputs;
    for (const NodeId operand : node.operands) {
      inputs.push_back(LUMEN_TRY(add(operand, stored[static_cast<size_t>(operand)])));
      step.dtypes.push_back(graph[operand].type.dtype);
    }
    step.runs.resize(inputs.size());
    tape.steps_.push_back(std::move(step));
    operands.push_back(std::move(inputs));
    return slots[id] = Slot{false, tape.steps_.size() - 1};
  }

  size_t number(Slot slot) const { return slot.is_leaf ? slot.number : tape.leaves_.size() + slot.number; }
};

Expected<Tape> Tape::compile(const Graph& graph, NodeId root, bool from_store, const std::vector<bool>& stored,
                             const DimValues& dims) {
  Tape tape;
  tape.dims_ = LUMEN_TRY(graph[root].type.shape.evaluate(dims));
  if (tape.dims_.empty()) tape.dims_ = {1};
  Compiler compiler{graph, stored, dims, tape};
  const Slot slot = LUMEN_TRY(compiler.add(root, from_store));
  tape.root_ = compiler.number(slot);
  for (size_t k = 0; k < tape.steps_.size(); ++k) {
    for (const Slot operand : compiler.operands[k]) tape.steps_[k].operands.push_back(compiler.number(operand));
  }
  tape.runs_.resize(tape.leaves_.size() + tape.steps_.size());
  tape.buffers_.resize(tape.runs_.size() * static_cast<size_t>(kRunLanes));
  return tape;
}

void Tape::merge_axes(std::span<size_t> fixed) {
  for (size_t axis = dims_.size() - 1; axis-- > 0;) {
    const auto apart = [&](size_t k) { return k == axis || k == axis + 1; };
    const auto in_step = [&](const Leaf& leaf) { return leaf.reader.can_merge(axis, dims_[axis + 1]); };
    if (std::ranges::any_of(fixed, apart) || !std::ranges::all_of(leaves_, in_step)) continue;
    for (Leaf& leaf : leaves_) leaf.reader.merge(axis);
    dims_[axis + 1] *= dims_[axis];
    dims_.erase(dims_.begin() + static_cast<ptrdiff_t>(axis));
    for (size_t& k : fixed) k -= k > axis ? 1 : 0;
  }
}

double Tape::cost_along(size_t axis) const {
  constexpr double kPerLine = 15;  // nanoseconds for each slot of a line, however short
  double cost = kPerLine * static_cast<double>(runs_.size()) /
                static_cast<double>(std::clamp<int64_t>(dims_[axis], 1, kRunLanes));
  for (const Leaf& leaf : leaves_) {
    const int64_t stride = std::abs(leaf.reader.stride(axis));
    cost += stride == 1 ? 0.1 : stride == 0 ? 0.3 : std::min(4.0, 0.5 * static_cast<double>(stride));
  }
  return cost;
}

Expected<const Lane*> Tape::pull(const Line& line, const Values& values) {
  Lane* buffer = buffers_.data();
  for (size_t k = 0; k < leaves_.size(); ++k, buffer += kRunLanes) {
    const Leaf& leaf = leaves_[k];
    const Lane* source = leaf.source ? values[static_cast<size_t>(*leaf.source)]->lanes.data() : nullptr;
    runs_[k] = LUMEN_TRY(leaf.reader.read(line, source, buffer));
  }
  for (size_t k = 0; k < steps_.size(); ++k, buffer += kRunLanes) {
    Step& step = steps_[k];
    for (size_t operand = 0; operand < step.operands.size(); ++operand) {
      step.runs[operand] = runs_[step.operands[operand]];
    }
    step.node->op->apply(step.node->fields,
                         {step.dtypes, step.runs, step.node->type.dtype, buffer, line.count, &error_});
    if (!error_.empty()) return error(std::exchange(error_, {}));
    runs_[leaves_.size() + k] = buffer;
  }
  return runs_[root_];
}

}  // namespace lumen::reference
