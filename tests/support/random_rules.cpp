#include "tests/support/random_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lumen/base/check.h"

namespace lumen::egraph::naive {

namespace {

PrimitiveId primitive_named(const EGraph& graph, std::string_view name, SortId first) {
  const std::vector<Primitive>& all = graph.primitives();
  for (PrimitiveId p = 0; p < all.size(); ++p) {
    if (all[p].name == name && (all[p].params.empty() || all[p].params[0] == first || first == kNone)) return p;
  }
  CHECK(false, "no primitive " + std::string(name));
  return kNone;
}

class RuleDraw {
 public:
  explicit RuleDraw(const Draw& draw) : draw_(draw) {}

  RandomRules all() {
    const uint64_t mode = draw_(4);
    out_.unites = mode != 2;
    out_.erases = mode >= 2;
    subsumes_ = mode == 1;
    declare();
    const uint64_t rules = 1 + draw_(4);
    for (uint64_t i = 0; i < rules; ++i) out_.declared.add_rule(rule("rule" + std::to_string(i)));
    const uint64_t steps = 1 + draw_(5);
    for (uint64_t s = 0; s < steps; ++s) {
      RandomRules::Step& step = out_.steps.emplace_back();
      start();
      const uint64_t count = s == 0 ? 4 + draw_(14) : draw_(4) / 2;
      for (uint64_t i = 0; i < count; ++i) action();
      step.actions = {variable_count(), actions_};
      for (RuleId r = 0; r < rules; ++r) {
        if (draw_(8) != 7) step.rules.push_back(r);
      }
    }
    return std::move(out_);
  }

 private:
  // ---- declarations

  TableId table(std::string name, std::vector<SortId> params, SortId result) {
    TableDecl decl;
    decl.name = std::move(name);
    decl.params = std::move(params);
    decl.result = result;
    decl.constructor = result != kUnit && result != kI64;
    decl.relation = result == kUnit;
    if (decl.relation) decl.merge = Merge::old;
    if (result == kI64) {
      decl.merge = Merge::lambda;
      const char* name_of_merge = draw_(2) == 0 ? "min" : "max";
      Action call{Action::Kind::call, primitive_named(graph(), name_of_merge, kI64), {}, Slot::variable(2), {}};
      call.args = {Slot::variable(0), Slot::variable(1)};
      decl.merge_lambda = {3, {call}, Slot::variable(2)};
    }
    return graph().add_table(std::move(decl));
  }

  void declare() {
    e_ = graph().add_sort("E");
    g_ = draw_(3) == 0 ? graph().add_sort("G") : e_;
    if (draw_(3) == 0)
      vec_ = graph().add_sort(*make_container_sort("V", "Vec", std::vector<SortId>{e_}, graph().sorts()));
    for (const char* name : {"A", "B", "C", "D"}) constant(name, e_);
    if (g_ != e_) constant("H", g_);
    const uint64_t terms = 1 + draw_(3);
    const uint64_t relations = 1 + draw_(2);
    const uint64_t functions = draw_(3);
    for (uint64_t i = 0; i < terms; ++i) table("F" + std::to_string(i), columns(3), draw_(3) == 0 ? g_ : e_);
    for (uint64_t i = 0; i < relations; ++i) table("r" + std::to_string(i), columns(3), kUnit);
    for (uint64_t i = 0; i < functions; ++i) table("f" + std::to_string(i), columns(2), kI64);
  }

  void constant(const char* name, SortId sort) {
    const TableId t = table(name, {}, sort);
    const uint32_t index = out_.constants.variables++;
    out_.constants.actions.push_back({Action::Kind::make, t, {}, Slot::variable(index), {}});
    out_.global_sorts.push_back(sort);
  }

  std::vector<SortId> columns(uint64_t most) {
    std::vector<SortId> sorts(1 + draw_(most));
    for (SortId& sort : sorts) {
      const uint64_t kind = draw_(8);
      sort = kind < 4 ? e_ : kind < 6 ? kI64 : kind == 6 || vec_ == kNone ? g_ : vec_;
    }
    return sorts;
  }

  // ---- rules

  void start() {
    sorts_.clear();
    actions_.clear();
  }
  uint32_t variable_count() const { return static_cast<uint32_t>(sorts_.size()); }
  Slot fresh(SortId sort) {
    sorts_.push_back(sort);
    return Slot::variable(variable_count() - 1);
  }
  std::optional<Slot> some_variable(SortId sort) {
    std::vector<uint32_t> known;
    for (uint32_t v = 0; v < sorts_.size(); ++v) {
      if (sorts_[v] == sort) known.push_back(v);
    }
    if (known.empty()) return std::nullopt;
    return Slot::variable(known[draw_(known.size())]);
  }
  std::optional<Slot> some_constant(SortId sort) {
    if (sort == kI64) return Slot::value(static_cast<Value>(draw_(4)));
    std::vector<uint32_t> known;
    for (uint32_t i = 0; i < out_.global_sorts.size(); ++i) {
      if (out_.global_sorts[i] == sort) known.push_back(i);
    }
    if (known.empty()) return std::nullopt;
    return Slot::global(known[draw_(known.size())]);
  }

  // Mostly one with arguments.
  TableId some_table() {
    const size_t constants = out_.global_sorts.size();
    if (draw_(12) == 0) return static_cast<TableId>(draw_(constants));
    return static_cast<TableId>(constants + draw_(graph().table_count() - constants));
  }

  Slot pattern(SortId sort) {
    if (sort == kUnit) return Slot::value(0);
    const uint64_t kind = draw_(16);
    if (kind == 0) {
      if (const std::optional<Slot> slot = some_constant(sort)) return *slot;
    } else if (kind < 7) {
      if (const std::optional<Slot> slot = some_variable(sort)) return *slot;
    }
    return fresh(sort);
  }

  Rule rule(std::string name) {
    start();
    Rule rule;
    rule.name = std::move(name);
    const uint64_t atoms = draw_(16) == 0 ? 0 : 1 + std::min(draw_(4), draw_(4));
    for (uint64_t i = 0; i < atoms; ++i) {
      Atom atom;
      atom.table = some_table();
      const TableDecl& decl = graph().table(atom.table);
      for (const SortId sort : decl.params) atom.slots.push_back(pattern(sort));
      atom.slots.push_back(pattern(decl.result));
      rule.query.atoms.push_back(std::move(atom));
    }
    const uint64_t calls = draw_(8) / 3;
    for (uint64_t i = 0; i < calls; ++i) add_call(rule.query);
    rule.query.variables = variable_count();
    rule.query.sorts = sorts_;
    const uint64_t count = 1 + draw_(3);
    for (uint64_t i = 0; i < count; ++i) action();
    rule.variables = variable_count();
    rule.actions = actions_;
    return rule;
  }

  void add_call(Query& query) {
    PrimitiveCall call;
    const std::optional<Slot> vec = vec_ == kNone ? std::nullopt : some_variable(vec_);
    const std::optional<Slot> left = some_variable(draw_(3) == 0 ? e_ : kI64);
    if (vec.has_value() && draw_(2) == 0) {
      const bool length = draw_(2) == 0;
      call.primitive = primitive_named(graph(), length ? "vec-length" : "vec-get", vec_);
      call.args = {*vec};
      if (!length) call.args.push_back(operand(kI64));
      call.result = pattern(length ? kI64 : e_);
    } else if (!left.has_value()) {
      return;
    } else if (sorts_[left->index] == e_) {
      call.primitive = primitive_named(graph(), "!=", kNone);
      call.args = {*left, operand(e_)};
      call.result = Slot::value(0);
    } else {
      static constexpr std::array kTests = {"<", ">="};
      static constexpr std::array kNumbers = {"+", "-", "*", "/", "%", "min"};
      const bool test = draw_(2) == 0;
      call.primitive =
          primitive_named(graph(), test ? kTests[draw_(kTests.size())] : kNumbers[draw_(kNumbers.size())], kI64);
      call.args = {*left, operand(kI64)};
      call.result = test ? Slot::value(0) : pattern(kI64);
    }
    query.calls.push_back(std::move(call));
  }

  // ---- actions

  Slot operand(SortId sort) {
    const std::optional<Slot> variable = draw_(4) == 0 ? std::nullopt : some_variable(sort);
    if (variable.has_value()) return *variable;
    if (const std::optional<Slot> constant = some_constant(sort)) return *constant;
    if (const std::optional<Slot> known = some_variable(sort)) return *known;
    CHECK(sort == vec_, "a sort without constants");
    std::vector<Slot> elements(draw_(3));
    for (Slot& slot : elements) slot = operand(e_);
    return call("vec-of", e_, std::move(elements), vec_);
  }
  Slot call(const char* name, SortId first, std::vector<Slot> args, SortId result) {
    const Slot slot = fresh(result);
    actions_.push_back({Action::Kind::call, primitive_named(graph(), name, first), std::move(args), slot, {}});
    return slot;
  }
  Slot argument(SortId sort) {
    if (sort == kI64 && draw_(4) == 0) {
      static constexpr std::array kTotal = {"+", "min", "max", "^"};
      const Slot a = operand(kI64);
      return call(kTotal[draw_(kTotal.size())], kI64, {a, operand(kI64)}, kI64);
    }
    if (sort == vec_ && draw_(4) == 0) {
      const Slot a = operand(vec_);
      return call("vec-push", vec_, {a, operand(e_)}, vec_);
    }
    return operand(sort);
  }

  void action() {
    const uint64_t kind = draw_(8);
    if (kind == 0 && out_.unites) {
      const Slot a = operand(e_);
      actions_.push_back({Action::Kind::unite, e_, {a, operand(e_)}, {}, {}});
      return;
    }
    const TableId t = some_table();
    const TableDecl& decl = graph().table(t);
    std::vector<Slot> args;
    for (const SortId sort : decl.params) args.push_back(argument(sort));
    const bool function = !decl.constructor && !decl.relation;
    if (kind == 1 && out_.erases) {
      actions_.push_back({Action::Kind::erase, t, std::move(args), {}, {}});
    } else if (kind == 2 && subsumes_ && !function) {
      actions_.push_back({Action::Kind::subsume, t, std::move(args), {}, {}});
    } else if (function) {
      args.push_back(argument(kI64));
      actions_.push_back({Action::Kind::set, t, std::move(args), {}, {}});
    } else {
      const Slot other = decl.constructor && out_.unites && draw_(2) == 0 ? operand(decl.result) : Slot::value(0);
      const Slot made = fresh(decl.result);
      actions_.push_back({Action::Kind::make, t, std::move(args), made, {}});
      if (other != Slot::value(0)) actions_.push_back({Action::Kind::unite, decl.result, {made, other}, {}, {}});
    }
  }

  EGraph& graph() { return out_.declared; }

  const Draw& draw_;
  RandomRules out_;
  bool subsumes_ = false;
  SortId e_ = 0;
  SortId g_ = 0;
  SortId vec_ = kNone;
  std::vector<SortId> sorts_;  // of the variables of the rule or action list being made
  std::vector<Action> actions_;
};

// ---- as text

std::string slot_text(const Slot& slot) {
  if (slot.is_variable()) return "v" + std::to_string(slot.index);
  return slot.kind == Slot::Kind::global ? "(" + std::string(1, "ABCDH"[slot.index]) + ")" : std::to_string(slot.index);
}

std::string call_text(const std::string& name, std::span<const Slot> args) {
  std::string text = "(" + name;
  for (const Slot& slot : args) text += " " + slot_text(slot);
  return text + ")";
}

std::string action_text(const EGraph& graph, const Action& action) {
  const auto table = [&] { return graph.table(action.target).name; };
  switch (action.kind) {
    case Action::Kind::call:
      return "(let " + slot_text(action.result) + " " + call_text(graph.primitives()[action.target].name, action.args) +
             ")";
    case Action::Kind::make:
      if (graph.table(action.target).relation) return call_text(table(), action.args);
      return "(let " + slot_text(action.result) + " " + call_text(table(), action.args) + ")";
    case Action::Kind::set:
      return "(set " + call_text(table(), std::span(action.args).first(action.args.size() - 1)) + " " +
             slot_text(action.args.back()) + ")";
    case Action::Kind::unite:
      return call_text("union", action.args);
    case Action::Kind::erase:
      return "(delete " + call_text(table(), action.args) + ")";
    case Action::Kind::subsume:
      return "(subsume " + call_text(table(), action.args) + ")";
    default:
      return "?";
  }
}

std::string rule_text(const EGraph& graph, const Rule& rule) {
  std::string text = "(rule (";
  for (const Atom& atom : rule.query.atoms) {
    const std::string call =
        call_text(graph.table(atom.table).name, std::span(atom.slots).first(atom.slots.size() - 1));
    text += graph.table(atom.table).relation ? call : "(= " + slot_text(atom.slots.back()) + " " + call + ")";
  }
  for (const PrimitiveCall& c : rule.query.calls) {
    const std::string call = call_text(graph.primitives()[c.primitive].name, c.args);
    text += graph.primitives()[c.primitive].result == kUnit ? call : "(= " + slot_text(c.result) + " " + call + ")";
  }
  text += ") (";
  for (const Action& action : rule.actions) text += action_text(graph, action);
  return text + ") :name \"" + rule.name + "\")\n";
}

}  // namespace

std::string RandomRules::text() const {
  std::string text;
  for (TableId t = 0; t < declared.table_count(); ++t) {
    const TableDecl& decl = declared.table(t);
    text += decl.relation ? "(relation " : decl.constructor ? "(constructor " : "(function ";
    text += decl.name + " (";
    for (const SortId sort : decl.params) text += declared.sorts()[sort].name + " ";
    text += decl.relation ? ")" : ") " + declared.sorts()[decl.result].name;
    if (!decl.relation && !decl.constructor) {
      text += " :merge (" + declared.primitives()[decl.merge_lambda.actions[0].target].name + " old new)";
    }
    text += ")\n";
  }
  for (RuleId r = 0; r < declared.rule_count(); ++r) text += rule_text(declared, declared.rule(r));
  for (const Step& step : steps) {
    for (const Action& action : step.actions.actions) text += action_text(declared, action) + "\n";
    text += "(run";
    for (const RuleId rule : step.rules) text += " " + declared.rule(rule).name;
    text += ")\n";
  }
  return text;
}

RandomRules draw_rules(const Draw& draw) { return RuleDraw(draw).all(); }

}  // namespace lumen::egraph::naive
