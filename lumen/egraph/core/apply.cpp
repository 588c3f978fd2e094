#include "lumen/egraph/core/apply.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lumen/egraph/core/many_rows.h"
#include "lumen/egraph/core/rows_in_order.h"

namespace lumen::egraph {

namespace {

// Below this many matches in a block the threads cost more than they bring.
constexpr size_t kManyMatches = 3072;
// Matches whose memory accesses overlap.
constexpr size_t kMatchesAtOnce = 256;

class WriteContext final : public PrimitiveContext {
 public:
  explicit WriteContext(EGraph::State& state) : PrimitiveContext(state.sorts), state_(state) {}
  std::optional<Value> call_table(TableId table, std::span<const Value> args) override {
    std::vector<Value> key(args.begin(), args.end());
    const TableDecl& decl = state_.tables[table].decl;
    state_.canonicalize(decl, key.data());
    const uint32_t h = Table::hash(key.data(), static_cast<uint32_t>(key.size()));
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

Applier::Applier(EGraph::State& state, const Head& head, RuleId rule, size_t most)
    : state_(state),
      head_(head),
      rule_(rule),
      stride_(std::clamp<size_t>(most, 1, kBlock)),
      regs_(head.registers * stride_, 0),
      hashes_(2 * stride_),
      context_(std::make_unique<WriteContext>(state)) {
  for (const Head::Constant& constant : head.constants) {
    Value value = constant.slot.index;
    if (constant.slot.kind == Slot::Kind::global) {
      const auto& [sort, given] = state.globals[constant.slot.index];
      value = state.find(sort, given);
    }
    std::fill_n(lane(constant.reg), stride_, value);
  }
  for (const Head::Step& step : head.steps) widest_ = std::max(widest_, step.args.size());
  keys_.resize(2 * widest_ * stride_);
  classes_.resize(2 * stride_);
  width_ = head.inputs.size();
  if (state.trace == nullptr || rule == kNone) return;
  const std::vector<Atom>& atoms = state.rules[rule]->rule.query.atoms;
  width_ += atoms.size();
  atom_of_.resize(head.registers, kNone);
  for (uint32_t a = 0; a < atoms.size(); ++a) {
    if (atoms[a].slots.back().is_variable()) atom_of_[atoms[a].slots.back().index] = a;
  }
}

bool Applier::apply(MatchLists matches, size_t count) {
  for (first_ = 0; first_ < count; first_ += stride_) {
    const size_t block = std::min(stride_, count - first_);
    const bool together = state_.workers != nullptr && state_.trace == nullptr && block >= kManyMatches;
    if (!(together ? run_together(matches, block) : run_alone(matches, block))) return false;
  }
  return true;
}

bool Applier::run_alone(MatchLists matches, size_t count) {
  gather(matches, 0, count);
  if (!atom_of_.empty()) begin_trace(matches, count);
  return std::all_of(head_.steps.begin(), head_.steps.end(), [&](const Head::Step& step) { return run(step, count); });
}

template <class Each>
void Applier::for_matches(MatchLists matches, size_t begin, size_t end, const Each& each) const {
  size_t start = 0;  // of the list
  for (const std::span<const Value> list : matches) {
    const size_t stop = width_ == 0 ? first_ + end : start + list.size() / width_;
    const Value* values = list.data();
    for (size_t i = std::max(first_ + begin, start); i < std::min(first_ + end, stop); ++i) {
      each(values + (i - start) * width_, i - first_);
    }
    start = stop;
  }
}

// The inputs of the matches [begin, end) to the registers.
void Applier::gather(MatchLists matches, size_t begin, size_t end) {
  for (size_t k = 0; k < head_.inputs.size(); ++k) {
    Value* to = lane(head_.inputs[k]);
    for_matches(matches, begin, end, [&](const Value* values, size_t i) { to[i] = values[k]; });
  }
}

// By all threads. What one step leaves to do for a range of the block and what the next one does first is one stage.
bool Applier::run_together(MatchLists matches, size_t count) {
  const Division division(count);
  bool gathered = false;
  std::unique_ptr<MakeMany> made;  // to be finished
  const auto stage = [&](const auto& work) {
    state_.workers->run(division.ranges, [&](size_t range) {
      const size_t begin = division.begin(range), end = division.begin(range + 1);
      if (!gathered) gather(matches, begin, end);
      if (made != nullptr) made->finish(range);
      work(range, begin, end);
    });
    gathered = true;
    made.reset();
  };
  bool second = false;  // of the two places for keys, hashes and classes
  for (const Head::Step& step : head_.steps) {
    if (step.kind == Action::Kind::make) {
      if (made == nullptr) reserve(step, count);
      second = !second;
      const size_t lane = second ? stride_ : 0;
      Value* keys = keys_.data() + widest_ * lane;
      Value* classes = classes_.data() + lane;
      uint32_t* hashes = hashes_.data() + lane;
      const MakeMany::Given given{keys, hashes, step.joins != kNone ? classes : nullptr};
      auto next = std::make_unique<MakeMany>(state_, step.target, division, given, this->lane(step.result), made.get());
      stage([&](size_t range, size_t begin, size_t end) {
        make_keys(step, begin, end, keys, hashes, classes);
        next->enter(range);
      });
      count_made(step, next->number());
      made = std::move(next);
    } else if (step.kind == Action::Kind::unite) {
      UniteMany unite(state_, step.target, division.ranges);
      const Value* a = lane(step.args[0]);
      const Value* b = lane(step.args[1]);
      stage([&](size_t range, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) unite.unite(range, a[i], b[i]);
        unite.end_range(range);
      });
      counts.unions += unite.end();
    } else {
      if (made != nullptr || !gathered) stage([](size_t, size_t, size_t) {});
      if (!run(step, count)) return false;
    }
  }
  if (made != nullptr) stage([](size_t, size_t, size_t) {});
  return true;
}

// Room for what the steps from this one on may make: while candidates are in the slots of a table they cannot move.
void Applier::reserve(const Head::Step& first, size_t count) {
  for (const Head::Step* step = &first; step != head_.steps.data() + head_.steps.size(); ++step) {
    if (step->kind != Action::Kind::make) continue;
    const auto same = [&](const Head::Step& other) {
      return other.kind == Action::Kind::make && other.target == step->target;
    };
    const auto makes = std::count_if(&first, head_.steps.data() + head_.steps.size(), same);
    state_.tables[step->target].reserve(static_cast<size_t>(makes) * count, state_.workers.get());
  }
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

// Canonical arguments and their hashes, and the classes to join, for matches [begin, end) of the block.
void Applier::make_keys(const Head::Step& step, size_t begin, size_t end, Value* keys, uint32_t* hashes,
                        Value* classes) {
  const Table& table = state_.tables[step.target];
  if (step.joins != kNone) {
    const Value* from = lane(step.joins);
    const UnionFind& ids = state_.ids[table.decl.result];
    for (size_t i = begin; i < end; ++i) classes[i] = ids.find(from[i]);
  }
  with_count(table.params, [&](auto params) {
    for (uint32_t p = 0; p < params; ++p) {
      const Value* from = lane(step.args[p]);
      Value* to = keys + p;
      const SortId sort = table.decl.params[p];
      if (!state_.holds_ids(sort)) {
        for (size_t i = begin; i < end; ++i) to[i * params] = from[i];
      } else {
        const UnionFind& ids = state_.ids[sort];
        const Value known = static_cast<Value>(ids.size());  // a container may have been made just now
        for (size_t i = begin; i < end; ++i) to[i * params] = from[i] < known ? ids.find(from[i]) : from[i];
      }
    }
    for (size_t i = begin; i < end; ++i) hashes[i] = Table::hash(keys + i * params, params);
  });
}

void Applier::make(const Head::Step& step, size_t count) {
  Value* result = lane(step.result);
  const uint32_t params = state_.tables[step.target].params;
  for (size_t begin = 0; begin < count; begin += kMatchesAtOnce) {
    const size_t end = std::min(count, begin + kMatchesAtOnce);
    make_keys(step, begin, end, keys_.data(), hashes_.data(), classes_.data());
    if (state_.trace != nullptr) {
      for (size_t i = begin; i < end; ++i) result[i] = make_traced(step, {keys_.data() + i * params, params}, i);
    } else {
      const Value* classes = step.joins != kNone ? classes_.data() + begin : nullptr;
      count_made(step, make_in_order(state_, step.target, keys_.data() + begin * params,
                                     {hashes_.data() + begin, end - begin}, classes, result + begin));
    }
  }
}

// A new term that joins a class counts as one that was united with it.
void Applier::count_made(const Head::Step& step, size_t made) {
  counts.rows += made;
  if (step.joins != kNone) counts.unions += made;
}

// Makes a term and notes it; the id that stands for this very term in the trace.
Value Applier::make_traced(const Head::Step& step, std::span<const Value> args, size_t lane) {
  const Table& table = state_.tables[step.target];
  const Row before = table.rows();
  const Value id = state_.make(step.target, args.data(), hashes_[lane]);
  const bool fresh = table.rows() != before;
  counts.rows += static_cast<uint64_t>(fresh);
  if (!table.decl.constructor) return id;
  if (!fresh) return state_.trace->row_id(step.target, table.find(args.data()));
  state_.trace->add_origin(table.decl.result, id, step.target, args, reason(lane));
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
  if (state_.trace == nullptr) {
    counts.unions += unite_in_order(state_, step.target, {a, count}, {b, count});
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (state_.unite(step.target, traced(step.args[0], i), traced(step.args[1], i), reason(i))) ++counts.unions;
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

void Applier::begin_trace(MatchLists matches, size_t count) {
  Trace& trace = *state_.trace;
  const std::vector<Atom>& atoms = state_.rules[rule_]->rule.query.atoms;
  first_firing_ = static_cast<uint32_t>(trace.firings.size());
  for_matches(matches, 0, count, [&](const Value* values, size_t) {
    const uint32_t start = static_cast<uint32_t>(trace.firing_values.size());
    trace.firings.push_back({rule_, start, static_cast<uint32_t>(atoms.size())});
    for (size_t a = 0; a < atoms.size(); ++a) {
      trace.firing_values.push_back(trace.row_id(atoms[a].table, values[head_.inputs.size() + a]));
    }
  });
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
