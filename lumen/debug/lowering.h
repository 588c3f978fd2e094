// What becomes of a graph: the program that is taken out of its e-graph, its kernels, and which of them each value of
// the graph ends up in. Nothing is compiled or measured: fusion is as far as it goes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lumen/debug/inspection.h"

namespace lumen::debug {

inline constexpr std::string_view kInterpreted = "interpreted";

struct KernelView {
  std::string kind;            // of kernel_kinds(), or kInterpreted
  std::string title;           // "MaxReduce SumReduce Exp2 -> f32[8,64]"
  std::string problem;         // why no kind of kernel computes it; empty when one does
  std::vector<NodeId> values;  // of the program: what it computes
};

struct Lowering {
  std::shared_ptr<const Graph> program;
  double cost = 0;  // by the roofline, in seconds
  std::vector<KernelView> kernels;
  // By node of the inspected graph: its kernels. A value that the program does not have (the product inside a
  // contraction) is in the kernels of what reads it; inputs are in none.
  std::map<NodeId, std::vector<size_t>> kernels_of;
  std::map<NodeId, bool> is_computed;  // by node of the inspected graph: whether the program has that value
};

// An error when no program can be taken out, as types are missing.
Expected<Lowering> lower(Inspection& inspection);

struct OpUse {
  NodeId node;
  bool covered = false;            // by the kind of kernel that was asked for, alone
  std::vector<size_t> kernels;     // of Lowering::kernels
  std::vector<std::string> hints;  // when it is not covered: rules that might have led there, and what they lack
};
struct Coverage {
  std::vector<OpUse> uses;  // every node of the op
  size_t covered() const;
};
// How the nodes of an op end up: in kernels of `kind`, or not. "OP:KIND" names both; either may be *.
Expected<Coverage> inspect_op(Inspection& inspection, const Lowering& lowering, std::string_view mapping);

}  // namespace lumen::debug
