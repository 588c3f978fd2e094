#include "lumen/egraph/core/search.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lumen::egraph {

namespace {

// A bucket this small is not worth a second index on the table, nor is a table whose buckets are mostly small.
constexpr size_t kSmallBucket = 32;
constexpr Row kLargeBuckets = 8;

class ReadContext final : public PrimitiveContext {
 public:
  ReadContext(EGraph::State& state, const std::vector<Row>& limits)
      : PrimitiveContext(state.sorts), state_(state), limits_(limits) {}
  std::optional<Value> call_table(TableId table, std::span<const Value> args) override {
    const Table& t = state_.tables[table];
    const Row r = t.find(args.data());
    if (r == kNone || r >= limits_[table]) return std::nullopt;
    return t.result(r);
  }
  std::optional<Value> call_primitive(PrimitiveId primitive, std::span<const Value> args) override {
    return state_.primitives[primitive].apply(*this, args);
  }
  int64_t count_rows(std::span<const std::string> tables) override { return state_.count_rows(tables); }

 private:
  EGraph::State& state_;
  const std::vector<Row>& limits_;
};

// The part of ascending `rows` in [begin, end).
std::span<const Row> within(std::span<const Row> rows, Row begin, Row end) {
  if (!rows.empty() && rows.front() < begin) {
    rows = {std::lower_bound(rows.begin(), rows.end(), begin), rows.end()};
  }
  if (!rows.empty() && rows.back() >= end) {
    rows = {rows.begin(), std::lower_bound(rows.begin(), rows.end(), end)};
  }
  return rows;
}

uint32_t column_of(const Step& step, uint32_t reg) {
  for (const Step::ColumnRegister& bind : step.binds) {
    if (bind.reg == reg) return bind.column;
  }
  return kNone;
}

// The quick comparisons among the calls of a step, to be tried on a row before it is joined. Without branches: they
// would go either way.
class Guards {
 public:
  Guards(const EGraph::State& state, const Step& step, std::span<const Value> regs) {
    for (const BoundCall& call : step.calls) {
      const Quick quick = state.primitives[call.primitive].quick;
      if (!compares(quick) || count_ == guards_.size()) break;  // what comes after may need its result
      Guard& guard = guards_[count_++];
      guard.left = {column_of(step, call.args[0]), regs[call.args[0]]};
      guard.right = {column_of(step, call.args[1]), regs[call.args[1]]};
      if (quick == Quick::greater || quick == Quick::greater_equal) std::swap(guard.left, guard.right);
      guard.or_equal = quick == Quick::less_equal || quick == Quick::greater_equal ? 1 : 0;
    }
  }
  bool may_hold(const Value* row) const {
    bool may = true;
    for (uint32_t i = 0; i < count_; ++i) {
      const Value a = guards_[i].left.of(row);
      const Value b = guards_[i].right.of(row);
      const bool large = ((a | b) & kInterned) != 0;  // decided when it is joined
      may = may & (large | (a < uint64_t{b} + guards_[i].or_equal));
    }
    return may;
  }

 private:
  struct Side {
    uint32_t column = kNone;  // of the row; kNone: the value is known
    Value value = 0;
    Value of(const Value* row) const { return column == kNone ? value : row[column]; }
  };
  struct Guard {  // left < right, or equal
    Side left, right;
    uint32_t or_equal = 0;
  };
  std::array<Guard, 2> guards_;
  uint32_t count_ = 0;
};

// Fetches, for a row that is joined soon, what the join after it will look at first.
class LookAhead {
 public:
  LookAhead(const EGraph::State& state, const Step& step, const Node& next, std::span<const Value> regs) {
    if (next.steps.empty()) return;
    const Step& then = next.steps.front();
    const Table& table = state.tables[then.table];
    if (!then.lookup) {
      for (const Step::ColumnRegister& bound : then.bound) {
        const uint32_t column = column_of(step, bound.reg);
        if (column == kNone || index_ != nullptr) continue;
        index_ = table.index(bound.column);
        columns_[0] = column;
      }
      return;
    }
    if (table.params > kMost) return;
    lookup_ = &table;
    for (const Step::ColumnRegister& bound : then.bound) {
      if (bound.column == table.params) continue;
      columns_[bound.column] = column_of(step, bound.reg);
      values_[bound.column] = regs[bound.reg];
    }
  }
  [[gnu::always_inline]] void fetch(const Value* row) const {
    if (index_ != nullptr) {
      index_->prefetch(row[columns_[0]]);
    } else if (lookup_ != nullptr) {
      std::array<Value, kMost> args = values_;
      for (uint32_t i = 0; i < lookup_->params; ++i) {
        if (columns_[i] != kNone) args[i] = row[columns_[i]];
      }
      lookup_->prefetch(Table::hash(args.data(), lookup_->params));
    }
  }

 private:
  static constexpr uint32_t kMost = 8;
  const Index* index_ = nullptr;
  const Table* lookup_ = nullptr;
  std::array<uint32_t, kMost> columns_{};  // of the row; kNone: the value is known
  std::array<Value, kMost> values_{};
};

}  // namespace

std::vector<Value> constant_values(const Plan& plan, const std::function<Value(uint32_t)>& global) {
  std::vector<Value> values;
  for (const Plan::Constant& constant : plan.constants()) {
    const bool is_global = constant.slot.kind == Slot::Kind::global;
    values.push_back(is_global ? global(constant.slot.index) : constant.slot.index);
  }
  return values;
}

Search::Search(const SearchShared& shared, std::function<bool(GrowArray<Value>&)> sink)
    : shared_(shared),
      state_(shared.state),
      sink_(std::move(sink)),
      sink_from_(sink_ && shared.width() > 0 ? kSinkMatches * shared.width() : ~size_t{0}),
      regs_(shared.plan.registers(), 0),
      rows_(shared.plan.atoms(), kNone),
      args_(16, 0),
      context_(std::make_unique<ReadContext>(shared.state, *shared.limits)) {
  const std::span<const Plan::Constant> constants = shared.plan.constants();
  for (size_t i = 0; i < constants.size(); ++i) regs_[constants[i].reg] = shared.constants[i];
  for (size_t a = 0; a < shared.plan.atoms(); ++a) {
    args_.resize(std::max(args_.size(), shared.plan.columns(a).size()));
  }
}

void Search::set_frozen(bool frozen) { context_->frozen = frozen; }

void Search::set_ranges(std::span<const AtomRange> ranges, bool only_fresh) {
  ranges_.assign(ranges.begin(), ranges.end());
  only_fresh_ = only_fresh;
}

bool Search::start() {
  first_ = Candidates{};
  if (!run_calls(shared_.plan.root_calls())) return false;
  const Node& root = *shared_.plan.root();
  if (root.steps.empty()) {
    first_.count = 1;
    return true;
  }
  return choose(root, first_);
}

void Search::start_as(const Search& other) {
  ranges_ = other.ranges_;
  only_fresh_ = other.only_fresh_;
  deadline_ = other.deadline_;
  regs_ = other.regs_;
  first_ = other.first_;
}

bool Search::run(size_t begin, size_t end) {
  if (first_.step == nullptr) return !only_fresh_ ? emit() : true;
  const Step& step = *first_.step;
  const Node& next = shared_.plan.next(*shared_.plan.root(), step);
  constexpr size_t kChunk = 1024;
  for (size_t at = begin; at < end; at += kChunk) {
    visited_ = std::min(end, at + kChunk);
    if (!join_all(first_, next, at, visited_, false)) return false;
  }
  return true;
}

bool Search::visit(const Node& node, bool fresh) {
  if (node.steps.empty()) return fresh || !only_fresh_ ? emit() : true;
  Candidates best;
  if (!choose(node, best)) return !needs_serial;
  const Node& next = shared_.plan.next(node, *best.step);
  return join_all(best, next, 0, best.count, fresh);
}

// Whether a row is there and has the values that are known, those of `column` set aside.
[[gnu::always_inline]] inline bool Search::fits(const Step& step, Row r, uint32_t column) const {
  const Table& table = state_.tables[step.table];
  const Value* row = table.row(r);
  if (row[table.params] == kNone) return false;
  if (table.any_subsumed() && table.subsumed(r) && !shared_.plan.include_subsumed()) return false;
  for (const Step::ColumnRegister& bound : step.bound) {
    if (bound.column != column && row[bound.column] != regs_[bound.reg]) return false;
  }
  for (const auto& [first, second] : step.repeated) {
    if (row[first] != row[second]) return false;
  }
  return true;
}

// Joins the rows [begin, end) of some candidates: some at a time, first those that can match, so that what they need is
// on its way when they are joined.
bool Search::join_all(const Candidates& some, const Node& next, size_t begin, size_t end, bool fresh) {
  const Step& step = *some.step;
  const auto row_at = [&](size_t i) { return some.rows != nullptr ? some.rows[i] : some.first + static_cast<Row>(i); };
  constexpr size_t kBatch = 16;
  std::array<Row, kBatch> kept;
  if (end - begin == 1) {
    if (++joins_ >= pause_at_ && !pause()) return false;
    return !fits(step, row_at(begin), some.column) || join(next, step, row_at(begin), fresh);
  }
  const Guards guards(state_, step, regs_);
  const LookAhead ahead(state_, step, next, regs_);
  for (size_t i = begin; i < std::min(end, begin + kBatch); ++i) {
    __builtin_prefetch(state_.tables[step.table].row(row_at(i)));
  }
  for (size_t first = begin; first < end; first += kBatch) {
    const size_t last = std::min(end, first + kBatch);
    joins_ += last - first;
    if (joins_ >= pause_at_ && !pause()) return false;
    const Table& table = state_.tables[step.table];
    for (size_t i = last; i < std::min(end, last + kBatch); ++i) __builtin_prefetch(table.row(row_at(i)));
    size_t count = 0;
    for (size_t i = first; i < last; ++i) {
      const Row r = row_at(i);
      kept[count] = r;
      count += static_cast<size_t>(fits(step, r, some.column) && guards.may_hold(table.row(r)));
    }
    for (size_t i = 0; i < count; ++i) ahead.fetch(table.row(kept[i]));
    for (size_t i = 0; i < count; ++i) {
      if (!join(next, step, kept[i], fresh)) return false;
    }
  }
  return true;
}

bool Search::join(const Node& next, const Step& step, Row r, bool fresh) {
  const Value* row = state_.tables[step.table].row(r);
  for (const Step::ColumnRegister& bind : step.binds) regs_[bind.reg] = row[bind.column];
  rows_[step.atom] = r;
  if (!step.calls.empty() && !run_calls(step.calls)) return !needs_serial;
  return visit(next, fresh || r >= ranges_[step.atom].fresh);
}

// False when some atom has no candidate: nothing below can match.
bool Search::choose(const Node& node, Candidates& best) {
  best.count = ~size_t{0};
  for (const Step& step : node.steps) {
    Candidates some;
    if (!candidates_of(step, some)) return false;
    if (some.count < best.count) best = some;
  }
  return true;
}

bool Search::candidates_of(const Step& step, Candidates& some) {
  const AtomRange& range = ranges_[step.atom];
  const Table& table = state_.tables[step.table];
  some.step = &step;
  if (step.lookup) {
    for (const Step::ColumnRegister& bound : step.bound) args_[bound.column] = regs_[bound.reg];
    const Row r = table.find(args_.data());
    some.count = 1;
    some.first = r;
    return r != kNone && r >= range.begin && r < range.end;
  }
  some.first = range.begin;
  some.count = range.end > range.begin ? range.end - range.begin : 0;
  if (some.count == 0) return false;
  // The index that tells most apart.
  const Index* first = nullptr;
  uint32_t first_at = 0;
  for (uint32_t i = 0; i < step.bound.size(); ++i) {
    const Index* index = table.index(step.bound[i].column);
    if (index == nullptr || !index->settled) continue;
    if (first == nullptr || index->values() > first->values()) {
      first = index;
      first_at = i;
    }
  }
  if (first == nullptr && step.bound.empty()) return true;
  if (first == nullptr) first_at = static_cast<uint32_t>(step.bound.size() - 1);
  if (first == nullptr || first->reach < (*shared_.limits)[step.table]) {
    first = make_index(step.table, step.bound[first_at].column);
    if (first == nullptr) return false;
  }
  first->set_used(true);
  const std::span<const Row> some_rows = within(first->find(regs_[step.bound[first_at].reg]), range.begin, range.end);
  some.count = some_rows.size();
  some.rows = some_rows.data();
  some.column = step.bound[first_at].column;
  if (some.count == 0) return false;
  if (some.count <= kSmallBucket || step.bound_columns == 0) return true;
  // Many rows have this value, and usually do: an index over all bound columns pays.
  if (first->reach < kLargeBuckets * first->values()) return true;
  const Index* all = table.composite(step.bound_columns);
  if (all == nullptr || all->reach < (*shared_.limits)[step.table]) {
    if (context_->frozen) {
      needs_serial = true;
      return false;
    }
    all = &state_.tables[step.table].catch_up_composite(step.bound_columns, (*shared_.limits)[step.table]);
  }
  all->set_used(true);
  for (size_t i = 0; i < step.bound.size(); ++i) args_[i] = regs_[step.bound[i].reg];
  const Value key = Table::composite_key({args_.data(), step.bound.size()});
  const std::span<const Row> rows = within(all->find(key), range.begin, range.end);
  some.count = rows.size();
  some.rows = rows.data();
  some.column = kNone;
  return some.count > 0;
}

const Index* Search::make_index(TableId table, uint32_t column) {
  Table& t = state_.tables[table];
  const Index* known = t.index(column);
  if (known != nullptr && known->reach >= (*shared_.limits)[table]) return known;
  if (context_->frozen) {
    needs_serial = true;
    return nullptr;
  }
  return &t.catch_up(column, (*shared_.limits)[table], state_.range_of(t.decl.column_sort(column)));
}

// False when time or budget are used up.
bool Search::pause() {
  exhausted = joins_ >= budget_;
  timed_out = std::chrono::steady_clock::now() > deadline_;
  pause_at_ = std::min(joins_ + 0x10000, budget_);
  return !exhausted && !timed_out;
}

bool Search::run_calls(std::span<const BoundCall> calls) {
  for (const BoundCall& call : calls) {
    if (args_.size() < call.args.size()) args_.resize(call.args.size());
    for (size_t i = 0; i < call.args.size(); ++i) args_[i] = regs_[call.args[i]];
    const Primitive& primitive = state_.primitives[call.primitive];
    bool known = false;
    std::optional<Value> result = run_quick(primitive.quick, args_[0], args_[1], known);
    if (!known) {
      if (primitive.serial && context_->frozen) {
        needs_serial = true;
        return false;
      }
      result = primitive.apply(*context_, {args_.data(), call.args.size()});
    }
    if (!result.has_value()) {
      if (context_->needs_serial) needs_serial = true;
      return false;
    }
    if (call.binds) {
      regs_[call.result] = *result;
    } else if (regs_[call.result] != *result) {
      return false;
    }
  }
  return true;
}

bool Search::emit() {
  ++found;
  Value* to = matches.append(shared_.width());
  for (const uint32_t reg : shared_.outputs) *to++ = regs_[reg];
  if (shared_.rows) std::copy(rows_.begin(), rows_.end(), to);
  if (stop_at_first) return false;
  if (matches.size() >= sink_from_) return sink_(matches);
  return true;
}

}  // namespace lumen::egraph
