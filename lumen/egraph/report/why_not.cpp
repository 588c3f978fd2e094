#include "lumen/egraph/report/why_not.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "lumen/egraph/core/search.h"
#include "lumen/egraph/core/state.h"
#include "lumen/egraph/extract/extract.h"
#include "lumen/egraph/report/term_text.h"

namespace lumen::egraph {

namespace {

// A search that looks at more rows than this reports the best it has seen.
constexpr size_t kMostRows = 100'000'000;

// Where a search begins: the variable that is the term, and the atom that is looked at first.
struct Start {
  uint32_t atom = 0;
  uint32_t variable = 0;
};

class Prober {
 public:
  Prober(EGraph& graph, const Query& query, const ValueText& text)
      : graph_(graph), s_(graph.state()), query_(query), value_text_(text) {
    values_.resize(query.variables, kNone);
    done_.resize(query.atoms.size() + query.calls.size(), false);
  }

  void start(const Start& at, Value term) {
    values_[at.variable] = term;
    match_atom(at.atom);
  }

  bool matches = false;
  // How far it came.
  size_t held() const { return best_held_.size(); }
  // What the deepest point looked like, in words.
  WhyNot report();

 private:
  Value value(const Slot& slot) const {
    if (slot.is_variable()) return values_[slot.index];
    return slot.kind == Slot::Kind::global ? graph_.global(slot.index) : Value{slot.index};
  }
  std::string name(uint32_t variable) const {
    const bool named = variable < query_.names.size() && !query_.names[variable].empty();
    return named ? query_.names[variable] : "?" + std::to_string(variable);
  }
  std::string text(const Slot& slot, SortId sort) {
    return slot.is_variable() ? name(slot.index) : term_text(sort, value(slot));
  }
  std::string text(size_t part) {
    if (part < query_.atoms.size()) {
      const Atom& atom = query_.atoms[part];
      const TableDecl& decl = s_.tables[atom.table].decl;
      std::string out = "(" + decl.name;
      for (size_t i = 0; i < decl.params.size(); ++i) out += " " + text(atom.slots[i], decl.params[i]);
      return out + ")" + (decl.relation ? "" : " = " + text(atom.slots.back(), decl.result));
    }
    const PrimitiveCall& call = query_.calls[part - query_.atoms.size()];
    const Primitive& primitive = s_.primitives[call.primitive];
    SortId any = kUnit;  // what kAnySort is in this call
    for (const Slot& arg : call.args) {
      if (arg.is_variable()) any = query_.sorts[arg.index];
    }
    std::string out = "(" + primitive.name;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const SortId sort = primitive.params.empty() ? kUnit : primitive.params[std::min(i, primitive.params.size() - 1)];
      out += " " + text(call.args[i], sort == kAnySort ? any : sort);
    }
    return out + ")";
  }

  bool known(const Slot& slot) const { return value(slot) != kNone; }

  // The next part to look at: a condition that can be computed, else an atom that hangs together with what is bound.
  size_t next_part() const {
    const size_t atoms = query_.atoms.size();
    for (size_t c = 0; c < query_.calls.size(); ++c) {
      const PrimitiveCall& call = query_.calls[c];
      if (!done_[atoms + c] && std::all_of(call.args.begin(), call.args.end(), [&](auto& a) { return known(a); })) {
        return atoms + c;
      }
    }
    // Patterns inside those that matched come first, then what shares a variable with them.
    const auto bound = [&](const Slot& slot) { return slot.is_variable() && known(slot); };
    size_t shares = done_.size();
    size_t any = done_.size();
    for (size_t a = atoms; a > 0; --a) {
      if (done_[a - 1]) continue;
      const std::vector<Slot>& slots = query_.atoms[a - 1].slots;
      any = a - 1;
      if (std::any_of(slots.begin(), slots.end(), bound)) shares = a - 1;
    }
    for (size_t a = 0; a < atoms; ++a) {
      if (!done_[a] && bound(query_.atoms[a].slots.back())) return a;
    }
    return shares == done_.size() ? any : shares;
  }

  bool go_on() {
    const size_t part = next_part();
    if (part == done_.size()) {
      best_held_ = held_;
      best_values_ = values_;
      best_failed_.clear();
      return matches = true;
    }
    return part < query_.atoms.size() ? match_atom(part) : match_call(part);
  }

  bool match_call(size_t part) {
    const PrimitiveCall& call = query_.calls[part - query_.atoms.size()];
    std::vector<Value> args;
    for (const Slot& slot : call.args) args.push_back(value(slot));
    PrimitiveContext context(s_.sorts);
    const std::optional<Value> result = s_.primitives[call.primitive].apply(context, args);
    const bool bound = known(call.result);
    if (!result.has_value() || (bound && value(call.result) != *result)) return fail(part);
    if (!bound) values_[call.result.index] = *result;
    held_.push_back(part);
    done_[part] = true;
    const bool matched = go_on();
    done_[part] = false;
    held_.pop_back();
    if (!bound) values_[call.result.index] = kNone;
    return matched;
  }

  bool match_atom(size_t part) {
    const Atom& atom = query_.atoms[part];
    const Table& table = s_.tables[atom.table];
    std::vector<Value> key;
    for (size_t c = 0; c + 1 < atom.slots.size(); ++c) key.push_back(value(atom.slots[c]));
    Row begin = 0;
    Row end = table.rows();
    if (std::find(key.begin(), key.end(), kNone) == key.end()) {
      const Row found = table.find(key.data());
      begin = found == kNone ? end : found;
      end = found == kNone ? end : found + 1;
    }
    bool any = false;
    for (Row r = begin; r < end && looked_at_ < kMostRows; ++r) {
      ++looked_at_;
      if (table.dead(r) || (table.subsumed(r) && !query_.include_subsumed)) continue;
      bool fits = false;
      if (match_row(part, table.row(r), fits)) return true;
      any = any || fits;
    }
    return any ? false : fail(part);
  }

  bool match_row(size_t part, const Value* row, bool& fits) {
    const Atom& atom = query_.atoms[part];
    const std::vector<Value> before = values_;
    fits = true;
    for (size_t c = 0; c < atom.slots.size() && fits; ++c) {
      if (known(atom.slots[c])) {
        fits = value(atom.slots[c]) == row[c];
      } else {
        values_[atom.slots[c].index] = row[c];
      }
    }
    bool matched = false;
    if (fits) {
      held_.push_back(part);
      done_[part] = true;
      matched = go_on();
      done_[part] = false;
      held_.pop_back();
    }
    values_ = before;
    return matched;
  }

  bool fail(size_t part) {
    if (best_failed_.empty() || held_.size() > best_held_.size()) {
      best_held_ = held_;
      best_values_ = values_;
      best_failed_.clear();
    }
    if (held_.size() == best_held_.size() &&
        std::find(best_failed_.begin(), best_failed_.end(), part) == best_failed_.end()) {
      best_failed_.push_back(part);
    }
    return false;
  }

  // Unless somebody has a text for it, the smallest term of a value.
  std::string term_text(SortId sort, Value value) {
    if (value_text_) return value_text_(sort, value);
    if (!extractor_) extractor_ = std::make_unique<Extractor>(graph_);
    const std::optional<Extracted> term = extractor_->best(sort, value);
    return term ? term->text : traced_term_text(graph_, sort, value);
  }

  EGraph& graph_;
  EGraph::State& s_;
  const Query& query_;
  const ValueText& value_text_;
  std::vector<Value> values_;  // by variable; kNone: not bound
  std::vector<bool> done_;     // atoms, then calls
  std::vector<size_t> held_;
  std::vector<size_t> best_held_;
  std::vector<size_t> best_failed_;
  std::vector<Value> best_values_;
  size_t looked_at_ = 0;  // rows
  std::unique_ptr<Extractor> extractor_;
};

WhyNot Prober::report() {
  WhyNot found;
  found.matches = matches;
  found.failed_parts = best_failed_;
  found.values = best_values_;
  for (const size_t part : best_held_) found.held.push_back(text(part));
  for (const size_t part : best_failed_) found.failed.push_back(text(part));
  for (uint32_t v = 0; v < best_values_.size(); ++v) {
    if (best_values_[v] != kNone) found.bindings.emplace_back(name(v), term_text(query_.sorts[v], best_values_[v]));
  }
  return found;
}

bool is_outermost(const EGraph& graph, const std::vector<Atom>& atoms, const Atom& atom, SortId sort) {
  const Slot& result = atom.slots.back();
  if (graph.table(atom.table).result != sort || !result.is_variable()) return false;
  const auto uses = [&](const Atom& other) {
    return graph.table(other.table).constructor &&
           std::find(other.slots.begin(), other.slots.end() - 1, result) != other.slots.end() - 1;
  };
  return std::none_of(atoms.begin(), atoms.end(), uses);
}

std::vector<Start> starts_of(const EGraph& graph, RuleId rule, SortId sort) {
  const Query& query = graph.rule(rule).query;
  std::vector<Start> starts;
  for (uint32_t a = 0; a < query.atoms.size(); ++a) {
    if (!is_outermost(graph, query.atoms, query.atoms[a], sort)) continue;
    starts.push_back({a, query.atoms[a].slots.back().index});
  }
  if (!starts.empty()) return starts;
  for (uint32_t a = 0; a < query.atoms.size(); ++a) {
    for (const Slot& slot : query.atoms[a].slots) {
      if (slot.is_variable() && query.sorts[slot.index] == sort) return {{a, slot.index}};
    }
  }
  return {};
}

}  // namespace

uint32_t outermost_atom(const EGraph& graph, RuleId rule, SortId sort) {
  const std::vector<Atom>& atoms = graph.rule(rule).query.atoms;
  for (uint32_t a = 0; a < atoms.size(); ++a) {
    if (is_outermost(graph, atoms, atoms[a], sort)) return a;
  }
  return kNone;
}

std::string WhyNot::text() const {
  if (matches) return "the rule matches\n";
  std::string out;
  for (const std::string& part : held) out += "  holds   " + part + "\n";
  for (const std::string& part : failed) out += "  fails   " + part + "\n";
  for (const auto& [name, value] : bindings) out += "  with    " + name + " = " + value + "\n";
  return out;
}

Expected<WhyNot> why_not(EGraph& graph, RuleId rule, SortId sort, Value term, const ValueText& text) {
  LUMEN_TRY(graph.rebuild());
  const std::vector<Start> starts = starts_of(graph, rule, sort);
  if (starts.empty()) {
    return error("rule " + graph.rule(rule).name + " says nothing about values of sort " + graph.sorts()[sort].name);
  }
  std::unique_ptr<Prober> furthest;
  for (const Start& start : starts) {
    auto prober = std::make_unique<Prober>(graph, graph.rule(rule).query, text);
    prober->start(start, graph.find(sort, term));
    const bool further = !furthest || prober->matches || prober->held() > furthest->held();
    if (further) furthest = std::move(prober);
    if (furthest->matches) break;
  }
  return furthest->report();
}

}  // namespace lumen::egraph
