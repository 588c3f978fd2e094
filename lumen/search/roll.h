// Rolling: what a graph repeats is compiled once.
//
// A model of 32 layers is 32 times nearly the same ops over other weights. Rolling cuts a graph into parts, of which
// many have equal bodies (carve.h), so that saturating, grouping, tuning and verifying is done once for each distinct
// body; the program calls the same kernels for all of them. Nothing is stacked or marked: parts read the weights where
// they are, and a body is plain ops to the rules.
//
//   ops   e a b c d a b c d a b c d f        e: embedding, f: head, abcd: a layer
//   as numbers that stand for op, fields and types, this repeats with period 4 from its second to its last but one op;
//   cut   e a b | c d a b | c d a b | c d f  where least that could be one kernel is cut apart, here between b and c
#pragma once

#include <vector>

#include "lumen/kernel/carve.h"
#include "lumen/kernel/target.h"

namespace lumen::search {

// The whole graph in parts, in an order in which each finds its operands. None when nothing that is large enough
// repeats often enough.
// Where to cut depends on the target: kernels of a GPU make norms of few rows themselves (row_sums.h).
Expected<std::vector<Carved>> roll(const Graph& graph, const Target& target = {});

}  // namespace lumen::search
