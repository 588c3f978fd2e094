// Tensors for tests, and running one op on them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/graph.h"
#include "tests/support/round_trip.h"

namespace lumen::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Values must be values of the dtype.
inline HostTensor floats(DType dtype, std::vector<int64_t> dims, std::initializer_list<double> values) {
  HostTensor tensor{dtype, std::move(dims), {}};
  for (const double value : values) tensor.lanes.push_back(Lane{.f = value});
  return tensor;
}
inline HostTensor ints(DType dtype, std::vector<int64_t> dims, std::initializer_list<int64_t> values) {
  HostTensor tensor{dtype, std::move(dims), {}};
  for (const int64_t value : values) tensor.lanes.push_back(Lane{.i = value});
  return tensor;
}
// 1-D, of any dtype.
inline HostTensor row(DType dtype, const std::vector<double>& values) {
  HostTensor tensor{dtype, {static_cast<int64_t>(values.size())}, {}};
  for (const double value : values) tensor.lanes.push_back(Scalar::of(dtype, value).value);
  return tensor;
}

// The dims that a body declares, out of those known.
inline DimValues dims_of(const Graph& body, const DimValues& all) {
  DimValues dims;
  for (const Expr& dim : body.dims()) dims.set(dim.dim_name(), evaluate(dim, all).value());
  return dims;
}

// Bit for bit, but every NaN equals every other.
inline ::testing::AssertionResult same(const HostTensor& got, const HostTensor& wanted) {
  if (got.dtype != wanted.dtype) return ::testing::AssertionFailure() << "dtype " << name(got.dtype);
  if (got.dims != wanted.dims) return ::testing::AssertionFailure() << "dims " << ::testing::PrintToString(got.dims);
  if (got.lanes.size() != wanted.lanes.size()) return ::testing::AssertionFailure() << got.lanes.size() << " lanes";
  for (size_t k = 0; k < got.lanes.size(); ++k) {
    const Scalar a{got.dtype, got.lanes[k]};
    const Scalar b{wanted.dtype, wanted.lanes[k]};
    if (a == b || (is_float(a.dtype) && std::isnan(a.value.f) && std::isnan(b.value.f))) continue;
    return ::testing::AssertionFailure() << "element " << k << " is " << a.str() << ", not " << b.str();
  }
  return ::testing::AssertionSuccess();
}

inline Shape shape_of(const HostTensor& tensor) { return Shape(tensor.dims); }

// The value of one op on given operands, by the interpreter; its graph is round-tripped through text.
template <class Op>
Expected<HostTensor> run(const Op& op, const std::vector<HostTensor>& operands, const DimValues& dims = {}) {
  Graph graph;
  std::vector<NodeId> nodes;
  std::vector<const HostTensor*> inputs;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Input input{"x" + std::to_string(k), InputKind::data, operands[k].dtype, shape_of(operands[k])};
    nodes.push_back(graph.add_input(input).value());
    inputs.push_back(&operands[k]);
  }
  const NodeId node = LUMEN_TRY(graph.add(op, nodes));
  graph.add_output("y", node).value();
  OpTable table = hlir_ops();
  if (table.find(Op::kName) == nullptr) table.add(op_def<Op>());
  expect_round_trip(graph, table);
  return std::move(LUMEN_TRY(interpret(graph, inputs, dims))[0]);
}

// The text of the error that running (or building) the op gives; "no error" when there is none.
template <class Op>
std::string failure(const Op& op, const std::vector<HostTensor>& operands, const DimValues& dims = {}) {
  const Expected<HostTensor> result = run(op, operands, dims);
  return result.ok() ? "no error" : result.diag().str();
}

// The text of the error of infer for these types.
template <class Op>
std::string refusal(const Op& op, const std::vector<TensorType>& operands) {
  const Expected<TensorType> type = op_def<Op>().infer(&op, operands);
  return type.ok() ? "no error: " + type->str() : type.diag().str();
}

inline std::vector<DType> dtypes_of(DTypeClasses classes) {
  std::vector<DType> result;
  for (const DTypeInfo& about : all_dtypes()) {
    if (classes.admits(about.dtype)) result.push_back(about.dtype);
  }
  return result;
}

}  // namespace lumen::testing
