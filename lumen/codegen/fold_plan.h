// What a fold kernel computes: its reductions, the rows they are over and the order they need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen {

// One reduction over all of the plan's axes. A sum of sums, each of one axis, is one of them.
struct FoldReduction {
  NodeId result;
  NodeId operand;  // of the shape `whole`
  DType dtype;     // of the operand
  std::string_view function;
  std::string start;   // a literal of the compute type
  bool finds = false;  // the place of the largest is the result
  int level = 1;       // how many reductions in a row it ends
};

struct FoldPlan {
  std::vector<FoldReduction> reductions;
  Shape whole;                // what is reduced, in the body's dims
  std::vector<int64_t> axes;  // of it, ascending
  Shape rows;                 // what is left
  int levels = 0;
};

Expected<FoldPlan> plan_fold(const Graph& body);

// About how many vector instructions an element of the op takes.
int op_cost(const Graph& body, NodeId id);

}  // namespace lumen
