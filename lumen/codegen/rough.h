// Values whose last bits do not matter, as every result that depends on them is rounded to 16 bits or fewer: a GPU has
// single instructions for functions of these (text_rough.cpp).
#pragma once

#include <set>
#include <string_view>

#include "lumen/ir/graph.h"

namespace lumen {

std::set<NodeId> rough_values(const Graph& body);

// Whether there is a lumen_<function>_rough: as lumen_<function>_f32, to 20 bits.
bool has_rough_form(std::string_view function);

}  // namespace lumen
