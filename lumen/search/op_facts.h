// The facts about the terms of one op that follow from its OpDef: rules as text, and the primitives they call.
#pragma once

#include <string>
#include <string_view>

#include "lumen/search/field_values.h"

namespace lumen {

// infer-NAME: the types of the operands and the fields, to the result's type; nothing when infer refuses them.
// fold-NAME, for elementwise ops: scalars for the operands and the fields, to the scalar that the op gives.
void add_fact_primitives(egraph::EGraph& graph, const FieldValues& values, const OpDef& op, size_t operands,
                         std::string_view name);

// type_of and constant_of for terms of the op; for rules the op has the name `name`.
std::string fact_rules(const OpDef& op, size_t operands, std::string_view name);

}  // namespace lumen
