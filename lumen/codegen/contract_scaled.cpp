#include "lumen/codegen/contract_scaled.h"

#include <algorithm>

#include "lumen/codegen/contract_runs.h"
#include "lumen/codegen/element.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/view.h"

namespace lumen {

std::optional<Spot> under_views(const Graph& graph, Spot spot) {
  const ElementWriter writer(graph, 0);
  while (graph[spot.node].is<hlir::View>()) {
    const View& view = graph[spot.node].as<hlir::View>().view;
    const NodeId source = graph[spot.node].operands[0];
    if (view.has_guard() || !fits(view, graph[source].type.shape.numel())) return std::nullopt;
    const Expr flat = writer.place(view.index(), view.shape(), spot.at);
    spot = {source, unflatten(flat, writer.rename(graph[source].type.shape))};
  }
  return spot;
}

namespace {

std::optional<Spot> operand(const Graph& graph, const Spot& spot, size_t k) {
  return under_views(graph, {graph[spot.node].operands[k], spot.at});
}

bool varies(const Graph& graph, const Spot& spot, Expr variable) {
  ElementWriter writer(graph, 0);
  writer.value(spot.node, spot.at);
  return std::ranges::any_of(writer.indices(), [&](Expr e) { return depends_on(e, variable); });
}

std::string text_of(const Graph& graph, const Spot& spot) {
  ElementWriter writer(graph, 0);
  const std::string value = writer.value(spot.node, spot.at);
  return writer.text() + value;
}

// Integers that are small by their dtype.
std::optional<std::pair<int64_t, int64_t>> range_of(DType dtype) {
  if (dtype == i8) return std::pair(-128, 127);
  if (dtype == i4) return std::pair(-8, 7);
  if (dtype == u4) return std::pair(0, 15);
  return std::nullopt;
}

// Cast(integer) + offset.
std::optional<ScaledRun> small_integer(const Graph& graph, Spot spot) {
  ScaledRun run;
  if (graph[spot.node].is<hlir::Add>()) {
    const std::optional<Spot> left = operand(graph, spot, 0), right = operand(graph, spot, 1);
    if (!left || !right) return std::nullopt;
    const bool swapped = graph[left->node].is<hlir::Constant>();
    const Spot& constant = swapped ? *left : *right;
    if (!graph[constant.node].is<hlir::Constant>()) return std::nullopt;
    const double offset = graph[constant.node].as<hlir::Constant>().value.as_double();
    if (!(offset >= -128 && offset <= 127) || offset != static_cast<double>(static_cast<int64_t>(offset)))
      return std::nullopt;
    run.offset = static_cast<int64_t>(offset);
    spot = swapped ? *right : *left;
  }
  if (!graph[spot.node].is<hlir::Cast>()) return std::nullopt;
  const std::optional<Spot> integer = operand(graph, spot, 0);
  if (!integer) return std::nullopt;
  const auto range = range_of(graph[integer->node].type.dtype);
  if (!range || range->first + run.offset < -128 || range->second + run.offset > 127) return std::nullopt;
  run.integer = *integer;
  return run;
}

}  // namespace

std::optional<ScaledRun> scaled_run(const Graph& graph, const Spot& factor, Expr variable) {
  const std::optional<Spot> product = under_views(graph, factor);
  if (!product || !graph[product->node].is<hlir::Mul>() || graph[product->node].type.dtype != f32) return std::nullopt;
  for (const size_t k : {size_t{0}, size_t{1}}) {
    const std::optional<Spot> scale = operand(graph, *product, k), rest = operand(graph, *product, 1 - k);
    if (!scale || !rest || varies(graph, *scale, variable)) continue;
    std::optional<ScaledRun> run = small_integer(graph, *rest);
    if (!run) continue;
    run->scale = *scale;
    return run;
  }
  return std::nullopt;
}

std::optional<RaisedRun> raised_run(const Graph& graph, const Spot& factor, Expr variable) {
  const std::optional<Spot> sum = under_views(graph, factor);
  if (!sum || !graph[sum->node].is<hlir::Add>() || graph[sum->node].type.dtype != f32) return std::nullopt;
  for (const size_t k : {size_t{0}, size_t{1}}) {
    const std::optional<Spot> base = operand(graph, *sum, k), rest = operand(graph, *sum, 1 - k);
    if (!base || !rest || varies(graph, *base, variable)) continue;
    const std::optional<ScaledRun> scaled = scaled_run(graph, *rest, variable);
    if (scaled) return RaisedRun{*scaled, *base};
  }
  return std::nullopt;
}

std::optional<ScaledRuns> scaled_runs(const ContractRoles& roles, const FactorIn& factor) {
  constexpr int64_t kWordElements = 16;  // what the words multiply at a time
  const std::optional<SummedRuns> runs = summed_runs(roles, *factor.graph, factor.node);
  if (!runs || runs->length % kWordElements != 0) return std::nullopt;
  ElementWriter writer(*factor.graph, 0);
  writer.value(factor.node, runs->turns[0]);
  ScaledRuns scaled{runs->length, {}, true, !writer.faults().empty()};
  for (const std::vector<Expr>& at : runs->turns) {
    const std::optional<ScaledRun> run = scaled_run(*factor.graph, {factor.node, at}, Expr::index(5, runs->length));
    if (!run) return std::nullopt;
    scaled.turns.push_back(*run);
    const std::string first = text_of(*factor.graph, scaled.turns[0].scale);
    scaled.one_scale = scaled.one_scale && text_of(*factor.graph, run->scale) == first;
  }
  return scaled;
}

}  // namespace lumen
