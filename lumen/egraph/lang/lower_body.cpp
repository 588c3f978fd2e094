#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "lumen/base/check.h"
#include "lumen/egraph/lang/lower.h"

namespace lumen::egraph {

namespace {

// Flattens with a variable for every call, then makes one what must be equal, then numbers what is left.
class BodyLowering {
 public:
  BodyLowering(const Scope& scope, const TypedRule& rule) : scope_(scope), rule_(rule) {
    for (uint32_t v = 0; v < rule.body_variables; ++v) new_variable(rule.variables[v].sort);
  }

  Expected<LoweredBody> lower(const Span& where) {
    for (const TypedFact& fact : rule_.facts) {
      const Slot left = flatten(fact.left);
      if (fact.right == kNone) continue;
      const Slot right = flatten(fact.right);
      if (is_fact_sort(rule_.exprs[fact.left].sort)) {
        same_fact(left.index, right.index);
      } else {
        unify(left, right);
      }
    }
    unify_facts();
    while (merge_equal_terms()) {
    }
    return number(where);
  }

 private:
  struct Term {
    bool is_table = false;
    uint32_t id = 0;
    std::vector<Slot> slots;  // the arguments, then the result
  };

  Slot new_variable(SortId sort) {
    const Slot slot = Slot::variable(static_cast<uint32_t>(alias_.size()));
    alias_.push_back(stored_sort(sort) == kUnit ? Slot::value(0) : slot);
    sorts_.push_back(sort);
    fact_.push_back(slot.index);
    return slot;
  }

  Slot resolve(Slot slot) const {
    while (slot.is_variable() && alias_[slot.index] != slot) slot = alias_[slot.index];
    return slot;
  }

  void unify(Slot a, Slot b) {
    a = resolve(a);
    b = resolve(b);
    if (a == b) return;
    if (a.is_variable() && (!b.is_variable() || b.index < a.index)) std::swap(a, b);
    if (b.is_variable()) {
      alias_[b.index] = a;
    } else {
      unequal_.emplace_back(a, b);  // two constants; a global may still have the value
    }
  }

  // Two variables that stand for facts stand for the same.
  void same_fact(uint32_t a, uint32_t b) { std::replace(fact_.begin(), fact_.end(), fact_[b], fact_[a]); }

  // Facts of a relation have no value to compare: they are the same when their arguments are.
  void unify_facts() {
    std::map<uint32_t, const Term*> first;
    for (const Term& term : terms_) {
      const uint32_t variable = term.slots.back().index;
      if (!is_fact_sort(sorts_[variable])) continue;
      const auto [at, inserted] = first.emplace(fact_[variable], &term);
      if (inserted) continue;
      for (size_t i = 0; i + 1 < term.slots.size(); ++i) unify(at->second->slots[i], term.slots[i]);
    }
  }

  Slot flatten(ExprId id) {
    const TypedExpr& expr = rule_.exprs[id];
    switch (expr.kind) {
      case TypedExpr::Kind::variable:
        return Slot::variable(expr.id);
      case TypedExpr::Kind::value:
        return Slot::value(expr.id);
      case TypedExpr::Kind::global:
        return Slot::global(expr.id);
      case TypedExpr::Kind::table:
      case TypedExpr::Kind::primitive:
        break;
    }
    Term term{expr.kind == TypedExpr::Kind::table, expr.id, {}};
    for (const ExprId arg : expr.args) term.slots.push_back(flatten(arg));
    term.slots.push_back(new_variable(expr.sort));
    terms_.push_back(term);
    return term.slots.back();
  }

  // Terms with equal arguments have equal results: keeps the first. Whether there were any.
  bool merge_equal_terms() {
    std::map<std::vector<uint32_t>, size_t> first;
    std::vector<Term> kept;
    for (Term& term : terms_) {
      std::vector<uint32_t> key{term.is_table, term.id};
      for (size_t i = 0; i + 1 < term.slots.size(); ++i) {
        const Slot slot = resolve(term.slots[i]);
        key.push_back(static_cast<uint32_t>(slot.kind));
        key.push_back(slot.index);
      }
      const auto [at, inserted] = first.emplace(std::move(key), kept.size());
      if (inserted) {
        kept.push_back(std::move(term));
      } else {
        unify(kept[at->second].slots.back(), term.slots.back());
      }
    }
    const bool merged = kept.size() != terms_.size();
    terms_ = std::move(kept);
    return merged;
  }

  // Gives the variables that are left their final numbers, in the order in which they are met.
  Slot final_slot(Slot slot) {
    slot = resolve(slot);
    if (!slot.is_variable()) return slot;
    uint32_t& number = number_.try_emplace(slot.index, kNone).first->second;
    if (number == kNone) {
      number = query_.variables++;
      query_.sorts.push_back(sorts_[slot.index]);
      query_.names.push_back(slot.index < rule_.body_variables ? std::string(rule_.variables[slot.index].name) : "");
    }
    return Slot::variable(number);
  }

  Expected<LoweredBody> number(const Span& where) {
    std::vector<Term> calls;
    for (const Term& term : terms_) {
      if (!term.is_table) {
        calls.push_back(term);
        continue;
      }
      Atom& atom = query_.atoms.emplace_back(Atom{term.id, {}});
      for (const Slot& slot : term.slots) atom.slots.push_back(final_slot(slot));
    }
    LUMEN_TRY(order_calls(std::move(calls), where));
    for (const auto& [a, b] : unequal_) {
      const std::span<const PrimitiveId> equal = scope_.primitives("value-eq");
      CHECK(!equal.empty(), "the primitive value-eq is missing");
      query_.calls.push_back({equal[0], {a, b}, Slot::value(0)});
    }
    LoweredBody body;
    for (uint32_t v = 0; v < rule_.body_variables; ++v) {
      const Slot slot = Slot::variable(v);
      if (!bound(slot)) return ungrounded(slot, where);
      body.variables.push_back(final_slot(slot));
    }
    body.query = std::move(query_);
    return body;
  }

  bool bound(const Slot& slot) const {
    const Slot known = resolve(slot);
    return !known.is_variable() || number_.contains(known.index);
  }

  // Calls in an order in which each finds its arguments bound.
  Expected<void> order_calls(std::vector<Term> calls, const Span& where) {
    while (!calls.empty()) {
      const auto ready = [&](const Term& call) {
        return std::all_of(call.slots.begin(), call.slots.end() - 1, [&](const Slot& slot) { return bound(slot); });
      };
      const auto next = std::find_if(calls.begin(), calls.end(), ready);
      if (next == calls.end()) {
        const std::vector<Slot>& slots = calls[0].slots;
        return ungrounded(*std::find_if_not(slots.begin(), slots.end(), [&](const Slot& s) { return bound(s); }),
                          where);
      }
      PrimitiveCall& call = query_.calls.emplace_back();
      call.primitive = next->id;
      for (const Slot& slot : next->slots) call.args.push_back(final_slot(slot));
      call.result = call.args.back();
      call.args.pop_back();
      calls.erase(next);
    }
    return {};
  }

  Diag ungrounded(const Slot& slot, const Span& where) const {
    for (uint32_t v = 0; v < rule_.body_variables; ++v) {
      if (resolve(Slot::variable(v)) == resolve(slot)) {
        return error_at(rule_.variables[v].span.source == nullptr ? where : rule_.variables[v].span,
                        fmt::format("variable `{}` is ungrounded: no pattern binds it", rule_.variables[v].name));
      }
    }
    return error_at(where, "a call has an argument that no pattern binds");
  }

  const Scope& scope_;
  const TypedRule& rule_;
  std::vector<Slot> alias_;  // by variable: itself, or what it is equal to
  std::vector<SortId> sorts_;
  std::vector<uint32_t> fact_;  // by variable: the first of those that stand for the same fact
  std::vector<Term> terms_;
  std::vector<std::pair<Slot, Slot>> unequal_;
  std::map<uint32_t, uint32_t> number_;
  Query query_;
};

}  // namespace

Expected<LoweredBody> lower_body(const Scope& scope, const TypedRule& rule, const Span& where) {
  return BodyLowering(scope, rule).lower(where);
}

}  // namespace lumen::egraph
