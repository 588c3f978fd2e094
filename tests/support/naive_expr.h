// Expressions as plain trees with an obvious evaluator: what Expr is checked against, by property tests and fuzzing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lumen/ir/expr.h"

namespace lumen::naive {

enum class Op : uint8_t {
  constant,
  variable,
  add,
  sub,
  mul,
  div,
  mod,
  ceil_div,
  min,
  max,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  logical_and,
  logical_or,
  logical_not,
  count,
};

struct Tree {
  Op op;
  int64_t value = 0;  // constant: its value; variable: its number in variables()
  std::unique_ptr<Tree> a = nullptr;
  std::unique_ptr<Tree> b = nullptr;
};

// The variables trees are built from: dims of several signs and coordinates with constant and symbolic extents.
struct Variable {
  Expr expr;
  std::string name;
};
const std::vector<Variable>& variables();
// Extents of the coordinates i0, i1, … among them, for parsing.
std::vector<Expr> extents();

// One value per variable, inside its interval; `draw(n)` gives a number in [0, n).
using Draw = std::function<uint64_t(uint64_t)>;
struct Environment {
  DimValues dims;
  std::vector<int64_t> coords;
  std::vector<int64_t> values;  // by number
};
Environment draw_environment(const Draw& draw);

// A random tree of at most `depth` levels.
std::unique_ptr<Tree> draw_tree(const Draw& draw, int depth);

// Nothing where the tree has no value (division by zero) or one beyond what the test cares for.
std::optional<__int128> evaluate(const Tree& tree, const Environment& env);
Expr build(const Tree& tree);
std::string print(const Tree& tree);

// Everything that must hold of `tree` in `env`; a description of the first failure, or nothing.
std::optional<std::string> check(const Tree& tree, Expr e, const Environment& env);
// What must hold of a normal form by itself: fixed point, and text that reads back to the same object.
std::optional<std::string> check_normal(const Tree& tree, Expr e);

}  // namespace lumen::naive
