// The epilogue of a Contract: what is computed of a tile of sums, and stored.
#pragma once

#include <string>
#include <vector>

#include "lumen/codegen/contract_roles.h"

namespace lumen {

struct StorePlan {
  std::string function;
  std::string sum;   // C type of sums
  int64_t step = 0;  // elements between two rows of a tile
  // Lines of results go past the caches, for which they must be neighbours; lumen_end_stream() is left to the caller.
  bool past = false;
};

// Whether results along columns are neighbours in memory: rows of whole tiles can be stored then, and past the caches.
bool has_lines(const Graph& body, const ContractRoles& roles);

// static int64_t function(in, out, dims, int64_t i0, int64_t m, int64_t rows, int64_t c, int64_t columns,
//                         const sum* t0, const sum* t1, …)
// for a tile of each Contract at row m and column c, of which so many rows and columns are there. It returns the number
// of a message, which are added to `faults`.
Expected<std::string> print_store(const Graph& body, const ContractRoles& roles, const StorePlan& plan,
                                  std::vector<std::string>& faults);

}  // namespace lumen
