#include "lumen/hlir/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lumen/hlir/coordinates.h"
#include "lumen/hlir/infer.h"
#include "lumen/hlir/lanes.h"

namespace lumen::hlir {

namespace {

Expected<TensorType> infer_gather(std::string_view op, int64_t axis, const TensorType& x, const TensorType& indices) {
  if (!is_int(indices.dtype)) return op_error(op, fmt::format("needs integer indices, got {}", indices.str()));
  LUMEN_TRY(check_axis(op, axis, x));
  std::vector<Expr> dims(x.shape.begin(), x.shape.begin() + axis);
  dims.insert(dims.end(), indices.shape.begin(), indices.shape.end());
  dims.insert(dims.end(), x.shape.begin() + axis + 1, x.shape.end());
  return TensorType{x.dtype, Shape(dims)};
}

Expected<void> check_indices(std::string_view op, const HostTensor& indices, int64_t axis, int64_t size) {
  for (const Lane lane : indices.lanes) {
    if (static_cast<uint64_t>(lane.i) < static_cast<uint64_t>(size)) continue;
    const std::string index = Scalar{indices.dtype, lane}.str();
    return op_error(op, fmt::format("index {} is out of range for axis {} of size {}", index, axis, size));
  }
  return {};
}

template <class T>
T combine(ScatterMode mode, T old, T given) {
  switch (mode) {
    case ScatterMode::set:
      return given;
    case ScatterMode::add:
      return wrapping_add(old, given);
    case ScatterMode::mul:
      return wrapping_mul(old, given);
    case ScatterMode::max:
      return is_greater(given, old) ? given : old;
    case ScatterMode::min:
      return !is_nan(old) && (is_nan(given) || given < old) ? given : old;
  }
  CHECK(false, "a scatter mode without a meaning");
  return old;
}

}  // namespace

Expected<TensorType> Gather::infer(const Gather& op, std::span<const TensorType> operands) {
  return infer_gather(kName, op.axis, operands[0], operands[1]);
}

Expected<void> Gather::eval(const Gather& op, const EvalContext&, std::span<const HostTensor* const> in,
                            HostTensor& out) {
  const HostTensor& x = *in[0];
  const HostTensor& indices = *in[1];
  const AxisSplit split = split_at(x.dims, op.axis);
  LUMEN_TRY(check_indices(kName, indices, op.axis, split.size));
  auto to = out.lanes.begin();
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (const Lane index : indices.lanes) {
      to = std::copy_n(x.lanes.begin() + (outer * split.size + index.i) * split.inner, split.inner, to);
    }
  }
  return {};
}

Expected<TensorType> Scatter::infer(const Scatter& op, std::span<const TensorType> operands) {
  const TensorType slices = LUMEN_TRY(infer_gather(kName, op.axis, operands[0], operands[1]));
  if (operands[2] == slices) return operands[0];
  return op_error(kName, fmt::format("needs a source of type {} for {} by {}, got {}", slices.str(), operands[0].str(),
                                     operands[1].str(), operands[2].str()));
}

Expected<void> Scatter::eval(const Scatter& op, const EvalContext&, std::span<const HostTensor* const> in,
                             HostTensor& out) {
  const HostTensor& x = *in[0];
  const HostTensor& indices = *in[1];
  const AxisSplit split = split_at(x.dims, op.axis);
  LUMEN_TRY(check_indices(kName, indices, op.axis, split.size));
  std::copy(x.lanes.begin(), x.lanes.end(), out.lanes.begin());
  visit_lanes<kOperands>(x.dtype, [&]<class T>() {
    const Lane* from = in[2]->lanes.data();
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (const Lane index : indices.lanes) {
        Lane* to = out.lanes.data() + (outer * split.size + index.i) * split.inner;
        for (int64_t k = 0; k < split.inner; ++k, ++to, ++from) {
          *to = lane_of(combine(op.mode, lane_value<T>(*to), lane_value<T>(*from)));
        }
      }
    }
  });
  settle(out.dtype, out.lanes.data(), out.numel());
  return {};
}

}  // namespace lumen::hlir
