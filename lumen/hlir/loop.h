// Loop: a body graph run `trip` times.
#pragma once

#include "lumen/ir/op.h"

namespace lumen::hlir {

// Operands, and the body's inputs in the order declared: `carried` values, then `scanned` ones, then shared ones.
//   carried   starts as the operand; the body's outputs 0 .. carried-1 are its next values (same types)
//   scanned   iteration t sees slice t of the operand along its leading dim, which is `trip`
//   shared    every iteration sees the operand
// The body's other outputs are stacked along a new leading dim of size `trip`. The node denotes result number `result`:
// a carried value after the last iteration, or a stack. Nodes that differ in `result` only are one loop.
//
// Loop has no eval: its meaning is its body's, and an interpreter runs it once for all its results.
struct Loop {
  Expr trip;
  int64_t carried = 0;
  int64_t scanned = 0;
  int64_t result = 0;
  Body body;
  static constexpr std::string_view kName = "Loop";
  static constexpr std::string_view kDoc =
      "The body run `trip` times over carried values, slices of scanned ones and shared ones; the node is result "
      "number `result`: first the final carried values, then the stacks of the body's other outputs.";
  static constexpr int kArity = kVariadic;
  static constexpr OpFamily kFamily = OpFamily::loop;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() {
    return std::tuple{Field{"trip", &Loop::trip}, Field{"carried", &Loop::carried}, Field{"scanned", &Loop::scanned},
                      Field{"result", &Loop::result}, Field{"body", &Loop::body}};
  }
  static Expected<TensorType> infer(const Loop& op, std::span<const TensorType> operands);
};

}  // namespace lumen::hlir
