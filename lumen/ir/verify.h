// What must hold of a graph, and which ops are legal at which stage (as data).
#pragma once

#include "lumen/ir/graph.h"

namespace lumen {

// A stage names the ops it admits; users' own ops (family custom) are admitted wherever `custom` says so.
struct Stage {
  std::string_view name;
  std::span<const OpDef* const> ops;
  bool custom = true;
};

// Types agree with inference, operands come before users, names are unique, views stay inside their source (proven
// or, when a symbolic bound cannot be proven, left to run time), aliases are legal, every op is legal at the stage.
Expected<void> verify(const Graph& graph, const Stage& stage);

}  // namespace lumen
