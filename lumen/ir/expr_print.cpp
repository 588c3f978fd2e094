// Text of expressions. Mod is recovered from its normal form, and comparisons are turned so that both sides are
// positive; whatever is printed reads back to the same object.
#include <algorithm>

#include "lumen/ir/expr_mods.h"
#include "lumen/ir/expr_node.h"

namespace lumen {
namespace {

// How tightly an operator binds; a part that binds less than its place needs parentheses.
enum Binding : int { kAny, kAnd, kComparison, kSum, kProduct, kPrimary };

class Printer {
 public:
  std::string take() { return std::move(out_); }

  void print(Expr e, int place) {
    const ExprNode& n = *e.node();
    switch (n.kind) {
      case ExprKind::constant:
        return in_place(n.constant < 0 ? kSum : kPrimary, place, [&] { out_ += std::to_string(n.constant); });
      case ExprKind::dim:
        out_ += n.name;
        return;
      case ExprKind::index:
        out_ += "i" + std::to_string(n.number);
        return;
      case ExprKind::undefined:
        out_ += "undefined";
        return;
      case ExprKind::sum:
        return sum(e, place);
      case ExprKind::floor_div:
        return in_place(kProduct, place, [&] { ratio(Expr(n.args[0]), " / ", Expr(n.args[1])); });
      case ExprKind::min:
      case ExprKind::max:
        return call(n.kind == ExprKind::min ? "min(" : "max(", n.args);
      case ExprKind::product:
        return call("product(", n.args);
      case ExprKind::all:
        return in_place(kAnd, place, [&] { list(" and ", n.args, kComparison); });
      case ExprKind::any:
        return in_place(kAny, place, [&] { list(" or ", n.args, kAnd); });
      case ExprKind::ge0:
      case ExprKind::eq0:
      case ExprKind::ne0:
        return in_place(kComparison, place, [&] { comparison(n.kind, Expr(n.args[0])); });
    }
  }

 private:
  template <class Body>
  void in_place(int binding, int place, Body body) {
    if (binding < place) out_ += '(';
    body();
    if (binding < place) out_ += ')';
  }

  void ratio(Expr a, std::string_view op, Expr b) {
    print(a, kProduct);
    out_ += op;
    print(b, kPrimary);
  }

  void list(std::string_view separator, Atoms args, int place) {
    for (size_t k = 0; k < args.size(); ++k) {
      if (k > 0) out_ += separator;
      print(Expr(args[k]), place);
    }
  }

  void call(std::string_view open, Atoms args) {
    out_ += open;
    list(", ", args, kAny);
    out_ += ')';
  }

  void sum(Expr e, int place) {
    const ModForm form = recover_mods(e);
    const bool single = form.mods.size() + form.rest.node()->terms.size() == 1 && form.rest.node()->constant == 0;
    const bool negative = !form.rest.node()->terms.empty() && form.rest.node()->terms[0].coefficient < 0;
    in_place(single && !negative ? kProduct : kSum, place, [&] {
      first_ = true;
      const ExprNode& rest = *form.rest.node();
      for (const Term& t : rest.terms) term(t);
      for (const ModTerm& m : form.mods) mod_term(m);
      if (rest.constant != 0 || first_) constant(rest.constant);
    });
  }

  // The sign of the next summand; magnitudes are printed unsigned because -2^63 has no positive counterpart.
  uint64_t sign(int64_t coefficient) {
    if (first_) {
      if (coefficient < 0) out_ += '-';
    } else {
      out_ += coefficient < 0 ? " - " : " + ";
    }
    first_ = false;
    return coefficient < 0 ? uint64_t{0} - static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
  }

  void constant(int64_t c) { out_ += std::to_string(sign(c)); }

  // Printing an atom may print another sum, which leaves first_ as it likes.
  void factor(Expr e, int place) {
    print(e, place);
    first_ = false;
  }

  // A leading minus binds tighter than /, so what follows it must be primary.
  void term(const Term& t) {
    const bool bare = !(first_ && t.coefficient < 0);
    const uint64_t k = sign(t.coefficient);
    if (k != 1) out_ += std::to_string(k) + "*";
    for (size_t i = 0; i < t.atoms.size(); ++i) {
      if (i > 0) out_ += '*';
      factor(Expr(t.atoms[i]), bare && k == 1 && i == 0 ? kProduct : kPrimary);
    }
  }

  void mod_term(const ModTerm& m) {
    const auto c = m.scale.constant();
    const bool bare = c && !(first_ && *c < 0);
    const uint64_t k = sign(c.value_or(1));
    const bool parentheses = !bare || k != 1;
    if (!c) factor(m.scale, kPrimary);
    if (k != 1) out_ += std::to_string(k);
    if (!c || k != 1) out_ += '*';
    if (parentheses) out_ += '(';
    ratio(m.base, " % ", m.modulus);
    if (parentheses) out_ += ')';
    first_ = false;
  }

  // P - N + c >= 0 reads N < P + c+1 when its first term is in N, else P >= N - c; equality P == N - c.
  void comparison(ExprKind kind, Expr e) {
    Expr positive = 0;
    Expr negative = 0;
    for (const Term& t : e.node()->terms) {
      const Expr one(intern_sum(0, std::span(&t, 1)));
      if (t.coefficient > 0) {
        positive += one;
      } else {
        negative = negative - one;
      }
    }
    const Expr c = e.node()->constant;
    if (kind == ExprKind::ge0 && e.node()->terms[0].coefficient < 0) return sides(e, negative, " < ", positive + c + 1);
    const std::string_view op = kind == ExprKind::ge0 ? " >= " : kind == ExprKind::eq0 ? " == " : " != ";
    sides(e, positive, op, negative - c);
  }

  void sides(Expr whole, Expr a, std::string_view op, Expr b) {
    if (a.kind() == ExprKind::undefined || b.kind() == ExprKind::undefined) {
      a = whole;  // moving a term across would leave 64 bits
      op = op == " < " ? " >= " : op;
      b = 0;
    }
    print(a, kSum);
    out_ += op;
    print(b, kSum);
  }

  std::string out_;
  bool first_ = true;
};

}  // namespace

std::string Expr::str() const {
  Printer p;
  p.print(*this, kAny);
  return p.take();
}

}  // namespace lumen
