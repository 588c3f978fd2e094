#include "lumen/ir/expr_mods.h"

#include <algorithm>

#include "lumen/ir/expr_divisibility.h"
#include "lumen/ir/expr_node.h"

namespace lumen {
namespace {

size_t summands(Expr e) { return e.node()->terms.size() + (e.node()->constant != 0 ? 1 : 0); }

// scale * (base % m) = scale*base - scale*m*q, where q = base/m is the quotient in the term -scale*m*q. Accepted
// when taking it out leaves fewer summands than it adds.
std::optional<ModTerm> with_base(Expr e, Expr coefficient, Expr base, Expr modulus) {
  const auto scale = exact_quotient(-coefficient, modulus);
  if (!scale) return std::nullopt;
  const Expr rest = e - *scale * mod(base, modulus);
  if (rest.kind() == ExprKind::undefined || summands(rest) + 1 >= summands(e)) return std::nullopt;
  return ModTerm{*scale, base, modulus};
}

std::optional<ModTerm> find_mod(Expr e) {
  for (const Term& t : e.node()->terms) {
    for (const ExprNode* q : t.atoms) {
      if (q->kind != ExprKind::floor_div) continue;
      Expr coefficient = t.coefficient;
      bool skipped = false;
      for (const ExprNode* a : t.atoms) {
        if (a == q && !skipped) {
          skipped = true;
        } else {
          coefficient *= Expr(a);
        }
      }
      const Expr x(q->args[0]);
      const Expr y(q->args[1]);
      if (auto m = with_base(e, coefficient, x, y)) return m;
      // From a sibling quotient s = x'/y' with y = y'*m and x = x' + k*y': q = (s + k) / m.
      for (const Term& other : e.node()->terms) {
        for (const ExprNode* s : other.atoms) {
          if (s == q || s->kind != ExprKind::floor_div) continue;
          const auto m = exact_quotient(y, Expr(s->args[1]));
          const auto k = exact_quotient(x - Expr(s->args[0]), Expr(s->args[1]));
          if (!m || !k) continue;
          if (auto found = with_base(e, coefficient, Expr(s) + *k, *m)) return found;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

ModForm recover_mods(Expr e) {
  ModForm form{e, {}};
  while (auto m = find_mod(form.rest)) {
    form.rest = form.rest - m->scale * mod(m->base, m->modulus);
    form.mods.push_back(*m);
  }
  return form;
}

}  // namespace lumen
