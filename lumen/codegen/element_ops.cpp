#include "lumen/codegen/element_ops.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "lumen/base/check.h"
#include "lumen/codegen/scalar.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/select.h"
#include "lumen/hlir/unary.h"

namespace lumen {

namespace {

using Names = std::pair<const OpDef*, std::string_view>;

// The ops that are one function of the prelude.
std::string_view function_of(const OpDef* op) {
  static const std::array kNames = {Names{&op_def<hlir::Exp2>(), "exp2"},   Names{&op_def<hlir::Log2>(), "log2"},
                                    Names{&op_def<hlir::Sin>(), "sin"},     Names{&op_def<hlir::Sqrt>(), "sqrt"},
                                    Names{&op_def<hlir::Recip>(), "recip"}, Names{&op_def<hlir::Floor>(), "floor"},
                                    Names{&op_def<hlir::Tanh>(), "tanh"},   Names{&op_def<hlir::Erf>(), "erf"},
                                    Names{&op_def<hlir::Atan>(), "atan"},   Names{&op_def<hlir::Add>(), "add"},
                                    Names{&op_def<hlir::Mul>(), "mul"},     Names{&op_def<hlir::Div>(), "div"},
                                    Names{&op_def<hlir::Mod>(), "mod"},     Names{&op_def<hlir::Maximum>(), "max"},
                                    Names{&op_def<hlir::LessThan>(), "lt"}, Names{&op_def<hlir::Equal>(), "eq"},
                                    Names{&op_def<hlir::BitAnd>(), "and"},  Names{&op_def<hlir::BitOr>(), "or"},
                                    Names{&op_def<hlir::BitXor>(), "xor"}};
  for (const auto& [known, name] : kNames) {
    if (known == op) return name;
  }
  return {};
}

std::string wrapped(DType dtype, std::string text) {
  if (is_float(dtype) || is_bool(dtype) || info(dtype).bits >= 32) return text;
  return fmt::format("{}({})", wrap_function(dtype), text);
}

std::string rounded(DType dtype, const std::string& text) {
  return fmt::format("lumen_round_{}({})", name(dtype), text);
}

// As an f32 that rounds to fewer bits as x itself would.
std::string narrowed(DType from, const std::string& x) {
  if (from == DType::f64) return fmt::format("lumen_odd_f64({})", x);
  if (from == DType::i64 || from == DType::u64) {
    return fmt::format("lumen_odd_f64(lumen_odd_{}({}))", compute_suffix(from), x);
  }
  if (is_int(from) && info(from).bits == 32) return fmt::format("lumen_odd_f64((double)({}))", x);
  return fmt::format("(float)({})", x);
}

std::string cast(DType from, DType to, const std::string& x) {
  if (is_bool(to)) return fmt::format("(uint8_t)({} != 0)", x);
  if (to == DType::f32 || to == DType::f64) return fmt::format("({})({})", compute_type(to), x);
  if (is_float(to)) return rounded(to, before_rounding(from, to, x));
  if (is_float(from)) {
    const int bits = info(to).bits;
    if (is_unsigned(to)) {
      return fmt::format("({})lumen_to_u64((double)({}), {}, {}ull)", compute_type(to), x,
                         fmt::format("{:.1f}", std::ldexp(1.0, bits)), ~uint64_t{0} >> (64 - bits));
    }
    return fmt::format("({})lumen_to_i64((double)({}), {}, {}ll)", compute_type(to), x,
                       fmt::format("{:.1f}", std::ldexp(1.0, bits - 1)), ~uint64_t{0} >> (65 - bits));
  }
  return wrapped(to, fmt::format("({})({})", compute_type(to), x));
}

}  // namespace

bool rounds(DType dtype) { return is_float(dtype) && dtype != DType::f32 && dtype != DType::f64; }

// f8ue8m0 is defined by way of f32.
std::string before_rounding(DType from, DType to, const std::string& x) {
  return to == DType::f8ue8m0 ? fmt::format("(float)({})", x) : narrowed(from, x);
}

bool is_element_op(const Node& node) {
  return !function_of(node.op).empty() || node.is<hlir::Shift>() || node.is<hlir::Select>() || node.is<hlir::Cast>();
}

std::string element_op(const Node& node, std::span<const DType> dtypes, std::span<const std::string> operands) {
  if (node.is<hlir::Select>()) return fmt::format("{} ? {} : {}", operands[0], operands[1], operands[2]);
  if (node.is<hlir::Cast>()) return cast(dtypes[0], node.as<hlir::Cast>().to, operands[0]);
  const DType dtype = dtypes[0];
  const std::string_view suffix = compute_suffix(dtype);
  if (node.is<hlir::Shift>()) {
    const bool left = node.as<hlir::Shift>().direction == hlir::ShiftDirection::left;
    return wrapped(dtype, fmt::format("lumen_{}_{}({}, {}, {})", left ? "shl" : "shr", suffix, operands[0], operands[1],
                                      info(dtype).bits));
  }
  const std::string_view function = function_of(node.op);
  CHECK(!function.empty(), "not an elementwise op");
  return wrapped(node.type.dtype, fmt::format("lumen_{}_{}({})", function, suffix, fmt::join(operands, ", ")));
}

std::string bits_of(DType dtype, const std::string& x) {
  if (dtype == DType::f32 || dtype == DType::f64) return fmt::format("lumen_bits_{}({})", compute_suffix(dtype), x);
  if (is_packed(dtype)) return fmt::format("lumen_encode_{}({})", name(dtype), x);
  return fmt::format("(uint{}_t){}({})", info(dtype).bits, store_function(dtype), x);
}

std::string from_bits(DType dtype, const std::string& bits) {
  if (is_packed(dtype)) return fmt::format("lumen_decode_{}((uint32_t)({}))", name(dtype), bits);
  const std::string code = fmt::format("(uint{}_t)({})", info(dtype).bits, bits);
  if (dtype == DType::f32 || dtype == DType::f64) return fmt::format("lumen_from_bits_{}({})", name(dtype), code);
  return fmt::format("{}(({}){})", load_function(dtype), storage_type(dtype), code);
}

std::string literal(const Scalar& scalar) {
  const DType dtype = scalar.dtype;
  if (is_float(dtype)) {
    const double x = scalar.value.f;
    if (std::isnan(x)) return fmt::format("lumen_nan_{}()", compute_suffix(dtype));
    if (std::isinf(x)) return fmt::format("({}lumen_inf_{}())", x < 0 ? "-" : "", compute_suffix(dtype));
    const std::string digits = fmt::format("{:a}", x);
    return dtype == DType::f64 ? digits : digits + "f";
  }
  const int64_t x = scalar.value.i;
  if (is_bool(dtype)) return x != 0 ? "(uint8_t)1" : "(uint8_t)0";
  if (dtype == DType::u64) return fmt::format("{}ull", static_cast<uint64_t>(x));
  if (dtype == DType::i64) return x == INT64_MIN ? "(-9223372036854775807ll - 1)" : fmt::format("(int64_t){}ll", x);
  if (is_unsigned(dtype)) return fmt::format("{}u", static_cast<uint64_t>(x));
  return x == INT32_MIN ? "(-2147483647 - 1)" : fmt::format("({})", x);
}

}  // namespace lumen
