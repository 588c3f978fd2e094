#include "lumen/egraph/core/head.h"

#include <algorithm>

namespace lumen::egraph {

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
  find_joins();
}

// Only where every step that uses the term makes another or unites: those may have the class in its place. And nothing
// may fail before the two are united.
void Head::find_joins() {
  const auto harmless = [](const Step& step) {
    return step.kind == Action::Kind::make || step.kind == Action::Kind::unite;
  };
  // The step that gives a register its value; the end for inputs and constants.
  const auto giver = [&](uint32_t reg) {
    return std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      const bool gives =
          step.kind == Action::Kind::make || step.kind == Action::Kind::call || step.kind == Action::Kind::read;
      return gives && step.result == reg;
    });
  };
  const auto may_join = [&](auto unite, uint32_t reg, uint32_t other) {
    const auto make = giver(reg);
    const auto known = giver(other);
    return make < unite && make->kind == Action::Kind::make && make->joins == kNone &&
           (known < make || known == steps.end()) && std::all_of(make, unite, harmless) &&
           std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
             return harmless(step) || std::find(step.args.begin(), step.args.end(), reg) == step.args.end();
           });
  };
  for (auto unite = steps.begin(); unite != steps.end(); ++unite) {
    if (unite->kind != Action::Kind::unite) continue;
    const uint32_t a = unite->args[0];
    const uint32_t b = unite->args[1];
    if (may_join(unite, b, a)) {
      giver(b)->joins = a;
    } else if (may_join(unite, a, b)) {
      giver(a)->joins = b;
    }
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

}  // namespace lumen::egraph
