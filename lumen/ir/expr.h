// Expr: a symbolic integer, always in normal form.
//
// An Expr is a handle to an immutable, interned node: equal expressions are the same object and `==` compares
// handles. Construction normalises, exactly: the value never changes where the given expression had one.
//
// The normal form, by example (s is a dim in [1, 8192], i0 a coordinate with 0 <= i0 < s):
//
//   sum of products   (s + 1) * (s - 1)            ->  s*s - 1
//   no mod            i0 % 4                       ->  i0 - 4*(i0/4)       (printing shows i0 % 4 again)
//   div by laws       (i0*12 + i1*4 + i2) / 4      ->  3*i0 + i1           when 0 <= i2 < 4
//                     (i0 / 4) / 3                 ->  i0 / 12
//                     (i0*s + i1) / s              ->  i0                  when 0 <= i1 < s
//   decided           i0 < s                       ->  1
//   cancelled         (s*i0) / s                   ->  i0                  since s != 0 is known
//
// Because mod is spelled with floor-div, (z/x)*x + z%x = z, (z%12)/4 = (z/4)%3 and the like need no rule of
// their own: both sides have the same normal form.
//
// Division is floor division and mod has the divisor's sign, as in Python. Comparisons and logic are integers 0
// and 1. A variable carries its interval: the name and the bounds together are its identity, so normalising
// needs no context and is a pure function. Where a coefficient would leave 64 bits, or a divisor is the constant
// 0, the result is `undefined`, whose evaluation is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen {

struct ExprNode;

enum class ExprKind : uint8_t {
  constant,
  dim,        // a named symbol with constant bounds
  index,      // coordinate k of a view or iota, 0 <= i_k < extent
  sum,        // constant + sum of coefficient * product of atoms
  floor_div,  // atom: numerator / denominator
  min,        // atom: of two or more
  max,
  ge0,  // atom: argument >= 0
  eq0,  // atom: argument == 0
  ne0,
  all,  // atom: every argument (each 0 or 1) is 1
  any,
  product,  // atom: a product too large to expand
  undefined,
};

class Expr {
 public:
  Expr() : Expr(int64_t{0}) {}
  Expr(int64_t value);                                    // NOLINT: integers are expressions
  Expr(int value) : Expr(static_cast<int64_t>(value)) {}  // NOLINT
  // lo <= value <= hi at every use; CHECKs lo <= hi.
  static Expr dim(std::string_view name, int64_t lo, int64_t hi);
  // Coordinate k: 0 <= value < extent. An extent of 1 gives the constant 0.
  static Expr index(int k, Expr extent);
  static Expr undefined();

  ExprKind kind() const;
  bool is_constant() const { return kind() == ExprKind::constant; }
  std::optional<int64_t> constant() const;
  // Of a dim: its name and bounds. Of an index: k and extent. CHECKs the kind.
  std::string_view dim_name() const;
  std::pair<int64_t, int64_t> dim_bounds() const;
  int index_number() const;
  Expr index_extent() const;

  bool operator==(const Expr& o) const { return node_ == o.node_; }
  uint64_t hash() const;  // of the content: the same in every process
  const ExprNode* node() const { return node_; }
  explicit Expr(const ExprNode* node) : node_(node) {}

  // Canonical text; parse_expr reads it back to the same object.
  std::string str() const;

 private:
  const ExprNode* node_;
};

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator*(Expr a, Expr b);
Expr floor_div(Expr a, Expr b);
Expr mod(Expr a, Expr b);
Expr ceil_div(Expr a, Expr b);
inline Expr operator/(Expr a, Expr b) { return floor_div(a, b); }
inline Expr operator%(Expr a, Expr b) { return mod(a, b); }
inline Expr& operator+=(Expr& a, Expr b) { return a = a + b; }
inline Expr& operator*=(Expr& a, Expr b) { return a = a * b; }
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
// Comparisons give 0 or 1. Named, because == and < on handles compare objects.
Expr lt(Expr a, Expr b);
Expr le(Expr a, Expr b);
Expr gt(Expr a, Expr b);
Expr ge(Expr a, Expr b);
Expr eq(Expr a, Expr b);
Expr ne(Expr a, Expr b);
Expr logical_and(Expr a, Expr b);  // arguments count as true when not 0
Expr logical_or(Expr a, Expr b);
Expr logical_not(Expr a);

// A total order on content (never on pointers): constants, then dims by name, then indices, then compound.
int compare(Expr a, Expr b);

// Replaces variables (dims or indices) and normalises anew. Pairs must have distinct first elements.
using Substitution = std::span<const std::pair<Expr, Expr>>;
Expr substitute(Expr e, Substitution what);
// The same expression built again from its variables; normal forms are fixed points: renormalise(e) == e.
Expr renormalise(Expr e);
// Every dim and index in e, in canonical order.
std::vector<Expr> variables(Expr e);
bool depends_on(Expr e, Expr variable);

// ---- values -------------------------------------------------------------------------------------------------

// Values of dims by name, as a Session has them.
class DimValues {
 public:
  DimValues() = default;
  DimValues(std::initializer_list<std::pair<std::string, int64_t>> values) {
    for (const auto& [name, value] : values) set(name, value);
  }
  void set(std::string_view name, int64_t value);
  std::optional<int64_t> get(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, int64_t>> values_;  // sorted by name
};

// The value; an error for a missing dim, one outside its bounds, division by zero, or a result beyond 64 bits.
// Coordinate k takes coords[k].
Expected<int64_t> evaluate(Expr e, const DimValues& dims, std::span<const int64_t> coords = {});

// An expression with its dims fixed, compiled for many evaluations over coordinates. Affine ones run as a dot product.
class ExprProgram {
 public:
  static Expected<ExprProgram> compile(Expr e, const DimValues& dims);
  Expected<int64_t> operator()(std::span<const int64_t> coords) const;
  // Set when the expression is offset + sum stride[k]*coord[k] once dims are fixed.
  struct Affine {
    int64_t offset;
    std::vector<int64_t> strides;  // by coordinate number; shorter than the rank when trailing ones are 0
  };
  const std::optional<Affine>& affine() const { return affine_; }

 private:
  Expr e_;  // with the dims replaced by their values
  std::optional<Affine> affine_;
};

// ---- text ---------------------------------------------------------------------------------------------------

// Names in scope while parsing: dims by name; i0, i1, … are coordinates with these extents.
struct ExprScope {
  std::function<std::optional<Expr>(std::string_view)> dim;
  std::span<const Expr> extents;
};
// Reads the longest expression at the start of `text`, advancing it; the Diag's column counts from its start.
Expected<Expr> parse_expr(std::string_view& text, const ExprScope& scope);

// C source for e: dims print as their names, coordinates as i0, i1, … . Division follows floor semantics, printed
// as plain / and % where the operands are proven non-negative. The type is the narrowest of int32_t/int64_t in
// which no intermediate can overflow.
struct CExpr {
  std::string text;
  bool needs_64_bits;
};
CExpr print_c(Expr e);

}  // namespace lumen
