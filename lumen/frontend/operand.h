// Operand: an argument of a frontend function. Converts from a Tensor, a number or a symbolic dim, and remembers the
// place in the user's source where that happened, so that errors can name it.
//
// A number takes its dtype from the tensors beside it, as in PyTorch: an integer stays what they are, a float makes
// integers and bools f32, and a number never widens a float. A symbolic dim counts as an i64 number.
#pragma once

#include <concepts>
#include <cstdint>
#include <variant>

#include "lumen/ir/graph.h"

namespace lumen {

class Operand {
 public:
  Operand(Tensor tensor, SourceLocation where = SourceLocation::current()) : value_(tensor), where_(where) {}  // NOLINT
  Operand(bool value, SourceLocation where = SourceLocation::current()) : value_(value), where_(where) {}      // NOLINT
  template <std::integral T>
  requires(!std::same_as<T, bool>) Operand(T value, SourceLocation where = SourceLocation::current())  // NOLINT
      : value_(static_cast<int64_t>(value)), where_(where) {}
  template <std::floating_point T>
  Operand(T value, SourceLocation where = SourceLocation::current())  // NOLINT
      : value_(static_cast<double>(value)), where_(where) {}
  Operand(Expr value, SourceLocation where = SourceLocation::current()) : value_(value), where_(where) {}  // NOLINT

  bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
  Tensor tensor() const;  // throws Error when it is a number
  const std::variant<Tensor, bool, int64_t, double, Expr>& value() const { return value_; }
  const SourceLocation& where() const { return where_; }

 private:
  std::variant<Tensor, bool, int64_t, double, Expr> value_;
  SourceLocation where_;
};

}  // namespace lumen
