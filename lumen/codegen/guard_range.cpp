#include "lumen/codegen/guard_range.h"

#include <fmt/format.h>

#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

// e at the variable's next value, less e: the same everywhere.
std::optional<int64_t> step_along(Expr e, Expr variable) {
  const Expr free = Expr::dim("step_along", 0, INT32_MAX);
  const std::pair<Expr, Expr> here[] = {{variable, free}}, next[] = {{variable, free + 1}};
  return (substitute(e, next) - substitute(e, here)).constant();
}

std::string narrowed(Expr rest, int64_t step) {
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
      const std::optional<int64_t> step = e ? step_along(*e, variable) : std::nullopt;
      if (!step || *step == 0) return std::nullopt;
      const std::pair<Expr, Expr> first[] = {{variable, Expr(0)}};
      text += narrowed(substitute(*e, first), *step) + "\n";
    }
  }
  return text;
}

}  // namespace lumen
