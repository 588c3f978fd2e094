// One application of an elementwise op as an expression, and literals.
#pragma once

#include <span>
#include <string>

#include "lumen/ir/graph.h"

namespace lumen {

// Whether element_op() knows the op: unary, binary, Select and Cast.
bool is_element_op(const Node& node);
// Operands are of their compute types, and so is the result: floats narrower than f32 are rounded when they are stored
// or cast, integers are wrapped to their dtype.
std::string element_op(const Node& node, std::span<const DType> dtypes, std::span<const std::string> operands);
// Whether values of a dtype are rounded from its compute type; and what is rounded where x, of `from`, is cast to one.
bool rounds(DType dtype);
std::string before_rounding(DType from, DType to, const std::string& x);
// The bits that a value of the compute type is stored as, as an unsigned integer; and back.
std::string bits_of(DType dtype, const std::string& x);
std::string from_bits(DType dtype, const std::string& bits);
// Of the compute type.
std::string literal(const Scalar& value);

}  // namespace lumen
