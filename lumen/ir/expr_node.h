// The node behind an Expr, and how nodes are made. Private to the expr_*.cpp files.
//
// Every node can be read as a polynomial: constant + sum of coefficient * product of atoms. An atom (a variable, a
// floor-div, a min, …) is the polynomial 1*atom of itself, so no caller needs to tell the two apart.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lumen/ir/expr.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

using Atoms = std::span<const ExprNode* const>;

// A monomial with its coefficient; atoms are sorted by compare() and may repeat.
struct Term {
  int64_t coefficient;
  Atoms atoms;
};

struct ExprNode {
  ExprKind kind;
  uint32_t size = 1;     // nodes of the tree, saturating
  uint64_t hash = 0;     // of the content
  int64_t constant = 0;  // of the polynomial
  std::span<const Term> terms = {};
  Atoms args = {};             // floor_div: {numerator, denominator}; index: {extent}; otherwise the arguments, sorted
  std::string_view name = {};  // dim
  int64_t number = 0;          // index
  Interval bounds = {};

  bool is_boolean() const { return kind >= ExprKind::ge0 && kind <= ExprKind::any; }
};

// Trees beyond this size become `undefined`: real index expressions have tens of nodes.
inline constexpr uint32_t kMaxExprSize = 1 << 14;

const ExprNode* intern_constant(int64_t value);
const ExprNode* intern_dim(std::string_view name, Interval bounds);
const ExprNode* intern_index(int k, const ExprNode* extent);
// A compound atom; args are in canonical order.
const ExprNode* intern_atom(ExprKind kind, Atoms args);
// The polynomial; terms are sorted, distinct, non-zero. Gives the constant or the atom when it is just that.
const ExprNode* intern_sum(int64_t constant, std::span<const Term> terms);

// Monomials by degree (higher first), then atom by atom.
int compare_monomials(Atoms a, Atoms b);

// Results of pure functions of expressions, remembered for the life of the program.
enum class MemoOp : uint8_t { product, floor_div, prove };
const ExprNode* recall(MemoOp what, const ExprNode* a, const ExprNode* b);
void remember(MemoOp what, const ExprNode* a, const ExprNode* b, const ExprNode* result);

}  // namespace lumen
