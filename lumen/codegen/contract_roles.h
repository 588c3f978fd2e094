// What each dim of a Contract's domain is for.
//
//   batch    both sides, or neither, depend on it        i0
//   rows     only the side called `rows` does            i1
//   columns  only the other side does                    i2
//   summed                                               i3
//
// The dims of a role are one axis, row-major in the order of the domain, whose coordinate in the text is the variable
// above. The last dim of the result is a column where it can be: results are stored along it. `swap` is the other way
// round.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen {

enum class Role : uint8_t { batch, row, column, summed };
constexpr size_t kRoles = 4;

struct ContractRoles {
  std::shared_ptr<Graph> graph;   // the body, and the factors below
  std::vector<NodeId> contracts;  // in `graph`
  NodeId rows{};                  // one factor, over the domain
  std::vector<NodeId> columns;    // the other: one for each Contract
  std::vector<NodeId> sums;       // reductions in `graph`, operands first: for few kernels (cuda_contract_row_sums.h)
  DType dtype{};                  // of the factors and of the results
  std::array<Expr, kRoles> extents;  // over n0, n1, …
  Shape domain, result;              // over n0, n1, …
  std::vector<Expr> at;              // coordinates in the domain, over i0, …, i3
  std::array<Expr, kRoles> widths;   // the extent of the last dim of a role that has several; 1 for others

  Expr extent(Role role) const { return extents[static_cast<size_t>(role)]; }
  // Coordinates in the result.
  std::span<const Expr> at_result() const { return std::span(at).first(static_cast<size_t>(result.rank())); }
};

// The coordinates in the domain with those of a role in two variables: i5 along its last dim, i4 along the ones before.
std::vector<Expr> split_coordinates(const ContractRoles& roles, Role role);
// The same with i5 in runs of `width`, which divides the extent of the role.
std::vector<Expr> split_coordinates(const ContractRoles& roles, Role role, Expr width);
// The loop over `count` places of a role from `first` on, in runs along its last dim: `body` is the statements for the
// places from `done` on, `run` many, whose coordinates are i4 and, for i5, `from` and those behind it.
std::string runs_loop(const ContractRoles& roles, Role role, std::string_view first, std::string_view count,
                      std::string_view body);
// The same where `body` is for place number `l`, over i4 and i5.
std::string loop_in_runs(const ContractRoles& roles, Role role, std::string_view first, std::string_view count,
                         std::string_view body);

// An error when the body has no Contract, or several that are not alike or to be swapped, or an output of another
// shape. `narrow`: only the last dim of the columns is one, those before it are of the batch.
Expected<ContractRoles> contract_roles(const Graph& body, bool swap = false, bool narrow = false);

// Where a factor, which is a chain of views in a graph with the inputs of the body, finds its element of an input.
struct Place {
  NodeId source{};      // what is left when the views are taken away
  Expr index;           // flat, over i0, …, i3 and n0, n1, …
  bool certain = true;  // read wherever it is: no guard, nothing outside
};
Place place_of(const ContractRoles& roles, const Graph& graph, NodeId factor);

// A factor that is an input seen through an affine view: the element at (i0, i1, i2, i3) is input number `input` at
// `index`, which grows by `lane` with the row or column and by `summed` with the summed coordinate.
struct PlainFactor {
  size_t input = 0;
  DType dtype{};
  Expr index;
  Expr lane, summed;
};
std::optional<PlainFactor> plain_factor(const ContractRoles& roles, const Graph& graph, NodeId factor, Role lane);

// By how much `index` grows with the coordinate of a role: nothing when that depends on where it is. A role of extent 1
// has step 0.
std::optional<Expr> step_of(const ContractRoles& roles, Expr index, Role role);

}  // namespace lumen
