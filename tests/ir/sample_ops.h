// A few ops for the tests of ir/, which knows none but Input.
#pragma once

#include <array>
#include <memory>

#include "lumen/ir/graph.h"
#include "lumen/ir/text.h"

namespace lumen::sample {

inline Diag type_error(std::string_view op, std::string_view text) {
  return error("[" + std::string(op) + "] " + std::string(text));
}

struct Add {
  static constexpr std::string_view kName = "Add";
  static constexpr std::string_view kDoc = "The sum of two.";
  static constexpr int kArity = 2;
  static constexpr OpFamily kFamily = OpFamily::binary;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{}; }
  static Expected<TensorType> infer(const Add&, std::span<const TensorType> in) {
    if (in[0] != in[1]) return type_error(kName, in[0].str() + " and " + in[1].str() + " differ");
    return in[0];
  }
  static void apply(const Add&, const ApplyArgs& args) {
    for (int64_t k = 0; k < args.count; ++k) args.out[k].f = args.in[0][k].f + args.in[1][k].f;
  }
};

struct SumReduce {
  int64_t axis = 0;
  static constexpr std::string_view kName = "SumReduce";
  static constexpr std::string_view kDoc = "Sum over `axis`.";
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::reduce;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"axis", &SumReduce::axis}}; }
  static Expected<TensorType> infer(const SumReduce& op, std::span<const TensorType> in) {
    std::vector<Expr> dims(in[0].shape.begin(), in[0].shape.end());
    if (op.axis < 0 || op.axis >= in[0].shape.rank()) {
      return type_error(kName, "axis " + std::to_string(op.axis) + " out of range for " + in[0].str());
    }
    dims.erase(dims.begin() + op.axis);
    return TensorType{in[0].dtype, dims};
  }
  static Expected<void> eval(const SumReduce&, const EvalContext&, std::span<const HostTensor* const>, HostTensor&) {
    return error("not needed");
  }
};

struct Look {
  View view = {};
  static constexpr std::string_view kName = "View";
  static constexpr std::string_view kDoc = "Reads through a view.";
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::view;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"view", &Look::view}}; }
  static Expected<TensorType> infer(const Look& op, std::span<const TensorType> in) {
    return TensorType{in[0].dtype, op.view.shape()};
  }
};

struct Iota {
  Shape shape = {};
  Expr value = {};
  DType dtype = DType::i64;
  static constexpr std::string_view kName = "Iota";
  static constexpr std::string_view kDoc = "The value of `value` at each position.";
  static constexpr int kArity = 0;
  static constexpr OpFamily kFamily = OpFamily::leaf;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() {
    return std::tuple{Field{"shape", &Iota::shape}, Field{"value", &Iota::value}, Field{"dtype", &Iota::dtype}};
  }
  static Expected<TensorType> infer(const Iota& op, std::span<const TensorType>) {
    return TensorType{op.dtype, op.shape};
  }
};

enum class Mode : uint8_t { forward, backward };

// One field of every type that is not above.
struct Fields {
  double rate = 0.5;
  bool flag = false;
  Scalar scalar = {};
  Name label = {};
  Mode mode = Mode::forward;
  static constexpr std::string_view kName = "Fields";
  static constexpr std::string_view kDoc = "Has fields.";
  static constexpr int kArity = kVariadic;
  static constexpr OpFamily kFamily = OpFamily::custom;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() {
    return std::tuple{Field{"rate", &Fields::rate}, Field{"flag", &Fields::flag}, Field{"scalar", &Fields::scalar},
                      Field{"label", &Fields::label}, Field{"mode", &Fields::mode}};
  }
  static Expected<TensorType> infer(const Fields& op, std::span<const TensorType> in) {
    return TensorType{op.scalar.dtype, in.empty() ? Shape() : in[0].shape};
  }
};

struct Loop {
  Expr trip = {};
  Body body = {};
  static constexpr std::string_view kName = "Loop";
  static constexpr std::string_view kDoc = "Runs its body.";
  static constexpr int kArity = kVariadic;
  static constexpr OpFamily kFamily = OpFamily::loop;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"trip", &Loop::trip}, Field{"body", &Loop::body}}; }
  static Expected<TensorType> infer(const Loop& op, std::span<const TensorType>) {
    if (op.body.graph->outputs().empty()) return type_error(kName, "the body has no output");
    return (*op.body.graph)[op.body.graph->outputs()[0].value].type;
  }
};

}  // namespace lumen::sample

namespace lumen {

template <>
struct EnumNames<sample::Mode> {
  static constexpr std::string_view type = "mode";
  static constexpr std::array values = {std::pair{sample::Mode::forward, std::string_view("forward")},
                                        std::pair{sample::Mode::backward, std::string_view("backward")}};
};

namespace sample {

inline OpTable ops() {
  return {&op_def<Input>(), &op_def<Add>(),    &op_def<SumReduce>(), &op_def<Look>(),
          &op_def<Iota>(),  &op_def<Fields>(), &op_def<Loop>()};
}

// Adds a node that is known to be right.
template <class Op>
Tensor emit(Graph& graph, const Op& op, std::initializer_list<Tensor> operands = {}) {
  std::vector<NodeId> ids;
  for (const Tensor& operand : operands) ids.push_back(operand.id);
  return {&graph, *graph.add(op, ids)};
}

}  // namespace sample
}  // namespace lumen
