// Factors of a Contract that lie in an input, as they are or narrower: what wide loads can read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lumen/codegen/contract_roles.h"
#include "lumen/codegen/element.h"

namespace lumen {

// An index that says which part of an input is meant.
struct Choice {
  NodeId index{};
  std::vector<Expr> at;  // its element
  Expr extent;           // how many parts there are
  std::string message;   // when it is none of them
};

struct StoredFactor {
  size_t input = 0;
  DType dtype{};  // of the input
  Expr index;     // flat, over i0, …, i3 and n0, n1, …
  std::vector<Choice> choices = {};
};

// Which part that is, in what the writer writes: outside is a fault.
Expr place_of(const Choice& choice, ElementWriter& writer);

// Nothing when an element is computed, guarded, or changed by a Cast. Where `gathers` is given, an index may choose the
// input's part for the coordinates of the roles `by`, of a whole batch (experts) or of a line too (pages of a cache):
// the writer gets the statements that find it, over these.
std::optional<StoredFactor> stored_factor(const ContractRoles& roles, const Graph& graph, NodeId factor,
                                          ElementWriter* gathers = nullptr,
                                          const std::vector<Role>& by = {Role::batch});

// How many elements 16 bytes along the axis of a role hold, when they can be read together everywhere; 0 otherwise.
int64_t elements_at_once(const ContractRoles& roles, const StoredFactor& stored, Role along);

// Whether lumen_unpack_<dtype> is there.
bool is_unpacked(DType dtype);

}  // namespace lumen
