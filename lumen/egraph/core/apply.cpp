#include "lumen/egraph/core/apply.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lumen/egraph/core/many_rows.h"

namespace lumen::egraph {

namespace {

// Below this many matches in a block the threads cost more than they bring.
constexpr size_t kManyMatches = 3072;
// Matches whose memory accesses overlap.
constexpr size_t kBatch = 256;

class WriteContext final : public PrimitiveContext {
 public:
  explicit WriteContext(EGraph::State& state) : PrimitiveContext(state.sorts), state_(state) {}
  std::optional<Value> call_table(TableId table, std::span<const Value> args) override {
    std::vector<Value> key(args.begin(), args.end());
    const TableDecl& decl = state_.tables[table].decl;
    state_.canonicalize(decl, key.data());
    const uint64_t h = Table::hash(key.data(), static_cast<uint32_t>(key.size()));
    if (decl.constructor || decl.relation) return state_.make(table, key.data(), h);
    const Row r = state_.tables[table].find(key.data(), h);
    if (r == kNone) return std::nullopt;
    return state_.tables[table].result(r);
  }
  std::optional<Value> call_primitive(PrimitiveId primitive, std::span<const Value> args) override {
    return state_.primitives[primitive].apply(*this, args);
  }
  bool unite(SortId sort, Value a, Value b) override {
    state_.unite(sort, a, b, {});
    return true;
  }
  bool set(TableId table, std::span<const Value> args, Value value) override {
    std::vector<Value> values(args.begin(), args.end());
    values.push_back(value);
    state_.stage(PendingChange::Kind::set, table, values);
    return true;
  }
  bool erase(TableId table, std::span<const Value> args) override {
    state_.stage(PendingChange::Kind::erase, table, args);
    return true;
  }
  int64_t count_rows(std::span<const std::string> tables) override { return state_.count_rows(tables); }

 private:
  EGraph::State& state_;
};

}  // namespace

Head::Head(uint32_t given, uint32_t variables, std::span<const Action> actions) : registers(variables) {
  std::vector<bool> used(variables, false);
  for (const Action& action : actions) {
    Step& step = steps.emplace_back(Step{action.kind, action.target, {}, action.result.index, &action.message});
    for (const Slot& slot : action.args) {
      step.args.push_back(register_of(slot));
      if (slot.is_variable()) used[slot.index] = true;
    }
  }
  for (uint32_t v = 0; v < given; ++v) {
    if (used[v]) inputs.push_back(v);
  }
}

uint32_t Head::register_of(const Slot& slot) {
  if (slot.is_variable()) return slot.index;
  for (const Constant& constant : constants) {
    if (constant.slot == slot) return constant.reg;
  }
  constants.push_back({registers, slot});
  return registers++;
}

Applier::Applier(EGraph::State& state, const Head& head, RuleId rule, size_t most)
    : state_(state),
      head_(head),
      rule_(rule),
      stride_(std::clamp<size_t>(most, 1, kBlock)),
      regs_(head.registers * stride_, 0),
      hashes_(stride_),
      context_(std::make_unique<WriteContext>(state)) {
  for (const Head::Constant& constant : head.constants) {
    Value value = constant.slot.index;
    if (constant.slot.kind == Slot::Kind::global) {
      const auto& [sort, given] = state.globals[constant.slot.index];
      value = state.find(sort, given);
    }
    std::fill_n(lane(constant.reg), stride_, value);
  }
  size_t widest = 1;
  for (const Head::Step& step : head.steps) widest = std::max(widest, step.args.size());
  keys_.resize(widest * stride_);
  width_ = head.inputs.size();
  if (state.trace == nullptr || rule == kNone) return;
  const std::vector<Atom>& atoms = state.rules[rule]->rule.query.atoms;
  width_ += atoms.size();
  atom_of_.resize(head.registers, kNone);
  for (uint32_t a = 0; a < atoms.size(); ++a) {
    if (atoms[a].slots.back().is_variable()) atom_of_[atoms[a].slots.back().index] = a;
  }
}

template <class Work>
void Applier::in_batches(size_t count, const Work& work) {
  if (state_.workers == nullptr || count < kManyMatches) return work(size_t{0}, count);
  const size_t batches = (count + kBatch - 1) / kBatch;
  state_.workers->run(batches, [&](size_t b) { work(b * kBatch, std::min(count, (b + 1) * kBatch)); });
}

bool Applier::apply(std::span<const Value> matches, size_t count) {
  for (size_t first = 0; first < count; first += stride_) {
    const size_t block = std::min(stride_, count - first);
    in_batches(block, [&](size_t begin, size_t end) {
      for (size_t k = 0; k < head_.inputs.size(); ++k) {
        Value* to = lane(head_.inputs[k]);
        const Value* from = matches.data() + first * width_ + k;
        for (size_t i = begin; i < end; ++i) to[i] = from[i * width_];
      }
    });
    if (!atom_of_.empty()) begin_trace(matches.subspan(first * width_, block * width_), block);
    for (const Head::Step& step : head_.steps) {
      if (!run(step, block)) return false;
    }
  }
  return true;
}

bool Applier::run(const Head::Step& step, size_t count) {
  switch (step.kind) {
    case Action::Kind::call:
      return call(step, count);
    case Action::Kind::make:
      make(step, count);
      return true;
    case Action::Kind::read:
      return read(step, count);
    case Action::Kind::unite:
      unite(step, count);
      return true;
    case Action::Kind::set:
    case Action::Kind::erase:
    case Action::Kind::subsume:
      stage(step, count);
      return true;
    case Action::Kind::fail:
      state_.failure = *step.message;
      return false;
  }
  return true;
}

// Canonical arguments and their hashes, for matches [begin, end) of the block.
void Applier::make_keys(const Head::Step& step, size_t begin, size_t end) {
  const Table& table = state_.tables[step.target];
  const uint32_t params = table.params;
  for (uint32_t p = 0; p < params; ++p) {
    const Value* from = lane(step.args[p]);
    Value* to = keys_.data() + p;
    const SortId sort = table.decl.params[p];
    if (!state_.holds_ids(sort)) {
      for (size_t i = begin; i < end; ++i) to[i * params] = from[i];
    } else {
      for (size_t i = begin; i < end; ++i) to[i * params] = state_.root_of(sort, from[i]);
    }
  }
  for (size_t i = begin; i < end; ++i) hashes_[i] = Table::hash(keys_.data() + i * params, params);
}

void Applier::make(const Head::Step& step, size_t count) {
  const Table& table = state_.tables[step.target];
  Value* result = lane(step.result);
  if (state_.workers != nullptr && state_.trace == nullptr && count >= kManyMatches) {
    in_batches(count, [&](size_t begin, size_t end) { make_keys(step, begin, end); });
    counts.rows += make_many(state_, step.target, keys_.data(), {hashes_.data(), count}, result);
    return;
  }
  const uint32_t params = table.params;
  const Row before = table.rows();
  for (size_t begin = 0; begin < count; begin += kBatch) {
    const size_t end = std::min(count, begin + kBatch);
    make_keys(step, begin, end);
    for (size_t i = begin; i < end; ++i) table.prefetch(hashes_[i]);
    for (size_t i = begin; i < end; ++i) table.prefetch_row(hashes_[i]);
    for (size_t i = begin; i < end; ++i) {
      const Row rows = table.rows();
      const Value* key = keys_.data() + i * params;
      result[i] = state_.make(step.target, key, hashes_[i]);
      if (state_.trace != nullptr) result[i] = trace_made(step, {key, params}, result[i], i, table.rows() != rows);
    }
  }
  counts.rows += table.rows() - before;
}

// Notes a term that was made; the id that stands for this very term in the trace.
Value Applier::trace_made(const Head::Step& step, std::span<const Value> args, Value id, size_t lane, bool fresh) {
  const TableDecl& decl = state_.tables[step.target].decl;
  if (!decl.constructor) return id;
  if (!fresh) return state_.trace->row_id(step.target, state_.tables[step.target].find(args.data()));
  state_.trace->add_origin(decl.result, id, step.target, args, reason(lane));
  return id;
}

bool Applier::read(const Head::Step& step, size_t count) {
  const Table& table = state_.tables[step.target];
  Value* result = lane(step.result);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < step.args.size(); ++k) keys_[k] = lane(step.args[k])[i];
    state_.canonicalize(table.decl, keys_.data());
    const Row r = table.find(keys_.data());
    if (r == kNone) {
      state_.failure = "`" + table.decl.name + "` has no value for these arguments";
      return false;
    }
    result[i] = table.result(r);
  }
  return true;
}

bool Applier::call(const Head::Step& step, size_t count) {
  const Primitive& primitive = state_.primitives[step.target];
  Value* result = lane(step.result);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < step.args.size(); ++k) keys_[k] = lane(step.args[k])[i];
    bool known = false;
    std::optional<Value> value;
    if (primitive.quick != Quick::none) value = run_quick(primitive.quick, keys_[0], keys_[1], known);
    if (!known) value = primitive.apply(*context_, {keys_.data(), step.args.size()});
    if (!value.has_value()) {
      state_.failure = "primitive `" + primitive.name + "` has no value for these arguments";
      return false;
    }
    result[i] = *value;
  }
  return true;
}

void Applier::unite(const Head::Step& step, size_t count) {
  const Value* a = lane(step.args[0]);
  const Value* b = lane(step.args[1]);
  if (state_.workers != nullptr && state_.trace == nullptr && count >= kManyMatches) {
    counts.unions += unite_many(state_, step.target, {a, count}, {b, count});
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const bool merged = state_.trace == nullptr
                            ? state_.unite(step.target, a[i], b[i], {})
                            : state_.unite(step.target, traced(step.args[0], i), traced(step.args[1], i), reason(i));
    if (merged) ++counts.unions;
  }
}

void Applier::stage(const Head::Step& step, size_t count) {
  const PendingChange::Kind kind = step.kind == Action::Kind::erase     ? PendingChange::Kind::erase
                                   : step.kind == Action::Kind::subsume ? PendingChange::Kind::subsume
                                                                        : PendingChange::Kind::set;
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < step.args.size(); ++k) keys_[k] = lane(step.args[k])[i];
    if (state_.trace != nullptr) state_.canonicalize(state_.tables[step.target].decl, keys_.data());
    state_.stage(kind, step.target, {keys_.data(), step.args.size()});
  }
}

void Applier::begin_trace(std::span<const Value> matches, size_t count) {
  Trace& trace = *state_.trace;
  const std::vector<Atom>& atoms = state_.rules[rule_]->rule.query.atoms;
  first_firing_ = static_cast<uint32_t>(trace.firings.size());
  for (size_t i = 0; i < count; ++i) {
    const uint32_t start = static_cast<uint32_t>(trace.firing_values.size());
    trace.firings.push_back({rule_, start, static_cast<uint32_t>(atoms.size())});
    for (size_t a = 0; a < atoms.size(); ++a) {
      const Row row = matches[i * width_ + head_.inputs.size() + a];
      trace.firing_values.push_back(trace.row_id(atoms[a].table, row));
    }
  }
}

Reason Applier::reason(size_t lane) const {
  if (atom_of_.empty()) return {};
  return {Reason::Kind::rule, rule_, first_firing_ + static_cast<uint32_t>(lane), kNone};
}

Value Applier::traced(uint32_t reg, size_t lane) const {
  const Value value = regs_[reg * stride_ + lane];
  if (atom_of_.empty() || atom_of_[reg] == kNone) return value;
  const Trace& trace = *state_.trace;
  const Value id = trace.firing_values[trace.firings[first_firing_ + lane].start + atom_of_[reg]];
  return id == kNone ? value : id;
}

}  // namespace lumen::egraph
