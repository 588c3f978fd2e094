#include "tests/frontend/rig.h"

#include <cmath>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/hlir/ops.h"
#include "tests/support/round_trip.h"

namespace lumen {

Expr Rig::dim(const std::string& name, int64_t value, int64_t lo, int64_t hi) {
  dims_.set(name, value);
  return graph_->dim(name, lo, hi);
}

Tensor Rig::input(const Shape& shape, const std::vector<double>& values, DType dtype) {
  HostTensor host = HostTensor::poisoned(dtype, shape.evaluate(dims_).value());
  EXPECT_EQ(values.size(), host.lanes.size());
  for (size_t k = 0; k < host.lanes.size(); ++k) {
    host.lanes[k] =
        is_float(dtype) ? Scalar::of(dtype, values[k]).value : Scalar::of(dtype, static_cast<int64_t>(values[k])).value;
  }
  const Tensor tensor = graph_->input("x" + std::to_string(inputs_.size()), shape, dtype);
  inputs_.push_back({tensor, std::move(host)});
  return tensor;
}

Tensor Rig::random(const Shape& shape, DType dtype, double range) {
  const std::vector<int64_t> sizes = shape.evaluate(dims_).value();
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  std::uniform_real_distribution<double> draw(-range, range);
  std::vector<double> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(draw(engine_));
  return input(shape, values, dtype);
}

std::vector<double> Rig::values(Tensor input) const {
  for (const Given& given : inputs_) {
    if (given.tensor.id == input.id) return doubles(given.value);
  }
  ADD_FAILURE() << "not an input";
  return {};
}

HostTensor Rig::run(Tensor result) {
  result.output("y" + std::to_string(outputs_++));
  expect_round_trip(*graph_, hlir_ops());
  const auto verified = verify(*graph_, hlir_stage());
  EXPECT_TRUE(verified.ok()) << verified.diag().str();
  std::vector<const HostTensor*> inputs;
  for (const Given& given : inputs_) inputs.push_back(&given.value);
  auto outputs = interpret(*graph_, inputs, dims_);
  if (!outputs.ok()) throw Error(outputs.diag());
  return std::move(outputs->back());
}

std::vector<double> doubles(const HostTensor& tensor) {
  std::vector<double> values;
  for (const Lane& lane : tensor.lanes) {
    values.push_back(is_float(tensor.dtype) ? lane.f : static_cast<double>(lane.i));
  }
  return values;
}

void expect_close(const HostTensor& got, const std::vector<double>& want, double tolerance) {
  const std::vector<double> values = doubles(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t k = 0; k < want.size(); ++k) {
    if (std::isnan(want[k])) {
      EXPECT_TRUE(std::isnan(values[k])) << "at " << k << ": " << values[k];
    } else if (std::isinf(want[k]) || tolerance == 0) {
      EXPECT_EQ(values[k], want[k]) << "at " << k;
      EXPECT_EQ(std::signbit(values[k]), std::signbit(want[k])) << "at " << k;
    } else {
      EXPECT_NEAR(values[k], want[k], tolerance * std::max(1.0, std::abs(want[k]))) << "at " << k;
    }
  }
}

int64_t count_ops(Tensor result, std::string_view name) {
  std::vector<bool> needed(result.graph->size(), false);
  needed[static_cast<size_t>(result.id)] = true;
  int64_t count = 0;
  for (size_t k = needed.size(); k-- > 0;) {
    if (!needed[k]) continue;
    const Node& node = (*result.graph)[static_cast<NodeId>(k)];
    if (node.op->name == name) ++count;
    for (NodeId id : node.operands) needed[static_cast<size_t>(id)] = true;
  }
  return count;
}

}  // namespace lumen
