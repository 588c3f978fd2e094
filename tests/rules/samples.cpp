#include "tests/rules/samples.h"

#include <algorithm>
#include <cmath>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/kernel/contract.h"

namespace lumen::testing {

std::vector<HostTensor> random_inputs(const Graph& graph, const DimValues& dims, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<HostTensor> inputs;
  for (const NodeId id : graph.inputs()) {
    const TensorType type = graph[id].type;
    HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value());
    for (Lane& lane : tensor.lanes) {
      const int64_t number = static_cast<int64_t>(random() % (1 << 24)) - (1 << 23);
      const double value = number % 16 == 0 ? -0.0 : static_cast<double>(number) / (1 << 22);
      lane = is_float(type.dtype)  ? Scalar::of(type.dtype, value).value
             : is_bool(type.dtype) ? Scalar::of(type.dtype, number % 4 == 0 ? 0 : 1).value
                                   : Scalar::of(type.dtype, std::abs(number) % 3).value;
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::vector<HostTensor> run_expanded(const Graph& graph, const std::vector<HostTensor>& inputs, const DimValues& dims) {
  std::vector<const HostTensor*> given;
  for (const HostTensor& input : inputs) given.push_back(&input);
  return interpret(*expand(graph), given, dims).value();
}

namespace {

// Relative to the largest element: sums cancel, and what is lost is lost relative to what was summed.
double allowed(const HostTensor& wanted, bool rounding) {
  if (!rounding || !is_float(wanted.dtype)) return 0;
  double largest = 0;
  for (const Lane& lane : wanted.lanes) {
    if (std::isfinite(lane.f)) largest = std::max(largest, std::fabs(lane.f));
  }
  const int mantissa = info(wanted.dtype).mantissa_bits;
  const double units = mantissa > 30 ? 1 << 20 : mantissa > 20 ? 2048 : 8;
  return units * std::ldexp(largest, -mantissa);
}

bool same(DType dtype, Lane got, Lane wanted, double slack) {
  if (!is_float(dtype) || std::isnan(wanted.f)) {
    return is_float(dtype) ? std::isnan(got.f) : got.i == wanted.i;
  }
  if (slack == 0) return got.i == wanted.i;
  return got.f == wanted.f || std::fabs(got.f - wanted.f) <= slack;
}

}  // namespace

::testing::AssertionResult agree(const std::vector<HostTensor>& got, const std::vector<HostTensor>& wanted,
                                 bool rounding) {
  for (size_t k = 0; k < wanted.size(); ++k) {
    if (got[k].dtype != wanted[k].dtype || got[k].dims != wanted[k].dims) {
      return ::testing::AssertionFailure() << "output " << k << " is of another type";
    }
    const double slack = allowed(wanted[k], rounding);
    for (size_t i = 0; i < wanted[k].lanes.size(); ++i) {
      if (same(wanted[k].dtype, got[k].lanes[i], wanted[k].lanes[i], slack)) continue;
      return ::testing::AssertionFailure()
             << "element " << i << " of output " << k << " is " << Scalar{got[k].dtype, got[k].lanes[i]}.str()
             << ", not " << Scalar{wanted[k].dtype, wanted[k].lanes[i]}.str();
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace lumen::testing
