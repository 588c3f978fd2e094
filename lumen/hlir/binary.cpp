#include "lumen/hlir/binary.h"

#include <fmt/format.h>

#include "lumen/hlir/infer.h"

namespace lumen::hlir {

namespace {

// PyTorch's rules for counts outside 0 .. width-1.
int64_t shift(ShiftDirection direction, int64_t a, int64_t count, DType dtype) {
  const int width = info(dtype).bits;
  const bool all_out = static_cast<uint64_t>(count) >= static_cast<uint64_t>(width);
  if (direction == ShiftDirection::left) {
    return all_out ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << count);
  }
  if (is_unsigned(dtype)) return all_out ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) >> count);
  return a >> (all_out ? 63 : count);
}

}  // namespace

Expected<TensorType> infer_binary(std::string_view op, DTypeClasses admitted, std::span<const TensorType> operands) {
  LUMEN_TRY(check_dtype(op, admitted, operands[0]));
  LUMEN_TRY(check_same(op, operands[0], operands[1]));
  return operands[0];
}

bool fails_to_divide(std::string_view op, const ApplyArgs& args) {
  const DType dtype = args.in_dtypes[0];
  for (int64_t k = 0; k < args.count; ++k) {
    if (args.in[1][k].i != 0) continue;
    const int64_t a = args.in[0][k].i;
    const std::string dividend = is_unsigned(dtype) ? std::to_string(static_cast<uint64_t>(a)) : std::to_string(a);
    *args.error = fmt::format("[{}] integer division by zero: {} by 0 in {}", op, dividend, name(dtype));
    return true;
  }
  return false;
}

Expected<TensorType> Shift::infer(const Shift&, std::span<const TensorType> operands) {
  return infer_binary(kName, kOperands, operands);
}

void Shift::apply(const Shift& op, const ApplyArgs& args) {
  for (int64_t k = 0; k < args.count; ++k) {
    args.out[k].i = shift(op.direction, args.in[0][k].i, args.in[1][k].i, args.out_dtype);
  }
  settle(args.out_dtype, args.out, args.count);
}

}  // namespace lumen::hlir
