// Head: the actions of a rule (or a merge function) with registers instead of slots.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lumen/egraph/core/rule.h"

namespace lumen::egraph {

struct Head {
  struct Step {
    Action::Kind kind;
    uint32_t target;
    std::vector<uint32_t> args;
    uint32_t result;
    const std::string* message;
    // Of a make whose term is united with this register later: a new term belongs to that class from the start, which
    // saves an id, a merge and a row to rebuild.
    uint32_t joins = kNone;
  };
  // `given` variables are inputs; only those that the actions use are `inputs`.
  Head(uint32_t given, uint32_t variables, std::span<const Action> actions);

  std::vector<uint32_t> inputs;  // registers, ascending: what a match consists of
  std::vector<Step> steps;
  struct Constant {
    uint32_t reg;
    Slot slot;
  };
  std::vector<Constant> constants;
  uint32_t registers;
  uint32_t register_of(const Slot& slot);

 private:
  void find_joins();
};

}  // namespace lumen::egraph
