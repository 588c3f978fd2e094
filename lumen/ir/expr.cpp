#include "lumen/ir/expr.h"

#include <algorithm>

#include "lumen/base/check.h"
#include "lumen/ir/expr_node.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

Expr::Expr(int64_t value) : node_(intern_constant(value)) {}

Expr Expr::dim(std::string_view name, int64_t lo, int64_t hi) {
  CHECK(lo <= hi, "a dim with empty bounds");
  return Expr(intern_dim(name, {lo, hi}));
}

Expr Expr::index(int k, Expr extent) { return Expr(intern_index(k, extent.node())); }

Expr Expr::undefined() { return Expr(intern_atom(ExprKind::undefined, {})); }

ExprKind Expr::kind() const { return node_->kind; }

std::optional<int64_t> Expr::constant() const {
  if (!is_constant()) return std::nullopt;
  return node_->constant;
}

std::string_view Expr::dim_name() const {
  CHECK(kind() == ExprKind::dim);
  return node_->name;
}

std::pair<int64_t, int64_t> Expr::dim_bounds() const {
  CHECK(kind() == ExprKind::dim);
  return {node_->bounds.lo, node_->bounds.hi};
}

int Expr::index_number() const {
  CHECK(kind() == ExprKind::index);
  return static_cast<int>(node_->number);
}

Expr Expr::index_extent() const {
  CHECK(kind() == ExprKind::index);
  return Expr(node_->args[0]);
}

uint64_t Expr::hash() const { return node_->hash; }

namespace {

int three_way(auto a, auto b) { return a < b ? -1 : (b < a ? 1 : 0); }

int compare_nodes(const ExprNode* a, const ExprNode* b) {
  if (a == b) return 0;
  if (int c = three_way(a->kind, b->kind)) return c;
  if (int c = a->name.compare(b->name)) return c < 0 ? -1 : 1;
  if (int c = three_way(a->number, b->number)) return c;
  if (a->kind == ExprKind::dim) {
    if (int c = three_way(a->bounds.lo, b->bounds.lo)) return c;
    return three_way(a->bounds.hi, b->bounds.hi);
  }
  if (int c = three_way(a->args.size(), b->args.size())) return c;
  for (size_t k = 0; k < a->args.size(); ++k) {
    if (int c = compare_nodes(a->args[k], b->args[k])) return c;
  }
  if (a->kind == ExprKind::sum) {
    if (int c = three_way(a->terms.size(), b->terms.size())) return c;
    for (size_t k = 0; k < a->terms.size(); ++k) {
      if (int c = compare_monomials(a->terms[k].atoms, b->terms[k].atoms)) return c;
      if (int c = three_way(a->terms[k].coefficient, b->terms[k].coefficient)) return c;
    }
  }
  return three_way(a->constant, b->constant);
}

void collect_variables(const ExprNode* n, std::vector<Expr>& out, std::vector<const ExprNode*>& seen) {
  if (n->kind == ExprKind::constant || std::ranges::find(seen, n) != seen.end()) return;
  seen.push_back(n);
  if (n->kind == ExprKind::dim || n->kind == ExprKind::index) out.push_back(Expr(n));
  for (const ExprNode* a : n->args) collect_variables(a, out, seen);
  if (n->kind != ExprKind::sum) return;
  for (const Term& t : n->terms) {
    for (const ExprNode* a : t.atoms) collect_variables(a, out, seen);
  }
}

}  // namespace

int compare_monomials(Atoms a, Atoms b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t k = 0; k < a.size(); ++k) {
    if (int c = compare_nodes(a[k], b[k])) return c;
  }
  return 0;
}

int compare(Expr a, Expr b) { return compare_nodes(a.node(), b.node()); }

std::vector<Expr> variables(Expr e) {
  std::vector<Expr> out;
  std::vector<const ExprNode*> seen;
  collect_variables(e.node(), out, seen);
  std::ranges::sort(out, [](Expr a, Expr b) { return compare(a, b) < 0; });
  return out;
}

bool depends_on(Expr e, Expr variable) {
  const std::vector<Expr> vars = variables(e);
  return std::ranges::find(vars, variable) != vars.end();
}

}  // namespace lumen
