#include "lumen/egraph/core/egraph.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "lumen/base/check.h"
#include "lumen/egraph/core/apply.h"
#include "lumen/egraph/core/search.h"
#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

RuleState::RuleState(Rule r)
    : rule(std::move(r)), plan(rule.query), head(rule.query.variables, rule.variables, rule.actions) {
  report.name = rule.name;
}

RuleState::RuleState(const RuleState& other)
    : rule(other.rule),
      plan(rule.query),
      head(rule.query.variables, rule.variables, rule.actions),
      report(other.report) {}

EGraph::State::State(const State& other)
    : sorts(other.sorts),
      ids(other.ids),
      primitives(other.primitives),
      tables(other.tables),
      seen(other.seen),
      globals(other.globals),
      pending(other.pending),
      pending_values(other.pending_values),
      clean(other.clean),
      clean_containers(other.clean_containers),
      changes(other.changes),
      trace(other.trace == nullptr ? nullptr : std::make_unique<Trace>(*other.trace)),
      failure(other.failure) {
  for (const std::unique_ptr<RuleState>& rule : other.rules) rules.push_back(std::make_unique<RuleState>(*rule));
}

void EGraph::State::canonicalize(const TableDecl& decl, Value* args) {
  for (size_t i = 0; i < decl.params.size(); ++i) args[i] = find(decl.params[i], args[i]);
}

void EGraph::State::mark_facts(Query& query) const {
  for (Atom& atom : query.atoms) atom.fact = tables[atom.table].decl.result == kUnit;
}

bool EGraph::State::unite(SortId sort, Value a, Value b, const Reason& reason) {
  if (!ids[sort].unite(a, b)) return false;
  ++changes;
  if (trace != nullptr) trace->add_edge(sort, a, b, reason);
  return true;
}

void EGraph::State::stage(PendingChange::Kind kind, TableId table, std::span<const Value> values) {
  pending.push_back({kind, table, pending_values.size()});
  pending_values.insert(pending_values.end(), values.begin(), values.end());
}

size_t EGraph::State::bytes() const {
  size_t sum = (pending_values.capacity() + pending.capacity() * 4) * sizeof(Value);
  for (const Table& table : tables) sum += table.bytes();
  for (const UnionFind& sort_ids : ids) sum += sort_ids.bytes();
  return sum;
}

uint64_t EGraph::State::live_rows() const {
  uint64_t sum = 0;
  for (const Table& table : tables) sum += table.live();
  return sum;
}

void EGraph::State::catch_up_indexes() {
  struct Behind {
    TableId table;
    uint64_t columns;
    Row rows;
  };
  std::vector<Behind> behind;
  size_t rows = 0;
  for (TableId t = 0; t < tables.size(); ++t) {
    tables[t].for_each_index([&](uint64_t columns, Index& index) {
      index.settled = true;
      if (index.reach == tables[t].rows() || !index.used()) return;
      index.set_used(false);
      behind.push_back({t, columns, tables[t].rows() - index.reach});
      rows += behind.back().rows;
    });
  }
  const auto range = [&](const Behind& one, uint32_t column) {
    return range_of(tables[one.table].decl.column_sort(column));
  };
  const auto catch_up = [&](const Behind& one) {
    Table& table = tables[one.table];
    if (!std::has_single_bit(one.columns)) {
      table.catch_up_composite(one.columns, table.rows());
      return;
    }
    const uint32_t column = static_cast<uint32_t>(std::countr_zero(one.columns));
    table.catch_up(column, table.rows(), range(one, column));
  };
  if (workers == nullptr || rows <= 10000) {
    for (const Behind& one : behind) catch_up(one);
    return;
  }
  // The largest first: the threads end at about the same time. One that is more than a thread's share is divided.
  std::stable_sort(behind.begin(), behind.end(), [](const Behind& a, const Behind& b) { return a.rows > b.rows; });
  const uint32_t shares = std::min(Index::kParts, static_cast<uint32_t>(std::bit_floor(workers->threads())));
  std::vector<Behind> whole;
  for (const Behind& one : behind) {
    if (!std::has_single_bit(one.columns) || one.rows * workers->threads() <= rows) {
      whole.push_back(one);
      continue;
    }
    Table& table = tables[one.table];
    const uint32_t column = static_cast<uint32_t>(std::countr_zero(one.columns));
    Index& index = table.start_catch_up(column, range(one, column));
    workers->run(shares, [&](size_t share) {
      table.catch_up_share(index, column, table.rows(), static_cast<uint32_t>(share), shares);
    });
    index.reach = table.rows();
  }
  workers->run(whole.size(), [&](size_t i) { catch_up(whole[i]); });
}

int64_t EGraph::State::count_rows(std::span<const std::string> names) const {
  if (names.empty()) return static_cast<int64_t>(live_rows() + globals.size());
  int64_t sum = 0;
  for (const Table& table : tables) {
    sum += std::count(names.begin(), names.end(), table.decl.name) * int64_t{table.live()};
  }
  return sum;
}

EGraph::EGraph() : state_(std::make_unique<State>()) {
  state_->sorts = builtin_sorts();
  state_->ids.resize(state_->sorts.size());
  state_->clean_containers.resize(state_->sorts.size(), 0);
  add_builtin_primitives(state_->primitives);
}
EGraph::EGraph(const EGraph& other) : state_(std::make_unique<State>(*other.state_)) {}
EGraph& EGraph::operator=(const EGraph& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
EGraph::EGraph(EGraph&&) noexcept = default;
EGraph& EGraph::operator=(EGraph&&) noexcept = default;
EGraph::~EGraph() = default;

SortId EGraph::add_sort(std::string name) {
  Sort sort;
  sort.name = std::move(name);
  return add_sort(std::move(sort));
}

SortId EGraph::add_sort(Sort sort) {
  State& s = *state_;
  const SortId id = static_cast<SortId>(s.sorts.size());
  const bool container = sort.kind == SortKind::container;
  s.sorts.push_back(std::move(sort));
  s.ids.emplace_back();
  s.clean_containers.push_back(0);
  if (container) add_container_primitives(id, s.sorts, s.primitives);
  return id;
}

PrimitiveId EGraph::add_primitive(Primitive primitive) {
  state_->primitives.push_back(std::move(primitive));
  return static_cast<PrimitiveId>(state_->primitives.size() - 1);
}

TableId EGraph::add_table(TableDecl decl) {
  state_->tables.emplace_back(std::move(decl));
  state_->clean.push_back(0);
  return static_cast<TableId>(state_->tables.size() - 1);
}

uint32_t EGraph::add_global(SortId sort, Value value) {
  state_->globals.emplace_back(sort, value);
  return static_cast<uint32_t>(state_->globals.size() - 1);
}

RuleId EGraph::add_rule(Rule rule) {
  state_->mark_facts(rule.query);
  state_->rules.push_back(std::make_unique<RuleState>(std::move(rule)));
  return static_cast<RuleId>(state_->rules.size() - 1);
}

const std::vector<Sort>& EGraph::sorts() const { return state_->sorts; }
const std::vector<Primitive>& EGraph::primitives() const { return state_->primitives; }
size_t EGraph::table_count() const { return state_->tables.size(); }
const TableDecl& EGraph::table(TableId table) const { return state_->tables[table].decl; }
const Rule& EGraph::rule(RuleId rule) const { return state_->rules[rule]->rule; }
size_t EGraph::rule_count() const { return state_->rules.size(); }
const RuleReport& EGraph::report(RuleId rule) const { return state_->rules[rule]->report; }
void EGraph::enable_tracing() { state_->trace = std::make_unique<Trace>(); }

Value EGraph::find(SortId sort, Value value) const { return state_->find(sort, value); }

Value EGraph::global(uint32_t index) const {
  const auto& [sort, value] = state_->globals[index];
  return state_->find(sort, value);
}

Value EGraph::make(TableId table, std::span<const Value> args) {
  const TableDecl& decl = state_->tables[table].decl;
  CHECK(decl.constructor || decl.relation, decl.name + " is a function: set it");
  std::vector<Value> key(args.begin(), args.end());
  state_->canonicalize(decl, key.data());
  const size_t before = state_->changes;
  const Value result = state_->make(table, key.data(), Table::hash(key.data(), static_cast<uint32_t>(key.size())));
  if (state_->trace != nullptr && decl.constructor && state_->changes != before) {
    state_->trace->add_origin(decl.result, result, table, key, {});
  }
  return result;
}

std::optional<Value> EGraph::lookup(TableId table, std::span<const Value> args) const {
  const Table& t = state_->tables[table];
  std::vector<Value> key(args.begin(), args.end());
  state_->canonicalize(t.decl, key.data());
  const Row r = t.find(key.data());
  if (r == kNone) return std::nullopt;
  return state_->find(t.decl.result, t.result(r));
}

Expected<void> EGraph::set(TableId table, std::span<const Value> args, Value value) {
  std::vector<Value> values(args.begin(), args.end());
  values.push_back(value);
  state_->stage(PendingChange::Kind::set, table, values);
  return rebuild();
}

bool EGraph::unite(SortId sort, Value a, Value b) { return state_->unite(sort, a, b, {}); }

Expected<void> EGraph::erase(TableId table, std::span<const Value> args) {
  LUMEN_TRY(rebuild());
  std::vector<Value> key(args.begin(), args.end());
  state_->canonicalize(state_->tables[table].decl, key.data());
  state_->stage(PendingChange::Kind::erase, table, key);
  return rebuild();
}

void EGraph::subsume(TableId table, std::span<const Value> args) {
  state_->stage(PendingChange::Kind::subsume, table, args);
}

Expected<std::vector<Value>> EGraph::run_actions(uint32_t variables, std::span<const Action> actions) {
  LUMEN_TRY(rebuild());
  const Head head(0, variables, actions);
  Applier applier(*state_, head, kNone, 1);
  if (!applier.apply({}, 1)) {
    Diag diag = error(std::exchange(state_->failure, {}));
    LUMEN_TRY(rebuild());
    return diag;
  }
  std::vector<Value> values;
  for (uint32_t v = 0; v < variables; ++v) values.push_back(applier.value(v));
  LUMEN_TRY(rebuild());
  return values;
}

Expected<void> EGraph::rebuild() { return state_->rebuild(); }

Expected<std::optional<std::vector<Value>>> EGraph::first_match(const Query& query) {
  LUMEN_TRY(rebuild());
  State& s = *state_;
  s.catch_up_indexes();
  Query marked = query;
  s.mark_facts(marked);
  const Plan plan(marked);
  std::vector<Row> limits;
  for (const Table& table : s.tables) limits.push_back(table.rows());
  SearchShared shared{s, plan, constant_values(plan, [&](uint32_t g) { return global(g); }), {}, false, &limits};
  for (uint32_t v = 0; v < query.variables; ++v) shared.outputs.push_back(v);
  Search search(shared);
  search.stop_at_first = true;
  std::vector<AtomRange> ranges;
  for (const Atom& atom : query.atoms) ranges.push_back({0, limits[atom.table], 0});
  search.set_ranges(ranges, false);
  if (search.start()) search.run(0, search.candidates());
  if (search.found == 0) return std::optional<std::vector<Value>>();
  return std::optional(std::vector<Value>(search.matches.data(), search.matches.data() + search.matches.size()));
}

Expected<bool> EGraph::holds(const Query& query) { return LUMEN_TRY(first_match(query)).has_value(); }

size_t EGraph::row_count(TableId table) const { return state_->tables[table].live(); }

void EGraph::for_each_row(TableId table,
                          const std::function<void(std::span<const Value> columns, bool subsumed)>& visit) {
  const Table& t = state_->tables[table];
  for (Row r = 0; r < t.rows(); ++r) {
    if (!t.dead(r)) visit({t.row(r), t.columns()}, t.subsumed(r));
  }
}

size_t EGraph::class_count() const {
  constexpr Row kPiece = 1 << 16;
  std::vector<std::vector<uint8_t>> marks(state_->sorts.size());  // by id; bytes, that several threads may set
  for (const Table& table : state_->tables) {
    if (!table.decl.constructor) continue;
    std::vector<uint8_t>& seen = marks[table.decl.result];
    seen.resize(state_->ids[table.decl.result].size(), 0);
    const auto mark = [&](size_t piece) {
      const Row begin = static_cast<Row>(piece) * kPiece;
      for (Row r = begin; r < std::min(table.rows(), begin + kPiece); ++r) {
        if (!table.dead(r)) std::atomic_ref(seen[table.result(r)]).store(1, std::memory_order_relaxed);
      }
    };
    const size_t pieces = (table.rows() + kPiece - 1) / kPiece;
    if (state_->workers != nullptr) {
      state_->workers->run(pieces, mark);
    } else {
      for (size_t piece = 0; piece < pieces; ++piece) mark(piece);
    }
  }
  size_t count = 0;
  for (const std::vector<uint8_t>& seen : marks) count += static_cast<size_t>(std::count(seen.begin(), seen.end(), 1));
  return count;
}

size_t EGraph::bytes() const { return state_->bytes(); }

}  // namespace lumen::egraph
