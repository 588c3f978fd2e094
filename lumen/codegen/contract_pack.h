// Packing: one factor of a Contract, element by element, in the order in which tiles read it.
//
//   panel  [k / group][lane][group]       what a tile multiplies by, `group` products to a lane
//   rows   [k / depth][lane][depth]       the left operand of a matrix unit, `depth` elements to a row
//
// Of a factor in pieces (TileTypes), each `multiple` of summed coordinates lies there as often as it has pieces, side
// by side: its first ones, its second ones, …
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lumen/codegen/contract_roles.h"

namespace lumen {

struct Packing {
  std::string function;          // its name
  const Graph* graph = nullptr;  // with the inputs of the body
  NodeId factor{};               // in `graph`, over the domain
  Role lane{};                   // row or column
  int64_t lanes = 0;             // of a panel
  int64_t group = 1;
  int64_t depth = 0;          // of rows; 0 for a panel
  int64_t multiple = 1;       // the summed axis is filled up with zeros to a multiple of this
  std::string type;           // of a packed element
  std::string convert;        // from the compute type to that
  int64_t pieces = 1;         // several: the compute type is float, the packed one bf16, and `convert` is not used
  bool along_summed = false;  // elements lie along the summed axis
  int vector_bytes = 0;
  std::optional<PlainFactor> plain;  // set when the packed bits are those of an input
};

// static int64_t function(in, out, dims, type* to, int64_t i0, int64_t first, int64_t k0, int64_t k1)
// packs the lanes from `first` on and the summed coordinates [k0, k1); k0 is a multiple of Packing::multiple. Lanes
// outside their axis are 0. It returns the number of a message: those of this factor are added to `faults`.
Expected<std::string> print_packing(const ContractRoles& roles, const Packing& packing,
                                    std::vector<std::string>& faults);

}  // namespace lumen
