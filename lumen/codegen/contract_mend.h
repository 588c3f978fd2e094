// Results of a matrix unit that multiplies f32 in pieces (TileTypes), where pieces are not enough: those are computed
// again, in plain loops.
//
//   infinities, NaN      are no sums of pieces; results that depend on them are NaN
//   too small numbers    the matrix unit takes what is below 2^-126 for 0: pieces, products and sums
//
// Results below 2^-75 are computed again where a factor has numbers below 2^-50 that are not 0. So what is lost of
// larger results is below 2^-117 times the other factor, for each product.
#pragma once

#include <string>

#include "lumen/codegen/contract_roles.h"

namespace lumen {

// static void function(in, out, dims, int64_t i0, int64_t m, int64_t rows, int64_t c, int64_t columns, float* t,
//                      int64_t step)
// for results t[row * step + column] from (m, c) on, `rows` by `columns` of them, `mr` by `nr` at most, of `column`.
Expected<std::string> print_mend(const ContractRoles& roles, NodeId column, const std::string& function, int64_t mr,
                                 int64_t nr);

}  // namespace lumen
