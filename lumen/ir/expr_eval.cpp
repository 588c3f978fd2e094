#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "lumen/ir/expr_node.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {
namespace {

using Wide = __int128;

// Intermediate values are 128 bits wide, so only the final value must fit 64; beyond even that is an error.
class Evaluator {
 public:
  Evaluator(const DimValues& dims, std::span<const int64_t> coords) : dims_(dims), coords_(coords) {}

  Expected<Wide> operator()(const ExprNode* n) {
    if (n->kind == ExprKind::constant) return Wide{n->constant};
    if (n->size < 32) return evaluate(n);
    if (const auto known = done_.find(n); known != done_.end()) return known->second;
    const Wide v = LUMEN_TRY(evaluate(n));
    done_.emplace(n, v);
    return v;
  }

 private:
  static Diag overflow() { return error("the value of the expression does not fit 64 bits"); }

  Expected<Wide> evaluate(const ExprNode* n) {
    switch (n->kind) {
      case ExprKind::constant:
        return Wide{n->constant};
      case ExprKind::dim:
        return dim(n);
      case ExprKind::index:
        if (static_cast<size_t>(n->number) >= coords_.size()) return error(fmt::format("no coordinate i{}", n->number));
        return Wide{coords_[static_cast<size_t>(n->number)]};
      case ExprKind::sum:
        return sum(n);
      case ExprKind::floor_div: {
        const Wide a = LUMEN_TRY((*this)(n->args[0]));
        const Wide b = LUMEN_TRY((*this)(n->args[1]));
        if (b == 0) return error(fmt::format("division by zero in {}", Expr(n).str()));
        return Wide{a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0)};
      }
      case ExprKind::min:
        return fold(n, [](Wide a, Wide b) { return std::min(a, b); });
      case ExprKind::max:
        return fold(n, [](Wide a, Wide b) { return std::max(a, b); });
      case ExprKind::all:
        return all(n, true);
      case ExprKind::any:
        return all(n, false);
      case ExprKind::product:
        return product(1, n->args);
      case ExprKind::ge0:
        return Wide{LUMEN_TRY((*this)(n->args[0])) >= 0 ? 1 : 0};
      case ExprKind::eq0:
        return Wide{LUMEN_TRY((*this)(n->args[0])) == 0 ? 1 : 0};
      case ExprKind::ne0:
        return Wide{LUMEN_TRY((*this)(n->args[0])) != 0 ? 1 : 0};
      case ExprKind::undefined:
        return error("the expression is undefined: a coefficient left 64 bits or a divisor is 0");
    }
    return overflow();
  }

  Expected<Wide> dim(const ExprNode* n) {
    const std::optional<int64_t> v = dims_.get(n->name);
    if (!v) return error(fmt::format("dim {} has no value", n->name));
    if (*v < n->bounds.lo || *v > n->bounds.hi) {
      return error(fmt::format("dim {} = {} is outside {}..{}", n->name, *v, n->bounds.lo, n->bounds.hi));
    }
    return Wide{*v};
  }

  Expected<Wide> product(int64_t coefficient, Atoms atoms) {
    Wide v = coefficient;
    for (const ExprNode* a : atoms) {
      const Wide factor = LUMEN_TRY((*this)(a));
      if (__builtin_mul_overflow(v, factor, &v)) return overflow();
    }
    return v;
  }

  Expected<Wide> sum(const ExprNode* n) {
    Wide total = n->constant;
    for (const Term& t : n->terms) {
      const Wide v = LUMEN_TRY(product(t.coefficient, t.atoms));
      if (__builtin_add_overflow(total, v, &total)) return overflow();
    }
    return total;
  }

  template <class Combine>
  Expected<Wide> fold(const ExprNode* n, Combine combine) {
    Wide v = LUMEN_TRY((*this)(n->args[0]));
    for (const ExprNode* a : n->args.subspan(1)) v = combine(v, LUMEN_TRY((*this)(a)));
    return v;
  }

  Expected<Wide> all(const ExprNode* n, bool wanted) {
    for (const ExprNode* a : n->args) {
      if ((LUMEN_TRY((*this)(a)) != 0) != wanted) return Wide{wanted ? 0 : 1};
    }
    return Wide{wanted ? 1 : 0};
  }

  const DimValues& dims_;
  std::span<const int64_t> coords_;
  boost::unordered_flat_map<const ExprNode*, Wide> done_;
};

}  // namespace

void DimValues::set(std::string_view name, int64_t value) {
  const auto at = std::ranges::lower_bound(values_, name, {}, [](const auto& p) { return std::string_view(p.first); });
  if (at != values_.end() && at->first == name) {
    at->second = value;
  } else {
    values_.emplace(at, name, value);
  }
}

std::optional<int64_t> DimValues::get(std::string_view name) const {
  const auto at = std::ranges::lower_bound(values_, name, {}, [](const auto& p) { return std::string_view(p.first); });
  if (at == values_.end() || at->first != name) return std::nullopt;
  return at->second;
}

Expected<int64_t> evaluate(Expr e, const DimValues& dims, std::span<const int64_t> coords) {
  const Wide v = LUMEN_TRY(Evaluator(dims, coords)(e.node()));
  if (v < Interval::kNegInf || v > Interval::kPosInf) return error("the value of the expression does not fit 64 bits");
  return static_cast<int64_t>(v);
}

Expected<ExprProgram> ExprProgram::compile(Expr e, const DimValues& dims) {
  std::vector<std::pair<Expr, Expr>> values;
  for (const Expr v : variables(e)) {
    if (v.kind() != ExprKind::dim) continue;
    // A dim that only bounds a coordinate may be left open.
    if (!dims.get(v.dim_name())) continue;
    values.emplace_back(v, LUMEN_TRY(evaluate(v, dims)));
  }
  ExprProgram program;
  program.e_ = substitute(e, values);
  const auto linear = linear_in_indices(program.e_);
  if (linear && linear->rest.is_constant()) {
    Affine affine{*linear->rest.constant(), {}};
    for (const auto& [coordinate, coefficient] : linear->terms) {
      if (!coefficient.is_constant()) return program;
      const auto k = static_cast<size_t>(coordinate.index_number());
      if (affine.strides.size() <= k) affine.strides.resize(k + 1, 0);
      affine.strides[k] += *coefficient.constant();
    }
    program.affine_ = std::move(affine);
  }
  return program;
}

Expected<int64_t> ExprProgram::operator()(std::span<const int64_t> coords) const {
  if (!affine_) return evaluate(e_, {}, coords);
  Wide v = affine_->offset;
  for (size_t k = 0; k < affine_->strides.size(); ++k) {
    if (k >= coords.size()) return error(fmt::format("no coordinate i{}", k));
    v += static_cast<Wide>(affine_->strides[k]) * coords[k];
  }
  if (v < Interval::kNegInf || v > Interval::kPosInf) return error("the value of the expression does not fit 64 bits");
  return static_cast<int64_t>(v);
}

}  // namespace lumen
