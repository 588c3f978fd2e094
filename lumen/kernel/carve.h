// Carving: a part of a graph becomes a graph of its own, which is the meaning of the kernel that will run it. So a
// kernel can be printed, interpreted, compared and timed without the graph it comes from, and two parts that compute
// the same are the same text wherever they stand.
//
//   graph                                  part {s, y}, result y              body
//   x = Input f32[n]  w = Input f32[n]     s = x * w                          a0 = Input f32[n]  a1 = Input f32[n]
//   s = x * w   y = s + w   z = exp2(y)    y = s + w                          r0 = a0 * a1 + a1
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen {

struct Carved {
  // Inputs a0, a1, … in the order in which the results need them, all of kind data; outputs r0, r1, …; the dims that
  // occur.
  std::shared_ptr<const Graph> body;
  std::vector<NodeId> operands;    // of the graph: what the inputs are
  std::vector<NodeId> results;     // of the graph: what the outputs are
  std::vector<NodeId> nodes = {};  // of the graph: what each node of the body is; empty where nobody asks
};

// `part` holds the results; what it reads beside its own nodes become inputs. Input nodes are never part of the body.
Carved carve(const Graph& graph, std::span<const NodeId> part, std::span<const NodeId> results);

// A graph that falls into parts, as kernels in an order in which each finds its operands. Nodes may be in several parts
// (it is cheaper to compute a view or a constant again than to store it): the first part that has one gives it to
// others. An error when an output or an operand is in no part, or parts need each other in a circle.
Expected<std::vector<Carved>> carve_all(const Graph& graph, std::span<const std::vector<NodeId>> parts);

}  // namespace lumen
