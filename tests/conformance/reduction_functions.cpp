#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

auto over_axes(Tensor (*f)(const Operand&, const Axes&, bool)) {
  return [f](const Call& c) -> Results { return {f(c.x(), c.integers("axes"), c.flag("keepdim"))}; };
}

auto position(Tensor (*f)(const Operand&, int64_t, bool)) {
  return [f](const Call& c) -> Results { return {f(c.x(), c.integer("axis"), c.flag("keepdim"))}; };
}

auto spread(Tensor (*f)(const Operand&, const Axes&, int64_t, bool)) {
  return [f](const Call& c) -> Results {
    return {f(c.x(), c.integers("axes"), c.integer("correction"), c.flag("keepdim"))};
  };
}

auto scan(Tensor (*f)(const Operand&, int64_t)) {
  return [f](const Call& c) -> Results { return {f(c.x(), c.integer("axis"))}; };
}

auto scan_both(ValuesAndIndices (*f)(const Operand&, int64_t)) {
  return [f](const Call& c) -> Results {
    const auto [values, indices] = f(c.x(), c.integer("axis"));
    return {values, indices};
  };
}

}  // namespace

std::span<const Function> reduction_functions() {
  static const std::vector<Function> table = {
      {"sum", over_axes(sum)},
      {"prod", over_axes(prod)},
      {"mean", over_axes(mean)},
      {"max", over_axes(max)},
      {"min", over_axes(min)},
      {"any", over_axes(any)},
      {"all", over_axes(all)},
      {"logsumexp", over_axes(logsumexp)},
      {"argmax", position(argmax)},
      {"argmin", position(argmin)},
      {"var", spread(var)},
      {"stddev", spread(stddev)},
      {"norm",
       [](const Call& c) -> Results { return {norm(c.x(), c.real("p"), c.integers("axes"), c.flag("keepdim"))}; }},
      {"count_nonzero", [](const Call& c) -> Results { return {count_nonzero(c.x(), c.integers("axes"))}; }},
      {"cumsum", scan(cumsum)},
      {"cumprod", scan(cumprod)},
      {"logcumsumexp", scan(logcumsumexp)},
      {"cummax", scan_both(cummax)},
      {"cummin", scan_both(cummin)},
  };
  return table;
}

}  // namespace lumen::conformance
