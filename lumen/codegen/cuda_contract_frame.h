// What all Contract kernels for a GPU share: which tile a block has, what is done with its sums.
//
// The text of a method stands where these are declared:
//   Index                  the type of coordinates, of 32 bits where that is enough
//   i0, m0, c0             the batch, the first row and the first column of the tile
//   k0, k1                 its part of the summed axis
//   shared                 the block's shared memory, free for use
// It leaves `sums` in it, from its beginning on: [Contract][rows][pitch] of the type of sums. What is outside the
// result may be anything.
#pragma once

#include <string>
#include <vector>

#include "lumen/codegen/contract_roles.h"
#include "lumen/codegen/contract_sums.h"
#include "lumen/codegen/cuda_contract.h"
#include "lumen/codegen/cuda_contract_row_sums.h"

namespace lumen {

struct CudaTileText {
  std::string text;
  int64_t shared = 0;  // bytes that it needs
  int64_t pitch = 0;   // from one row of sums to the next; 0: as many as a tile has columns
  std::vector<std::string> faults;
  std::optional<RowSums> sums = {};  // that it has made, where it makes such
  // Every tile needs the same of the first tile's work: it is done where `row == first_row`, and there are so many
  // blocks at most, each of which has several tiles; 0: as many as tiles.
  int64_t blocks = 0;
  int at_once = 1;    // blocks that a multiprocessor must have room for, at most 4
  std::string ahead;  // before anything may be read: what a block will need first is brought nearer
};

// Fills a tile of a factor in shared memory: `rows` lanes from `first` on, `depth` summed coordinates from `kk` on,
// each at cell(lane, k), element by element; what is outside the axes is 0.
struct CudaFill {
  const Graph* graph = nullptr;
  NodeId factor{};
  Role lane{};
  std::string first, cell;  // `cell` is over l and k
  std::string type, convert;
  int64_t lanes = 0, depth = 0, threads = 0;
  bool along_summed = false;  // neighbouring threads take neighbouring summed coordinates
  // Lanes behind the last are the last one again, so that nothing but the depth is asked, and several elements of a
  // thread are under way at a time.
  bool repeats = false;
  bool grouped = false;  // lanes are batches of a group (cuda_contract_grouped.h)
};
Expected<std::string> print_fill(const ContractRoles& roles, const CudaFill& fill, std::vector<std::string>& faults);

// The kernel around a method. Where the summed axis is in parts, or elements of outputs share bytes, sums go to scratch
// and a second step makes the outputs of them.
Expected<KernelText> frame_contract(const Graph& body, const ContractRoles& roles, const std::string& name,
                                    const CudaContractSchedule& schedule, const CudaTileText& tile);

}  // namespace lumen
