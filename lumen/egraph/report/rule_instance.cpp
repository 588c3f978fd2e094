#include "lumen/egraph/report/rule_instance.h"

#include <algorithm>

#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

RuleInstance::RuleInstance(EGraph& graph, ProofTerms& terms, ProofForest& forest, uint32_t firing)
    : graph_(graph),
      terms_(terms),
      forest_(forest),
      trace_(*graph.state().trace),
      firing_(firing),
      rule_(graph.rule(trace_.firings[firing].rule)),
      rows_(trace_.firing_values.data() + trace_.firings[firing].start),
      bound_(rule_.variables, kNone),
      open_(rule_.query.atoms.size(), false) {}

// The atom whose result a variable is; the last, as in the trace.
uint32_t RuleInstance::atom_of(uint32_t variable) const {
  for (size_t a = rule_.query.atoms.size(); a > 0; --a) {
    if (rule_.query.atoms[a - 1].slots.back() == Slot::variable(variable)) return static_cast<uint32_t>(a - 1);
  }
  return kNone;
}

const Action* RuleInstance::maker_of(uint32_t variable) const {
  for (const Action& action : rule_.actions) {
    const bool makes = action.kind == Action::Kind::make || action.kind == Action::Kind::call;
    if (makes && action.result == Slot::variable(variable)) return &action;
  }
  return nullptr;
}

bool RuleInstance::may_be(const Slot& slot, SortId sort, Value id) const {
  if (!slot.is_variable()) return true;
  if (const uint32_t a = atom_of(slot.index); a != kNone) return rows_[a] == kNone || rows_[a] == id;
  const Action* maker = maker_of(slot.index);
  const Trace::Origin* made = terms_.origin(sort, id);
  if (maker == nullptr || maker->kind != Action::Kind::make) return true;
  return made != nullptr && made->table == maker->target;
}

std::optional<RuleInstance::Sides> RuleInstance::merged(SortId sort, Value left, Value right) {
  for (const Action& action : rule_.actions) {
    if (action.kind != Action::Kind::unite || action.target != sort) continue;
    if (!may_be(action.args[0], sort, left) || !may_be(action.args[1], sort, right)) continue;
    for (uint32_t a = 0; a < rule_.query.atoms.size(); ++a) {
      if (rows_[a] != kNone) atom(a);
    }
    Sides sides;
    sides.left = value(action.args[0], sort, left, true);
    sides.right = value(action.args[1], sort, right, true);
    return sides;
  }
  return std::nullopt;
}

NodeIndex RuleInstance::atom(uint32_t a) {
  const Atom& pattern = rule_.query.atoms[a];
  const Slot& result = pattern.slots.back();
  const bool last = result.is_variable() && atom_of(result.index) == a;
  if (last && bound_[result.index] != kNone) return bound_[result.index];
  const TableDecl& decl = graph_.table(pattern.table);
  const Trace::Origin* made = terms_.origin(decl.result, rows_[a]);
  if (made == nullptr) return terms_.of(decl.result, rows_[a]);
  open_[a] = true;
  std::vector<NodeIndex> args;
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const Value given = terms_.origin_arg(*made, i);
    const Slot& slot = pattern.slots[i];
    const uint32_t inner = slot.is_variable() ? atom_of(slot.index) : kNone;
    if (inner != kNone && rows_[inner] != kNone) {
      args.push_back(open_[inner] ? terms_.of(decl.params[i], given) : atom(inner));
    } else if (slot.is_variable() && bound_[slot.index] != kNone) {
      args.push_back(bound_[slot.index]);
    } else {
      args.push_back(terms_.of(decl.params[i], given));
      if (slot.is_variable()) bound_[slot.index] = args.back();
    }
  }
  open_[a] = false;
  const NodeIndex node = terms_.call(pattern.table, std::move(args), rows_[a]);
  if (last) bound_[result.index] = node;
  return node;
}

// The trace knows the ids of what a rule matched and merged. Of terms inside those that it made at most the class: an
// id made by this very firing, else the one that was equal to it first.
Value RuleInstance::nested_id(TableId table, std::span<const NodeIndex> args, SortId sort, Value same_class) const {
  Value best = kNone;
  uint32_t best_time = firing_;
  for (const Value id : terms_.made_for(table, args)) {
    const Trace::Origin& made = *terms_.origin(sort, id);
    uint32_t time = same_class == kNone ? 0 : forest_.time(sort, id, same_class);
    for (size_t i = 0; i < args.size(); ++i) {
      const ProofNode& arg = terms_[args[i]];
      time = std::max(time, forest_.time(arg.sort, arg.value, terms_.origin_arg(made, i)));
    }
    if (time > best_time || (best != kNone && time == best_time)) continue;
    best = id;
    best_time = time;
    if (made.reason.kind == Reason::Kind::rule && made.reason.firing == firing_) break;
  }
  return best;
}

// `witness`: an id of the value's class, or kNone; `exact`: the one it was made or matched as. kNone when the trace
// does not tell.
NodeIndex RuleInstance::value(const Slot& slot, SortId sort, Value witness, bool exact) {
  if (slot.kind == Slot::Kind::value) return terms_.of(sort, slot.index);
  if (slot.kind == Slot::Kind::global) return terms_.of(sort, graph_.state().globals[slot.index].second);
  if (bound_[slot.index] != kNone) return bound_[slot.index];
  NodeIndex node = kNone;
  if (const Action* maker = maker_of(slot.index)) {
    node = maker->kind == Action::Kind::make ? made(*maker, witness, exact) : computed(*maker);
  }
  if (node == kNone && witness != kNone) node = terms_.of(sort, witness);
  return bound_[slot.index] = node;
}

NodeIndex RuleInstance::made(const Action& action, Value witness, bool exact) {
  const TableDecl& decl = graph_.table(action.target);
  if (!decl.constructor) return kNone;
  const Trace::Origin* origin = witness == kNone ? nullptr : terms_.origin(decl.result, witness);
  const bool same_shape = origin != nullptr && origin->table == action.target;
  std::vector<NodeIndex> args;
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const Value given = same_shape ? terms_.origin_arg(*origin, i) : kNone;
    args.push_back(value(action.args[i], decl.params[i], given, false));
    if (args.back() == kNone) return kNone;
  }
  const Value id = exact ? witness : nested_id(action.target, args, decl.result, witness);
  return id == kNone ? kNone : terms_.call(action.target, std::move(args), id);
}

NodeIndex RuleInstance::computed(const Action& action) {
  const Primitive& primitive = graph_.primitives()[action.target];
  if (primitive.reads_tables || primitive.result == kAnySort) return kNone;
  std::vector<Value> args;
  for (size_t i = 0; i < action.args.size(); ++i) {
    const SortId sort = primitive.params[std::min(i, primitive.params.size() - 1)];
    const NodeIndex arg = sort == kAnySort ? kNone : value(action.args[i], sort, kNone, false);
    if (arg == kNone) return kNone;
    args.push_back(terms_[arg].value);
  }
  PrimitiveContext context(graph_.sorts());
  const std::optional<Value> result = primitive.apply(context, args);
  return result ? terms_.of(primitive.result, *result) : kNone;
}

}  // namespace lumen::egraph
