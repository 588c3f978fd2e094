#include "tests/support/naive_engine.h"

#include <algorithm>
#include <utility>

#include "lumen/base/check.h"

namespace lumen::egraph::naive {

NaiveEngine::NaiveEngine(const EGraph& declared) : sorts_(declared.sorts()), primitives_(declared.primitives()) {
  parents_.resize(sorts_.size());
  for (TableId t = 0; t < declared.table_count(); ++t) decls_.push_back(declared.table(t));
  for (RuleId r = 0; r < declared.rule_count(); ++r) rules_.push_back(declared.rule(r));
  rows_.resize(decls_.size());
  ran_.resize(rules_.size(), 0);
}

size_t NaiveEngine::row_count() const {
  size_t count = 0;
  for (const std::vector<NaiveRow>& rows : rows_) count += rows.size();
  return count;
}

Value NaiveEngine::find(SortId sort, Value value) {
  const Sort& s = sorts_[sort];
  if (s.kind == SortKind::eq) {
    while (parents_[sort][value] != value) value = parents_[sort][value];
    return value;
  }
  if (s.kind == SortKind::base) return value;
  const std::span<const Value> elements = s.sequences().at(value);
  std::vector<Value> sequence(elements.begin(), elements.end());
  visit_elements(s, std::span<Value>(sequence), [&](SortId e, Value& element) { element = find(e, element); });
  normalize_sequence(s.container, sequence);
  return s.sequences().intern(sequence);
}

Value NaiveEngine::constant(const Slot& slot) {
  if (slot.kind == Slot::Kind::value) return slot.index;
  return find(globals_[slot.index].first, globals_[slot.index].second);
}

// ---- matching

bool NaiveEngine::unify(const Slot& slot, Value value, Binding& binding) {
  if (!slot.is_variable()) return constant(slot) == value;
  std::optional<Value>& bound = binding[slot.index];
  if (bound.has_value()) return *bound == value;
  bound = value;
  return true;
}

void NaiveEngine::match(const Query& query, RuleId rule, size_t atom, bool fresh, const Binding& binding) {
  if (atom == query.atoms.size()) {
    Binding values = binding;
    if ((fresh || !seminaive_ || (atom == 0 && ran_[rule] == 0)) && call_all(query, values)) {
      matches_.push_back({rule, std::move(values)});
    }
    return;
  }
  const Atom& a = query.atoms[atom];
  for (const NaiveRow& row : rows_[a.table]) {
    if (budget_ == 0) return;
    --budget_;
    if (row.subsumed && !query.include_subsumed) continue;
    Binding next = binding;
    bool ok = true;
    for (size_t c = 0; ok && c < a.slots.size(); ++c) ok = unify(a.slots[c], row.columns[c], next);
    if (ok) match(query, rule, atom + 1, fresh || row.born > ran_[rule], next);
  }
}

// Calls in any order that works, until all have been done.
bool NaiveEngine::call_all(const Query& query, Binding& binding) {
  std::vector<bool> done(query.calls.size(), false);
  for (size_t left = query.calls.size(); left > 0;) {
    const size_t before = left;
    for (size_t i = 0; i < query.calls.size(); ++i) {
      const PrimitiveCall& c = query.calls[i];
      if (done[i]) continue;
      const bool ready = std::all_of(c.args.begin(), c.args.end(), [&](const Slot& slot) {
        return !slot.is_variable() || binding[slot.index].has_value();
      });
      if (!ready) continue;
      std::vector<Value> args;
      for (const Slot& slot : c.args) args.push_back(slot.is_variable() ? *binding[slot.index] : constant(slot));
      const std::optional<Value> result = call(c.primitive, args);
      if (!result.has_value() || !unify(c.result, *result, binding)) return false;
      done[i] = true;
      --left;
    }
    CHECK(left < before, "a call whose arguments nothing binds");
  }
  return true;
}

std::optional<Value> NaiveEngine::call(PrimitiveId primitive, const std::vector<Value>& args) {
  PrimitiveContext context(sorts_);
  return primitives_[primitive].apply(context, args);
}

// ---- actions

NaiveRow* NaiveEngine::row_of(TableId table, std::span<const Value> args) {
  for (NaiveRow& row : rows_[table]) {
    if (std::equal(args.begin(), args.end(), row.columns.begin(), row.columns.end() - 1)) return &row;
  }
  return nullptr;
}

Value NaiveEngine::make(TableId table, const std::vector<Value>& args) {
  if (const NaiveRow* row = row_of(table, args)) return row->columns.back();
  NaiveRow row{args, false, step_};
  std::vector<Value>& parents = parents_[decls_[table].result];
  if (decls_[table].constructor) parents.push_back(static_cast<Value>(parents.size()));
  row.columns.push_back(decls_[table].constructor ? parents.back() : Value{0});
  rows_[table].push_back(row);
  return row.columns.back();
}

void NaiveEngine::act(std::span<const Action> actions, Binding& binding) {
  for (const Action& action : actions) {
    std::vector<Value> args;
    for (const Slot& slot : action.args) args.push_back(slot.is_variable() ? *binding[slot.index] : constant(slot));
    switch (action.kind) {
      case Action::Kind::make:
        binding[action.result.index] = make(action.target, args);
        break;
      case Action::Kind::call: {
        const std::optional<Value> result = call(action.target, args);
        CHECK(result.has_value(), "a partial primitive in an action");
        binding[action.result.index] = *result;
        break;
      }
      case Action::Kind::unite: {
        const Value a = find(action.target, args[0]);
        const Value b = find(action.target, args[1]);
        parents_[action.target][std::max(a, b)] = std::min(a, b);
        break;
      }
      case Action::Kind::set:
      case Action::Kind::erase:
      case Action::Kind::subsume:
        changes_.push_back({action.kind, action.target, args});
        break;
      default:
        CHECK(false, "an action that this engine does not know");
    }
  }
}

// Erasing is for rows of before the step, by the arguments they had then; then sets, then subsumptions.
void NaiveEngine::apply_changes() {
  const std::vector<Change> changes = std::exchange(changes_, {});
  for (const Change& change : changes) {
    if (change.kind != Action::Kind::erase) continue;
    const NaiveRow* row = row_of(change.table, change.values);
    if (row != nullptr && row->born < step_)
      rows_[change.table].erase(rows_[change.table].begin() + (row - rows_[change.table].data()));
  }
  for (const Change& change : changes) {
    if (change.kind == Action::Kind::set) put(change.table, {change.values, false, step_});
  }
  for (const Change& change : changes) {
    if (change.kind != Action::Kind::subsume) continue;
    make(change.table, change.values);
    row_of(change.table, change.values)->subsumed = true;
  }
}

std::vector<Value> NaiveEngine::run_actions(uint32_t variables, std::span<const Action> actions) {
  ++step_;
  Binding binding(variables);
  act(actions, binding);
  apply_changes();
  rebuild();
  std::vector<Value> values;
  for (const std::optional<Value>& value : binding) values.push_back(value.value_or(0));
  return values;
}

bool NaiveEngine::run(std::span<const RuleId> rules, bool seminaive, uint64_t budget) {
  matches_.clear();
  seminaive_ = seminaive;
  budget_ = budget;
  for (const RuleId rule : rules) {
    match(rules_[rule].query, rule, 0, false, Binding(rules_[rule].query.variables));
  }
  if (budget_ == 0) return false;
  for (const RuleId rule : rules) ran_[rule] = step_;
  ++step_;
  for (Match& match : matches_) {
    match.values.resize(rules_[match.rule].variables);
    act(rules_[match.rule].actions, match.values);
  }
  apply_changes();
  rebuild();
  return true;
}

// ---- rebuilding

Value NaiveEngine::merged(TableId table, Value old_value, Value new_value) {
  const TableDecl& decl = decls_[table];
  switch (decl.merge) {
    case Merge::unite: {
      if (sorts_[decl.result].kind == SortKind::eq) {
        const Value a = find(decl.result, old_value);
        const Value b = find(decl.result, new_value);
        parents_[decl.result][std::max(a, b)] = std::min(a, b);
      }
      return old_value;
    }
    case Merge::old:
      return old_value;
    case Merge::fresh:
      return new_value;
    default:
      break;
  }
  Binding binding(decl.merge_lambda.variables);
  binding[0] = old_value;
  binding[1] = new_value;
  act(decl.merge_lambda.actions, binding);
  const Slot& result = decl.merge_lambda.result;
  return result.is_variable() ? *binding[result.index] : constant(result);
}

void NaiveEngine::put(TableId table, const NaiveRow& row) {
  NaiveRow* there = row_of(table, std::span(row.columns).first(row.columns.size() - 1));
  if (there == nullptr) {
    rows_[table].push_back(row);
    return;
  }
  there->subsumed = there->subsumed || row.subsumed;
  const Value value = merged(table, there->columns.back(), row.columns.back());
  if (value == there->columns.back()) return;
  there->columns.back() = value;
  there->born = step_;
}

// Rows that are canonical stay; the others follow in their new form.
bool NaiveEngine::rebuild_table(TableId table) {
  std::vector<NaiveRow> changed;
  std::vector<NaiveRow> same;
  for (NaiveRow& row : rows_[table]) {
    NaiveRow form = row;
    for (size_t c = 0; c < row.columns.size(); ++c) {
      const SortId sort = c + 1 < row.columns.size() ? decls_[table].params[c] : decls_[table].result;
      form.columns[c] = find(sort, row.columns[c]);
    }
    form.born = form.columns == row.columns ? row.born : step_;
    (form.columns == row.columns ? same : changed).push_back(std::move(form));
  }
  rows_[table] = std::move(same);
  for (const NaiveRow& row : changed) put(table, row);
  return !changed.empty();
}

void NaiveEngine::rebuild() {
  for (bool again = true; again;) {
    again = false;
    for (TableId table = 0; table < rows_.size(); ++table) again = rebuild_table(table) || again;
  }
}

}  // namespace lumen::egraph::naive
