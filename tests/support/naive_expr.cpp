#include "tests/support/naive_expr.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/ir/expr_bounds.h"
#include "lumen/ir/expr_prove.h"

namespace lumen::naive {
namespace {

using Wide = __int128;

constexpr Wide kLimit = Wide{1} << 60;  // values beyond are not compared: the naive side would need checks of its own

std::optional<Wide> floor_div(Wide a, Wide b) {
  if (b == 0) return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::optional<Wide> apply(Op op, Wide a, Wide b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return floor_div(a, b);
    case Op::mod: {
      const auto q = floor_div(a, b);
      return q ? std::optional(a - *q * b) : std::nullopt;
    }
    case Op::ceil_div: {
      const auto q = floor_div(-a, b);
      return q ? std::optional(-*q) : std::nullopt;
    }
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    case Op::gt:
      return a > b;
    case Op::ge:
      return a >= b;
    case Op::eq:
      return a == b;
    case Op::ne:
      return a != b;
    case Op::logical_and:
      return a != 0 && b != 0;
    case Op::logical_or:
      return a != 0 || b != 0;
    case Op::logical_not:
      return a == 0;
    default:
      return std::nullopt;
  }
}

constexpr std::string_view kSymbols[] = {"",  "",   "+", "-",  "*",  "/",  "%",   "ceil_div", "min", "max",
                                         "<", "<=", ">", ">=", "==", "!=", "and", "or",       "not"};

}  // namespace

const std::vector<Variable>& variables() {
  static const std::vector<Variable> vars = [] {
    const Expr a = Expr::dim("a", 1, 8);
    const Expr b = Expr::dim("b", 0, 5);
    const Expr c = Expr::dim("c", -6, 6);
    const Expr n = Expr::dim("n", 2, 1000000);
    return std::vector<Variable>{{a, "a"},
                                 {b, "b"},
                                 {c, "c"},
                                 {n, "n"},
                                 {Expr::index(0, 4), "i0"},
                                 {Expr::index(1, a), "i1"},
                                 {Expr::index(2, b), "i2"},
                                 {Expr::index(3, a * n), "i3"},
                                 {Expr::index(4, 12), "i4"}};
  }();
  return vars;
}

std::vector<Expr> extents() {
  std::vector<Expr> out;
  for (const Variable& v : variables()) {
    if (v.expr.kind() == ExprKind::index) out.push_back(v.expr.index_extent());
  }
  return out;
}

Environment draw_environment(const Draw& draw) {
  Environment env;
  for (const Variable& v : variables()) {
    int64_t value = 0;
    if (v.expr.kind() == ExprKind::dim) {
      auto [lo, hi] = v.expr.dim_bounds();
      if (v.name == "b") lo = 1;  // i2 exists, so its extent does
      if (v.name == "n" && draw(2) == 0) hi = 20;
      value = lo + static_cast<int64_t>(draw(static_cast<uint64_t>(hi - lo + 1)));
      env.dims.set(v.name, value);
    } else {
      const int64_t extent = *lumen::evaluate(v.expr.index_extent(), env.dims);
      const uint64_t end = draw(4);  // ends of the range are where proofs go wrong
      value = end == 0 ? 0 : end == 1 ? extent - 1 : static_cast<int64_t>(draw(static_cast<uint64_t>(extent)));
      env.coords.push_back(value);
    }
    env.values.push_back(value);
  }
  return env;
}

std::unique_ptr<Tree> draw_tree(const Draw& draw, int depth) {
  auto tree = std::make_unique<Tree>();
  if (depth <= 1 || draw(6) == 0) {
    if (draw(3) == 0) {
      tree->op = Op::constant;
      tree->value =
          static_cast<int64_t>(draw(4) == 0 ? draw(40) : draw(8)) - static_cast<int64_t>(draw(4) == 0 ? 20 : 0);
    } else {
      tree->op = Op::variable;
      tree->value = static_cast<int64_t>(draw(variables().size()));
    }
    return tree;
  }
  // Arithmetic three times as often as comparisons and logic.
  constexpr uint64_t kFirst = static_cast<uint64_t>(Op::add);
  constexpr uint64_t kLogic = static_cast<uint64_t>(Op::lt);
  constexpr uint64_t kEnd = static_cast<uint64_t>(Op::count);
  tree->op = static_cast<Op>(draw(4) != 0 ? kFirst + draw(kLogic - kFirst) : kLogic + draw(kEnd - kLogic));
  tree->a = draw_tree(draw, depth - 1);
  if (tree->op != Op::logical_not) tree->b = draw_tree(draw, depth - 1);
  return tree;
}

std::optional<Wide> evaluate(const Tree& tree, const Environment& env) {
  if (tree.op == Op::constant) return tree.value;
  if (tree.op == Op::variable) return env.values[static_cast<size_t>(tree.value)];
  const auto a = evaluate(*tree.a, env);
  const auto b = tree.b ? evaluate(*tree.b, env) : std::optional<Wide>(0);
  if (!a || !b) return std::nullopt;
  const auto v = apply(tree.op, *a, *b);
  if (!v || *v > kLimit || *v < -kLimit) return std::nullopt;
  return v;
}

Expr build(const Tree& tree) {
  if (tree.op == Op::constant) return tree.value;
  if (tree.op == Op::variable) return variables()[static_cast<size_t>(tree.value)].expr;
  const Expr a = build(*tree.a);
  const Expr b = tree.b ? build(*tree.b) : Expr(0);
  switch (tree.op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return lumen::floor_div(a, b);
    case Op::mod:
      return lumen::mod(a, b);
    case Op::ceil_div:
      return lumen::ceil_div(a, b);
    case Op::min:
      return lumen::min(a, b);
    case Op::max:
      return lumen::max(a, b);
    case Op::lt:
      return lumen::lt(a, b);
    case Op::le:
      return lumen::le(a, b);
    case Op::gt:
      return lumen::gt(a, b);
    case Op::ge:
      return lumen::ge(a, b);
    case Op::eq:
      return lumen::eq(a, b);
    case Op::ne:
      return lumen::ne(a, b);
    case Op::logical_and:
      return lumen::logical_and(a, b);
    case Op::logical_or:
      return lumen::logical_or(a, b);
    default:
      return lumen::logical_not(a);
  }
}

std::string print(const Tree& tree) {
  if (tree.op == Op::constant) return std::to_string(tree.value);
  if (tree.op == Op::variable) return variables()[static_cast<size_t>(tree.value)].name;
  const std::string_view op = kSymbols[static_cast<size_t>(tree.op)];
  if (!tree.b) return fmt::format("(not {})", print(*tree.a));
  if (tree.op == Op::ceil_div || tree.op == Op::min || tree.op == Op::max) {
    return fmt::format("{}({}, {})", op, print(*tree.a), print(*tree.b));
  }
  return fmt::format("({} {} {})", print(*tree.a), op, print(*tree.b));
}

std::optional<std::string> check(const Tree& tree, Expr e, const Environment& env) {
  const auto expected = evaluate(tree, env);
  if (!expected) return std::nullopt;
  const auto describe = [&](const std::string& what) {
    std::string values;
    for (size_t k = 0; k < env.values.size(); ++k) values += fmt::format(" {}={}", variables()[k].name, env.values[k]);
    return fmt::format("{}\n  tree:   {}\n  normal: {}\n  at:    {}", what, print(tree), e.str(), values);
  };
  const auto want = static_cast<int64_t>(*expected);
  const auto got = lumen::evaluate(e, env.dims, env.coords);
  if (!got) return describe("no value: " + got.diag().str());
  if (*got != want) return describe(fmt::format("value {} instead of {}", *got, want));
  if (want < bounds(e).lo || want > bounds(e).hi) {
    return describe(fmt::format("value {} outside the bounds {}..{}", want, bounds(e).lo, bounds(e).hi));
  }
  if (want < 0 && prove_ge0(e)) return describe("proven >= 0, but negative");
  if (want == 0 && prove_nonzero(e)) return describe("proven non-zero, but zero");
  return std::nullopt;
}

std::optional<std::string> check_normal(const Tree& tree, Expr e) {
  const auto describe = [&](const std::string& what) {
    return fmt::format("{}\n  tree:   {}\n  normal: {}", what, print(tree), e.str());
  };
  const Expr again = renormalise(e);
  if (!(again == e)) return describe("normalising again gives " + again.str());
  std::string text = e.str();
  std::string_view rest = text;
  const std::vector<Expr> coordinates = extents();
  const ExprScope scope{[](std::string_view name) -> std::optional<Expr> {
                          for (const Variable& v : variables()) {
                            if (v.name == name) return v.expr;
                          }
                          return std::nullopt;
                        },
                        coordinates};
  const auto parsed = parse_expr(rest, scope);
  if (!parsed) return describe("its text does not parse: " + parsed.diag().str());
  if (!rest.empty()) return describe(fmt::format("its text is read only up to \"{}\"", rest));
  if (!(*parsed == e)) return describe("its text reads back as " + parsed->str());
  return std::nullopt;
}

}  // namespace lumen::naive
