// (unstable-fn "f" x y): a function value that has been given its first arguments.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/lang/scope.h"

namespace lumen::egraph {

// The primitives that make a value of some function sort from `callee` and its first `given` arguments: one for every
// pair of a function sort and a table or primitive of that name which fit together. Made when they are first asked for,
// under names that no program can write.
std::vector<PrimitiveId> function_value_primitives(EGraph& graph, Scope& scope, std::string_view callee, size_t given);

}  // namespace lumen::egraph
