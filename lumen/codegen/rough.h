// Values whose last bits do not matter, as every result that depends on them is rounded to 16 bits or fewer: a GPU has
// single instructions for functions of these (text_rough.cpp).
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen {

std::set<NodeId> rough_values(const Graph& body);

// The function of the prelude for a rough value, and what it is applied to: to 16 bits, results below 2^-126 may be 0.
struct RoughCall {
  std::string_view function;
  std::vector<NodeId> operands;
};
std::optional<RoughCall> rough_call(const Graph& body, NodeId id);

}  // namespace lumen
