// C source of expressions, with the index width they need.
#include <algorithm>

#include "lumen/ir/expr_mods.h"
#include "lumen/ir/expr_node.h"
#include "lumen/ir/expr_prove.h"

namespace lumen {
namespace {

// The largest magnitude that any partial sum or product inside n can reach; saturates.
Interval magnitude(const ExprNode* n) {
  const auto reach = [](Interval b) {
    const int64_t lo = b.lo == Interval::kNegInf ? Interval::kPosInf : std::abs(b.lo);
    const int64_t hi = b.hi == Interval::kNegInf ? Interval::kPosInf : std::abs(b.hi);
    return Interval{0, std::max(lo, hi)};
  };
  Interval most = reach(n->bounds);
  if (n->kind == ExprKind::sum) {
    Interval total = reach({n->constant, n->constant});
    for (const Term& t : n->terms) {
      Interval product = reach({t.coefficient, t.coefficient});
      for (const ExprNode* a : t.atoms) {
        product = product * reach(a->bounds);
        most.hi = std::max(most.hi, magnitude(a).hi);
      }
      total = total + product;
    }
    most.hi = std::max(most.hi, total.hi);
  } else if (n->kind != ExprKind::index) {
    for (const ExprNode* a : n->args) most.hi = std::max(most.hi, magnitude(a).hi);
    // Floor division of a negative numerator adds the divisor.
    if (n->kind == ExprKind::floor_div) most = most + magnitude(n->args[1]);
  }
  return most;
}

class CPrinter {
 public:
  std::string print(Expr e) const {
    const ExprNode& n = *e.node();
    switch (n.kind) {
      case ExprKind::constant:
        return n.constant == Interval::kNegInf ? "(-9223372036854775807 - 1)" : std::to_string(n.constant);
      case ExprKind::dim:
        return std::string(n.name);
      case ExprKind::index:
        return "i" + std::to_string(n.number);
      case ExprKind::undefined:
        return "(1 / 0)";
      case ExprKind::sum:
        return sum(e);
      case ExprKind::floor_div:
        return quotient(Expr(n.args[0]), Expr(n.args[1]));
      case ExprKind::min:
      case ExprKind::max:
        return extremum(n.args, n.kind == ExprKind::min ? " < " : " > ");
      case ExprKind::product:
        return join(n.args, " * ");
      case ExprKind::all:
        return join(n.args, " && ");
      case ExprKind::any:
        return join(n.args, " || ");
      case ExprKind::ge0:
        return "(" + print(Expr(n.args[0])) + " >= 0)";
      case ExprKind::eq0:
        return "(" + print(Expr(n.args[0])) + " == 0)";
      case ExprKind::ne0:
        return "(" + print(Expr(n.args[0])) + " != 0)";
    }
    return {};
  }

 private:
  std::string join(Atoms args, std::string_view op) const {
    std::string out = "(" + print(Expr(args[0]));
    for (const ExprNode* a : args.subspan(1)) out += std::string(op) + print(Expr(a));
    return out + ")";
  }

  std::string extremum(Atoms args, std::string_view op) const {
    std::string best = print(Expr(args[0]));
    for (const ExprNode* a : args.subspan(1)) {
      const std::string b = print(Expr(a));
      best = "(" + best + std::string(op) + b + " ? " + best + " : " + b + ")";
    }
    return best;
  }

  // C truncates towards zero: plain / is right where both sides are known not to be negative.
  std::string quotient(Expr a, Expr b) const {
    const std::string x = print(a);
    const std::string y = print(b);
    const Expr given[] = {a, b};
    if (prove_ge0(a, given) && prove_ge0(b, given)) return "(" + x + " / " + y + ")";
    return "(" + x + " / " + y + " - (" + x + " % " + y + " != 0 && (" + x + " < 0) != (" + y + " < 0)))";
  }

  std::string remainder(Expr a, Expr b) const {
    const Expr given[] = {a, b};
    if (prove_ge0(a, given) && prove_ge0(b, given)) return "(" + print(a) + " % " + print(b) + ")";
    return "(" + print(a) + " - " + print(b) + " * " + quotient(a, b) + ")";
  }

  std::string sum(Expr e) const {
    const ModForm form = recover_mods(e);
    std::string out;
    const auto add = [&out](bool negative, const std::string& text) {
      if (out.empty()) {
        out = (negative ? "-" : "") + text;
      } else {
        out += (negative ? " - " : " + ") + text;
      }
    };
    for (const Term& t : form.rest.node()->terms) {
      const bool negative = t.coefficient < 0 && t.coefficient != Interval::kNegInf;
      const int64_t k = negative ? -t.coefficient : t.coefficient;
      std::string text = k == 1 ? "" : print(Expr(k));
      for (const ExprNode* a : t.atoms) text += (text.empty() ? "" : " * ") + print(Expr(a));
      add(negative, text);
    }
    for (const ModTerm& m : form.mods) {
      const bool plain = m.scale == Expr(1);
      add(false, (plain ? "" : "(" + print(m.scale) + ") * ") + remainder(m.base, m.modulus));
    }
    const int64_t c = form.rest.node()->constant;
    if (c != 0 || out.empty()) {
      const bool negative = c < 0 && c != Interval::kNegInf;
      add(negative, print(Expr(negative ? -c : c)));
    }
    return "(" + out + ")";
  }
};

}  // namespace

CExpr print_c(Expr e) { return {CPrinter().print(e), magnitude(e.node()).hi > INT32_MAX}; }

}  // namespace lumen
