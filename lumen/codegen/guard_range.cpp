#include "lumen/codegen/guard_range.h"

#include <fmt/format.h>

#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

std::string narrowed_guard(Expr rest, int64_t step) {
  const std::string quotient = print_c(floor_div(rest, step < 0 ? -step : step)).text;
  if (step > 0) return fmt::format("lo = lumen_max_i64(lo, -({}));", quotient);  // step * v + rest >= 0
  return fmt::format("hi = lumen_min_i64(hi, {} + 1);", quotient);
}

}  // namespace

std::optional<std::string> narrow_range(std::span<const Expr> guards, Expr variable) {
  std::string text;
  for (const Expr& guard : guards) {
    for (const Expr& condition : conjuncts(guard)) {
      if (!depends_on(condition, variable)) {
        text += fmt::format("if (!({})) hi = lo;\n", print_c(condition).text);
        continue;
      }
      const std::optional<Expr> e = ge0_argument(condition);
      const Expr step = e ? step_along(*e, variable).value_or(0) : Expr(0);
      if (!step.is_constant() || step == Expr(0)) return std::nullopt;
      const std::pair<Expr, Expr> first[] = {{variable, Expr(0)}};
      text += narrowed_guard(substitute(*e, first), *step.constant()) + "\n";
    }
  }
  return text;
}

}  // namespace lumen
