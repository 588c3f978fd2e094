#include "lumen/codegen/contract_roles.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/element.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_parts.h"
#include "lumen/kernel/contract.h"

namespace lumen {

namespace {

bool depends(const View& view, int64_t dim) {
  const Expr coordinate = Expr::index(static_cast<int>(dim), view.shape()[dim]);
  return depends_on(view.index(), coordinate) || depends_on(view.guard(), coordinate);
}

Expected<std::vector<NodeId>> find_contracts(const Graph& graph) {
  std::vector<NodeId> found;
  for (const NodeId id : graph.order()) {
    if (graph[id].is<llir::Contract>()) found.push_back(id);
  }
  if (found.empty()) return error("a contract kernel without a Contract");
  const auto& first = graph[found[0]].as<llir::Contract>();
  for (const NodeId id : found) {
    const auto& op = graph[id].as<llir::Contract>();
    if (op.left == first.left && op.reduced == first.reduced && graph[id].operands[0] == graph[found[0]].operands[0]) {
      continue;
    }
    return error(fmt::format("the Contracts of a kernel share their left side, but these read {} and {}",
                             first.left.str(), op.left.str()));
  }
  for (const Output& output : graph.outputs()) {
    if (graph[output.value].type.shape == graph[found[0]].type.shape) continue;
    return error(fmt::format("the outputs of a contract kernel have the shape {} of its result, but this is {}",
                             graph[found[0]].type.shape.str(), graph[output.value].type.shape.str()));
  }
  return found;
}

// The role of each dim when the left side has the rows.
std::vector<Role> dim_roles(const Graph& graph, std::span<const NodeId> contracts) {
  const auto& op = graph[contracts[0]].as<llir::Contract>();
  const int64_t rank = op.left.shape().rank();
  std::vector<Role> roles;
  for (int64_t d = 0; d < rank; ++d) {
    const bool left = depends(op.left, d);
    const bool right =
        std::ranges::any_of(contracts, [&](NodeId id) { return depends(graph[id].as<llir::Contract>().right, d); });
    if (d >= rank - op.reduced) {
      roles.push_back(Role::summed);
    } else if (left == right) {
      roles.push_back(Role::batch);
    } else {
      roles.push_back(left ? Role::row : Role::column);
    }
  }
  return roles;
}

// Whether results lie along a dim of the left side.
bool lies_along_left(std::span<const Role> roles) {
  for (auto role = roles.rbegin(); role != roles.rend(); ++role) {
    if (*role == Role::row || *role == Role::column) return *role == Role::row;
  }
  return false;
}

NodeId add_factor(Graph& graph, const View& view, NodeId operand) {
  return graph.add(hlir::View{view}, std::span(&operand, 1)).value();
}

void place_coordinates(ContractRoles& result, std::span<const Role> roles) {
  result.at.resize(roles.size());
  for (size_t r = 0; r < kRoles; ++r) {
    std::vector<Expr> dims;
    for (size_t d = 0; d < roles.size(); ++d) {
      if (roles[d] == static_cast<Role>(r)) dims.push_back(result.domain[static_cast<int64_t>(d)]);
    }
    const Shape axis(dims);
    result.extents[r] = axis.numel();
    std::erase(dims, Expr(1));
    result.widths[r] = dims.size() > 1 ? dims.back() : Expr(1);
    const std::vector<Expr> within = unflatten(Expr::index(static_cast<int>(r), axis.numel()), axis);
    size_t next = 0;
    for (size_t d = 0; d < roles.size(); ++d) {
      if (roles[d] == static_cast<Role>(r)) result.at[d] = within[next++];
    }
  }
}

}  // namespace

std::vector<Expr> split_coordinates(const ContractRoles& roles, Role role) {
  return split_coordinates(roles, role, roles.widths[static_cast<size_t>(role)]);
}

std::vector<Expr> split_coordinates(const ContractRoles& roles, Role role, Expr width) {
  const Expr extent = roles.extent(role);
  const Expr whole = Expr::index(static_cast<int>(role), extent);
  const std::pair<Expr, Expr> parts[] = {{whole, Expr::index(4, extent / width) * width + Expr::index(5, width)}};
  std::vector<Expr> at;
  for (const Expr& coordinate : roles.at) at.push_back(substitute(coordinate, parts));
  return at;
}

std::string runs_loop(const ContractRoles& roles, Role role, std::string_view first, std::string_view count,
                      std::string_view body) {
  return fmt::format(
      "    for (int64_t done = 0, run; done < {count}; done += run) {{\n"
      "      const int64_t width = {width}, i4 = ({first} + done) / width, from = ({first} + done) % width;\n"
      "      run = width - from < {count} - done ? width - from : {count} - done;\n{body}    }}\n",
      fmt::arg("count", count), fmt::arg("first", first), fmt::arg("body", body),
      fmt::arg("width", print_c(roles.widths[static_cast<size_t>(role)]).text));
}

std::string loop_in_runs(const ContractRoles& roles, Role role, std::string_view first, std::string_view count,
                         std::string_view body) {
  return runs_loop(
      roles, role, first, count,
      fmt::format(
          "      LUMEN_ELEMENTS(at, run) {{\n        const int64_t i5 = from + at, l = done + at;\n{}      }}\n",
          body));
}

Expected<ContractRoles> contract_roles(const Graph& body, bool swap, bool narrow) {
  ContractRoles result;
  result.graph = clone(body);
  Graph& graph = *result.graph;
  result.contracts = LUMEN_TRY(find_contracts(graph));
  for (const NodeId id : graph.order()) {
    if (graph[id].op->family == OpFamily::reduce) result.sums.push_back(id);
  }
  const Node& first = graph[result.contracts[0]];
  const auto op = first.as<llir::Contract>();
  result.dtype = first.type.dtype;
  std::vector<Role> roles = dim_roles(graph, result.contracts);
  const bool several = result.contracts.size() > 1;
  if (swap && several) return error("the sides of several Contracts cannot be swapped");
  const bool exchanged = !several && lies_along_left(roles) != swap;
  if (exchanged) {
    for (Role& role : roles) {
      role = role == Role::row ? Role::column : role == Role::column ? Role::row : role;
    }
  }
  if (narrow) {
    const auto last = std::ranges::find(roles.rbegin(), roles.rend(), Role::column);
    std::replace(last == roles.rend() ? last : std::next(last), roles.rend(), Role::column, Role::batch);
  }
  const NodeId left = add_factor(graph, op.left, first.operands[0]);
  std::vector<NodeId> rights;
  for (const NodeId id : result.contracts) {
    rights.push_back(add_factor(graph, graph[id].as<llir::Contract>().right, graph[id].operands[1]));
  }
  result.rows = exchanged ? rights[0] : left;
  result.columns = exchanged ? std::vector<NodeId>{left} : rights;
  const ElementWriter writer(graph, 0);
  result.domain = writer.rename(op.left.shape());
  result.result = writer.rename(first.type.shape);
  place_coordinates(result, roles);
  return result;
}

Place place_of(const ContractRoles& roles, const Graph& graph, NodeId factor) {
  const ElementWriter writer(graph, 0);
  Place place{factor, 0, true};
  std::vector<Expr> at = roles.at;
  while (graph[place.source].is<hlir::View>()) {
    const View& view = graph[place.source].as<hlir::View>().view;
    place.index = writer.place(view.index(), view.shape(), at);
    place.source = graph[place.source].operands[0];
    place.certain = place.certain && !view.has_guard() && fits(view, graph[place.source].type.shape.numel());
    at = unflatten(place.index, writer.rename(graph[place.source].type.shape));
  }
  return place;
}

std::optional<PlainFactor> plain_factor(const ContractRoles& roles, const Graph& graph, NodeId factor, Role lane) {
  const Place place = place_of(roles, graph, factor);
  if (!graph[place.source].is<Input>() || !place.certain) return std::nullopt;
  const std::optional<Expr> along_lane = step_of(roles, place.index, lane);
  const std::optional<Expr> along_sum = step_of(roles, place.index, Role::summed);
  if (!along_lane || !along_sum) return std::nullopt;
  const auto number = std::ranges::find(graph.inputs(), place.source) - graph.inputs().begin();
  return PlainFactor{static_cast<size_t>(number), graph[place.source].type.dtype, place.index, *along_lane, *along_sum};
}

std::optional<Expr> step_of(const ContractRoles& roles, Expr index, Role role) {
  const Expr here = Expr::index(static_cast<int>(role), roles.extent(role));
  const std::optional<Expr> step = step_along(index, here);
  return step && has_index(*step) ? std::nullopt : step;
}

}  // namespace lumen
