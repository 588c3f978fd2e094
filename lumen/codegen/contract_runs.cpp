#include "lumen/codegen/contract_runs.h"

#include <algorithm>

#include "lumen/codegen/element.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

constexpr int64_t kLengths[] = {64, 32, 16};

class Prober {
 public:
  Prober(const Graph& graph, NodeId factor) : graph_(graph), factor_(factor) {}
  bool is_even(std::span<const Expr> at, Expr variable) const {
    ElementWriter writer(graph_, 0);
    writer.value(factor_, at);
    return std::ranges::all_of(writer.indices(), [&](Expr index) { return step_along(index, variable).has_value(); });
  }
  bool is_even(const SummedRuns& runs) const {
    const Expr variable = Expr::index(5, runs.length);
    return std::ranges::all_of(runs.turns, [&](const auto& at) { return is_even(at, variable); });
  }
  int divisions(std::span<const Expr> at) const {
    ElementWriter writer(graph_, 0);
    writer.value(factor_, at);
    return writer.divisions();
  }

 private:
  const Graph& graph_;
  NodeId factor_;
};

}  // namespace

SummedRuns runs_of(const ContractRoles& roles, int64_t length, int64_t turns) {
  SummedRuns runs{length, {}};
  const std::vector<Expr> whole = split_coordinates(roles, Role::summed, length * turns);
  for (int64_t turn = 0; turn < turns; ++turn) {
    const std::pair<Expr, Expr> within[] = {{Expr::index(5, length * turns), Expr::index(5, length) + length * turn}};
    std::vector<Expr> at;
    for (const Expr& coordinate : whole) at.push_back(substitute(coordinate, within));
    runs.turns.push_back(std::move(at));
  }
  return runs;
}

std::optional<SummedRuns> summed_runs(const ContractRoles& roles, const Graph& graph, NodeId factor) {
  const Prober prober(graph, factor);
  const Expr extent = roles.extent(Role::summed);
  if (prober.is_even(roles.at, Expr::index(static_cast<int>(Role::summed), extent))) return std::nullopt;
  for (const int64_t length : kLengths) {
    if (!(extent % length == Expr(0))) continue;
    SummedRuns runs = runs_of(roles, length, 1);
    if (!prober.is_even(runs)) continue;
    if (!(extent % (2 * length) == Expr(0))) return runs;
    SummedRuns pairs = runs_of(roles, length, 2);
    return prober.divisions(pairs.turns[1]) < prober.divisions(runs.turns[0]) ? pairs : runs;
  }
  return std::nullopt;
}

}  // namespace lumen
