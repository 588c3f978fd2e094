// What an op costs at least, in seconds, wherever it will run: the cost by which programs are taken out of an e-graph.
#pragma once

#include <functional>
#include <span>

#include "lumen/ir/graph.h"
#include "lumen/kernel/target.h"

namespace lumen {

// One op with the types of what it reads and gives.
struct CostedOp {
  const OpDef& op;
  const void* fields;
  std::span<const TensorType> operands;
  TensorType result;
  bool of_bytes = false;  // a contraction of floats of 8 bits, which are nothing but cast

  template <class Op>
  const Op* as() const {
    return &op == &op_def<Op>() ? static_cast<const Op*>(fields) : nullptr;
  }
};

// Seconds, not negative; infinity for what must not be used.
using OpCost = std::function<double(const CostedOp&)>;

// A machine in a few numbers, each per second; those of a small one unless measured.
struct Machine {
  double products = 2e11;  // of a contraction that reuses what it reads
  double elements = 2e10;  // elementwise, of the simplest kind, fused with what it reads
  double bytes = 8e10;     // that a contraction reads
  double widening = 1e15;  // casts to wider types: who reads an element makes it
  double launch = 1e-6;    // seconds, for every op that needs a kernel of its own
};

// About what a target is.
Machine machine_like(const Target& target);

// Views, constants, iotas and inputs are free. An elementwise op costs its elements, by how hard it is to compute, and
// a gather those it gives, as they can be part of any kernel; a cast to a wider type hardly anything, as what is not
// read is not cast (of a cache, the tokens that are there). A reduction or sort costs the elements it reads, and a
// launch. A contraction costs its products or the bytes it reads, and a launch; one that uses nothing twice (a sum of
// squares) costs more than the product and the sums, and one of floats of 8 bits as such less than one of numbers that
// are computed from them. Dims that `dims` does not have count as 256, or what their bounds have nearest to that.
OpCost roofline(const Machine& machine = {}, const DimValues& dims = {});

// What a contraction may multiply as floats of 8 bits: a cast of them.
bool widens_bytes(const OpDef& op, const TensorType& operand);

// Of all ops that the outputs need, each once.
double cost_of(const Graph& graph, const OpCost& cost);

}  // namespace lumen
