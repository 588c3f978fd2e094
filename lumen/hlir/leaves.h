// Leaves: values made from nothing. Input, the third leaf, is in ir/graph.h.
#pragma once

#include "lumen/ir/op.h"

namespace lumen::hlir {

struct Constant {
  Scalar value;
  static constexpr std::string_view kName = "Constant";
  static constexpr std::string_view kDoc = "One value, of shape []; a View expands it.";
  static constexpr int kArity = 0;
  static constexpr OpFamily kFamily = OpFamily::leaf;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"value", &Constant::value}}; }
  static Expected<TensorType> infer(const Constant& op, std::span<const TensorType> operands);
  static Expected<void> eval(const Constant& op, const EvalContext& context, std::span<const HostTensor* const> in,
                             HostTensor& out);
};

struct Iota {
  Shape shape;
  Expr value;  // over the coordinates i0, i1, … of `shape`
  DType dtype = DType::i64;
  static constexpr std::string_view kName = "Iota";
  static constexpr std::string_view kDoc =
      "`value`, an expression over the coordinates i0, i1, … of `shape`, at each position, wrapped to an integer "
      "dtype or bool. A symbolic dim as a tensor is an Iota of shape [].";
  static constexpr int kArity = 0;
  static constexpr OpFamily kFamily = OpFamily::leaf;
  static constexpr DTypeClasses kOperands = kBits;
  static constexpr auto fields() {
    return std::tuple{Field{"shape", &Iota::shape}, Field{"value", &Iota::value}, Field{"dtype", &Iota::dtype}};
  }
  static Expected<TensorType> infer(const Iota& op, std::span<const TensorType> operands);
  static Expected<void> eval(const Iota& op, const EvalContext& context, std::span<const HostTensor* const> in,
                             HostTensor& out);
};

}  // namespace lumen::hlir
