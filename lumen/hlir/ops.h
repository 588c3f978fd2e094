// The one list of primitives.
#pragma once

#include "lumen/ir/op.h"
#include "lumen/ir/verify.h"

namespace lumen {

// Every primitive, in documentation order. Copy it and add() to it for ops of your own.
const OpTable& hlir_ops();
// The stage of a graph as users build it: the primitives and users' own ops.
const Stage& hlir_stage();

}  // namespace lumen
