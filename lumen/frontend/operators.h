// + - * / % and their assigning forms, unary -, for tensors mixed with numbers and symbolic dims.
// `/` is true division (integers give f32); `%` has the divisor's sign, as torch.remainder.
#pragma once

#include "lumen/frontend/elementwise.h"

namespace lumen {

inline Tensor operator+(const Operand& a, const Operand& b) { return add(a, b); }
inline Tensor operator-(const Operand& a, const Operand& b) { return sub(a, b); }
inline Tensor operator*(const Operand& a, const Operand& b) { return mul(a, b); }
inline Tensor operator/(const Operand& a, const Operand& b) { return div(a, b); }
inline Tensor operator%(const Operand& a, const Operand& b) { return remainder(a, b); }
inline Tensor operator-(const Operand& a) { return neg(a); }
inline Tensor& operator+=(Tensor& a, const Operand& b) { return a = add(Operand(a, b.where()), b); }
inline Tensor& operator-=(Tensor& a, const Operand& b) { return a = sub(Operand(a, b.where()), b); }
inline Tensor& operator*=(Tensor& a, const Operand& b) { return a = mul(Operand(a, b.where()), b); }
inline Tensor& operator/=(Tensor& a, const Operand& b) { return a = div(Operand(a, b.where()), b); }
inline Tensor& operator%=(Tensor& a, const Operand& b) { return a = remainder(Operand(a, b.where()), b); }

}  // namespace lumen
