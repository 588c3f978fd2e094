#include "lumen/hlir/leaves.h"

#include <fmt/format.h>

#include "lumen/hlir/coordinates.h"
#include "lumen/hlir/infer.h"
#include "lumen/hlir/lanes.h"

namespace lumen::hlir {

Expected<TensorType> Constant::infer(const Constant& op, std::span<const TensorType>) {
  return TensorType{op.value.dtype, Shape{}};
}

Expected<void> Constant::eval(const Constant& op, const EvalContext&, std::span<const HostTensor* const>,
                              HostTensor& out) {
  out.lanes[0] = op.value.value;
  return {};
}

Expected<TensorType> Iota::infer(const Iota& op, std::span<const TensorType>) {
  if (is_float(op.dtype)) return op_error(kName, fmt::format("gives integers or bools, not {}", name(op.dtype)));
  LUMEN_TRY(check_shape(kName, op.shape));
  LUMEN_TRY(check_coordinates(kName, "value", op.value, op.shape));
  return TensorType{op.dtype, op.shape};
}

Expected<void> Iota::eval(const Iota& op, const EvalContext& context, std::span<const HostTensor* const>,
                          HostTensor& out) {
  const ExprProgram value = LUMEN_TRY(ExprProgram::compile(op.value, context.dims));
  std::vector<int64_t> coords(out.dims.size());
  for (Lane& lane : out.lanes) {
    lane.i = LUMEN_TRY(value(coords));
    next_coordinates(coords, out.dims);
  }
  settle(op.dtype, out.lanes.data(), out.numel());
  return {};
}

}  // namespace lumen::hlir
