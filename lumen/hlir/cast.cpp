#include "lumen/hlir/cast.h"

#include <fmt/format.h>

#include <cmath>

#include "lumen/hlir/infer.h"
#include "lumen/hlir/lanes.h"

namespace lumen::hlir {

namespace {

// Beyond 53 bits the lost ones are kept as a last bit of 1 (rounding to odd), so that the rounding that follows, to
// fewer bits, is right.
double widen(uint64_t magnitude) {
  if (magnitude < uint64_t{1} << 53) return static_cast<double>(magnitude);
  const uint64_t lost = magnitude & 0x7ff;
  return std::ldexp(static_cast<double>((magnitude >> 11) | (lost != 0 ? 1 : 0)), 11);
}

double float_of_int(DType from, Lane lane, DType to) {
  if (is_unsigned(from)) {
    const auto value = static_cast<uint64_t>(lane.i);
    return to == DType::f64 ? static_cast<double>(value) : widen(value);
  }
  if (to == DType::f64) return static_cast<double>(lane.i);
  return lane.i < 0 ? -widen(0 - static_cast<uint64_t>(lane.i)) : widen(static_cast<uint64_t>(lane.i));
}

int64_t int_of_float(double value, DType to) {
  if (std::isnan(value)) return 0;
  const int bits = info(to).bits;
  if (is_unsigned(to)) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, bits)) return static_cast<int64_t>(~uint64_t{0} >> (64 - bits));
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  const double end = std::ldexp(1.0, bits - 1);
  if (value >= end) return static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
  if (value < -end) return -static_cast<int64_t>(~uint64_t{0} >> (65 - bits)) - 1;
  return static_cast<int64_t>(value);
}

}  // namespace

Expected<TensorType> Cast::infer(const Cast& op, std::span<const TensorType> operands) {
  return TensorType{op.to, operands[0].shape};
}

void Cast::apply(const Cast& op, const ApplyArgs& args) {
  const DType from = args.in_dtypes[0];
  const Lane* const in = args.in[0];
  const bool to_float = is_float(op.to);
  for (int64_t k = 0; k < args.count; ++k) {
    if (to_float) {
      args.out[k].f = is_float(from) ? in[k].f : float_of_int(from, in[k], op.to);
    } else if (is_float(from)) {
      args.out[k].i = is_bool(op.to) ? (in[k].f != 0 ? 1 : 0) : int_of_float(in[k].f, op.to);
    } else {
      args.out[k].i = in[k].i;
    }
  }
  settle(op.to, args.out, args.count);
}

Expected<TensorType> Bitcast::infer(const Bitcast& op, std::span<const TensorType> operands) {
  const TensorType& given = operands[0];
  const int64_t from_bits = info(given.dtype).bits;
  const int64_t to_bits = info(op.to).bits;
  if (from_bits == to_bits) return TensorType{op.to, given.shape};
  if (given.shape.rank() == 0) {
    return op_error(kName, fmt::format("a scalar keeps its width: {} cannot become {}", given.str(), name(op.to)));
  }
  std::vector<Expr> dims(given.shape.begin(), given.shape.end());
  const Expr bits = dims.back() * from_bits;
  if (bits % to_bits != Expr(0)) {
    return op_error(
        kName, fmt::format("the last dim of {} is not known to hold a whole number of {}", given.str(), name(op.to)));
  }
  dims.back() = bits / to_bits;
  return TensorType{op.to, Shape(dims)};
}

Expected<void> Bitcast::eval(const Bitcast& op, const EvalContext&, std::span<const HostTensor* const> in,
                             HostTensor& out) {
  const HostTensor& x = *in[0];
  std::vector<std::byte> bytes(static_cast<size_t>(storage_bytes(x.dtype, x.numel())));
  pack(x.dtype, x.lanes, bytes);
  unpack(op.to, bytes, out.lanes);
  return {};
}

}  // namespace lumen::hlir
