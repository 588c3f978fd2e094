// Contracts spelled with letters: product(a, "mk", b, "nk", "mn") sums over k.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "lumen/ir/graph.h"
#include "lumen/kernel/contract.h"

namespace lumen::testing {

// The views of `a` and `b`, whose dims are named by letters; letters that are not in `result` are summed over.
inline llir::Contract contract_of(const Shape& a, std::string_view a_dims, const Shape& b, std::string_view b_dims,
                                  std::string_view result) {
  std::map<char, Expr> extents;
  for (size_t d = 0; d < a_dims.size(); ++d) extents[a_dims[d]] = a[static_cast<int64_t>(d)];
  for (size_t d = 0; d < b_dims.size(); ++d) extents[b_dims[d]] = b[static_cast<int64_t>(d)];
  std::string order(result);
  for (const char letter : std::string(a_dims) + std::string(b_dims)) {
    if (order.find(letter) == std::string::npos) order += letter;
  }
  std::vector<Expr> domain;
  for (const char letter : order) domain.push_back(extents.at(letter));
  const auto view = [&](const Shape& shape, std::string_view dims) {
    std::vector<Expr> at;
    for (const char letter : dims) {
      at.push_back(Expr::index(static_cast<int>(order.find(letter)), extents.at(letter)));
    }
    return View(Shape(domain), shape.flat_index(at));
  };
  return {view(a, a_dims), view(b, b_dims), static_cast<int64_t>(order.size() - result.size())};
}

inline Tensor product(Tensor a, std::string_view a_dims, Tensor b, std::string_view b_dims, std::string_view result) {
  const NodeId operands[] = {a.id, b.id};
  const llir::Contract op = contract_of(a.shape(), a_dims, b.shape(), b_dims, result);
  return {a.graph, a.graph->add(op, operands).value()};
}

}  // namespace lumen::testing
