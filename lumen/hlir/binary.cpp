#include "lumen/hlir/binary.h"

#include <fmt/format.h>

#include "lumen/hlir/infer.h"

namespace lumen::hlir {

namespace {

// The first integer division by zero of the run, as an error.
template <class T>
bool fails_to_divide(std::string_view op, const ApplyArgs& args) {
  for (int64_t k = 0; k < args.count; ++k) {
    if (args.in[1][k].i != 0) continue;
    *args.error = fmt::format("[{}] integer division by zero: {} by 0 in {}", op, lane_value<T>(args.in[0][k]),
                              name(args.in_dtypes[0]));
    return true;
  }
  return false;
}

Expected<TensorType> infer_binary(std::string_view op, DTypeClasses admitted, std::span<const TensorType> operands) {
  LUMEN_TRY(check_dtype(op, admitted, operands[0]));
  LUMEN_TRY(check_same(op, operands[0], operands[1]));
  return operands[0];
}

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

template <class Op>
Expected<TensorType> Binary<Op>::infer(const Op&, std::span<const TensorType> operands) {
  TensorType type = LUMEN_TRY(infer_binary(Op::kName, Op::kOperands, operands));
  if constexpr (std::is_same_v<decltype(Op::scalar(uint64_t{1}, uint64_t{1})), bool>) type.dtype = DType::bool_;
  return type;
}

template <class Op>
void Binary<Op>::apply(const Op&, const ApplyArgs& args) {
  visit_lanes<Op::kOperands>(args.in_dtypes[0], [&]<class T>() {
    if constexpr (Op::kDivides && std::is_integral_v<T>) {
      if (fails_to_divide<T>(Op::kName, args)) return;
    }
    const Lane* const __restrict a = args.in[0];
    const Lane* const __restrict b = args.in[1];
    Lane* const __restrict out = args.out;
    for_each_lane(args.count, [=](int64_t k) {
      const auto result = Op::scalar(lane_value<T>(a[k]), lane_value<T>(b[k]));
      if constexpr (std::is_same_v<decltype(result), const bool>) {
        out[k].i = result ? 1 : 0;
      } else {
        out[k] = lane_of(result);
      }
    });
    settle(args.out_dtype, args.out, args.count);
  });
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

template struct Binary<Add>;
template struct Binary<Mul>;
template struct Binary<Div>;
template struct Binary<Mod>;
template struct Binary<Maximum>;
template struct Binary<LessThan>;
template struct Binary<Equal>;
template struct Binary<BitAnd>;
template struct Binary<BitOr>;
template struct Binary<BitXor>;

}  // namespace lumen::hlir
