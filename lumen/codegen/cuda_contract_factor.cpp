#include "lumen/codegen/cuda_contract_factor.h"

#include <algorithm>

#include "lumen/codegen/contract_types.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/view.h"

namespace lumen {

namespace {

// Every value stays what it is.
bool widens_exactly(DType from, DType to) {
  if (from == to) return true;
  if (is_byte_float(from) && (to == bf16 || to == f16)) return true;
  if (is_float(from)) return (to == f32 && from != f64) || to == f64;
  if (from == i8 || from == u8) {
    return to == i32 || to == i64 || to == f32 || to == f64 || to == bf16 || to == f16 || (from == u8 && to == u32);
  }
  return false;
}

// The coordinates in what a Gather reads; nothing when its index depends on other roles than `by`.
std::optional<std::vector<Expr>> through_gather(const Graph& graph, NodeId id, std::span<const Expr> at,
                                                ElementWriter& writer, const std::vector<Role>& by,
                                                std::vector<Choice>& choices) {
  const Node& node = graph[id];
  const auto axis = static_cast<size_t>(node.as<hlir::Gather>().axis);
  const Shape source = graph[node.operands[0]].type.shape;
  const auto rank = static_cast<size_t>(graph[node.operands[1]].type.shape.rank());
  const std::span<const Expr> chosen = at.subspan(axis, rank);
  for (const Expr& e : chosen) {
    for (const Expr& v : variables(e)) {
      if (v.kind() != ExprKind::index) continue;
      const auto is_own = [&](Role role) { return v.index_number() == static_cast<int>(role); };
      if (std::ranges::none_of(by, is_own)) return std::nullopt;
    }
  }
  const Choice choice{
      node.operands[1],
      {chosen.begin(), chosen.end()},
      writer.rename(source)[static_cast<int64_t>(axis)],
      "[Gather] an index is outside axis " + std::to_string(axis) + " of " + graph[node.operands[0]].type.str()};
  std::vector<Expr> coordinates(at.begin(), at.begin() + static_cast<ptrdiff_t>(axis));
  coordinates.push_back(place_of(choice, writer));
  choices.push_back(choice);
  coordinates.insert(coordinates.end(), at.begin() + static_cast<ptrdiff_t>(axis + rank), at.end());
  return coordinates;
}

}  // namespace

Expr place_of(const Choice& choice, ElementWriter& writer) {
  return writer.checked("(int64_t)" + writer.value(choice.index, choice.at), choice.extent, choice.message);
}

std::optional<StoredFactor> stored_factor(const ContractRoles& roles, const Graph& graph, NodeId factor,
                                          ElementWriter* gathers, const std::vector<Role>& by) {
  const ElementWriter writer(graph, 0);
  std::vector<Expr> at = roles.at;
  std::vector<Choice> choices;
  bool is_flat = false;  // `flat` is the place, not `at`
  Expr flat;
  NodeId id = factor;
  while (!graph[id].is<Input>()) {
    const Node& node = graph[id];
    const NodeId source = node.operands.empty() ? id : node.operands[0];
    if (node.is<hlir::View>()) {
      const View& view = node.as<hlir::View>().view;
      if (view.has_guard() || !fits(view, graph[source].type.shape.numel())) return std::nullopt;
      if (is_flat) at = unflatten(flat, writer.rename(node.type.shape));
      flat = writer.place(view.index(), view.shape(), at);
      is_flat = true;
    } else if (node.is<hlir::Gather>() && gathers != nullptr) {
      if (is_flat) at = unflatten(flat, writer.rename(node.type.shape));
      is_flat = false;
      const std::optional<std::vector<Expr>> inside = through_gather(graph, id, at, *gathers, by, choices);
      if (!inside) return std::nullopt;
      at = *inside;
    } else if (!node.is<hlir::Cast>() || !widens_exactly(graph[source].type.dtype, node.type.dtype)) {
      return std::nullopt;
    }
    id = source;
  }
  if (!is_flat) flat = writer.rename(graph[id].type.shape).flat_index(at);
  const auto number = std::ranges::find(graph.inputs(), id) - graph.inputs().begin();
  return StoredFactor{static_cast<size_t>(number), graph[id].type.dtype, flat, std::move(choices)};
}

int64_t elements_at_once(const ContractRoles& roles, const StoredFactor& stored, Role along) {
  const int64_t bits = info(stored.dtype).bits;
  if (bits < 8) return 0;
  const Expr count = 128 / bits;
  const Expr extent = roles.extent(along), variable = Expr::index(static_cast<int>(along), extent);
  const std::optional<Expr> step = step_of(roles, stored.index, along);
  if (!step || !(*step == Expr(1)) || !(extent % count == Expr(0))) return 0;
  const std::pair<Expr, Expr> groups[] = {{variable, Expr::dim("group", 0, INT32_MAX) * count}};
  return substitute(stored.index, groups) % count == Expr(0) ? 128 / bits : 0;
}

bool is_unpacked(DType dtype) {
  constexpr DType kUnpacked[] = {f32, bf16, f16, i8, u8, f8e4m3, f8e5m2};
  return std::ranges::find(kUnpacked, dtype) != std::end(kUnpacked);
}

}  // namespace lumen
