// Contract: a sum of products of two viewed tensors. Matrix products of every layout, batched, broadcast, convolutions,
// sums of squares: they differ in their views alone.
//
//   c[m,n] = sum over k of a[m,k] * b[n,k]     a f32[M,K], b f32[N,K]
//     Contract a b :left {[M,N,K] K*i0 + i2} :right {[M,N,K] K*i1 + i2} :reduced 1
#pragma once

#include <memory>

#include "lumen/ir/graph.h"
#include "lumen/ir/verify.h"

namespace lumen {

namespace llir {

struct Contract {
  View left, right;  // of the operands, over one domain: the dims of the result, then those that are summed over
  int64_t reduced = 0;
  static constexpr std::string_view kName = "Contract";
  static constexpr std::string_view kDoc =
      "The sum, over the last `reduced` dims of the domain that both views have, of the products of what `left` reads "
      "of "
      "the first operand and `right` of the second: View, View, Mul and as many SumReduce.";
  static constexpr int kArity = 2;
  static constexpr OpFamily kFamily = OpFamily::contract;
  static constexpr DTypeClasses kOperands = kNumbers;
  static constexpr auto fields() {
    return std::tuple{Field{"left", &Contract::left}, Field{"right", &Contract::right},
                      Field{"reduced", &Contract::reduced}};
  }
  static Expected<TensorType> infer(const Contract& op, std::span<const TensorType> operands);
};

}  // namespace llir

// The primitives and Contract, and the stage of graphs that the search has been through.
const OpTable& llir_ops();
const Stage& llir_stage();

// The same in primitives alone: what an interpreter can run.
std::shared_ptr<Graph> expand(const Graph& graph);

}  // namespace lumen
