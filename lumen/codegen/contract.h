// Contract kernels: sums of products (kernel/contract.h) with whatever is elementwise before and after them.
//
// A body has one Contract, or several that share their left side (gate and up projections). Its operands are computed
// from inputs element by element: that is done once, when they are packed. Its outputs have the shape of the result and
// are computed from it element by element, while a block of it is in the nearest cache.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"
#include "lumen/kernel/target.h"

namespace lumen {

enum class ContractMethod : uint8_t {
  gemm,     // register tiles of vectors, for every dtype
  amx,      // tiles of the matrix unit: bf16 and 8-bit integers
  quads,    // register tiles of vectors, four products of 8-bit integers to a lane
  windows,  // register tiles of vectors, columns read where they lie in an image with its border
  dot,      // few rows: mr rows by nr columns, each one long sum
  sweep,    // few rows: mr rows, kc summed coordinates over nc columns
};

// How a Contract runs: what does not change its meaning. Sizes are in elements.
struct ContractSchedule {
  ContractMethod method = ContractMethod::gemm;
  int64_t mr = 0, nr = 0;  // one register tile
  int64_t kc = 0;          // products that are summed before a block is left: rows are packed so far
  int64_t kr = 0;  // of these, products that are summed before a tile is put away, so that columns stay near; 0: all
  int64_t mc = 0, nc = 0;  // one piece of work: a block of the result
  int64_t direct = 0;      // 1: rows are read where they lie, 2: columns are, 3: both; they are not packed then
  int64_t own = 0;   // 1: columns are packed for each block anew, a panel before it is used; of windows, their image
  int64_t swap = 0;  // 1: the last dim of the result is a row
  int64_t wide = 0;  // 1: columns are multiplied as they were before they were rounded to a narrower float
  // 1: columns are scales times small integers; each block of them is summed before it is scaled. 2: rows, which are
  // bf16 or f16, are integers of 16 bits then, with one exponent for each block: an error of at most 2^-15 of the
  // largest in it, 2^-14 where they are multiplied as two bytes. A row with an infinity gives NaN.
  int64_t blocks = 0;
  // 1: results are stored past the caches, a line at a time: a line that is written whole is not read first.
  int64_t past = 0;

  bool operator==(const ContractSchedule&) const = default;
  // "gemm mr=14 nr=32 kc=256 mc=112 nc=512"
  std::string str() const;
  static Expected<ContractSchedule> parse(std::string_view text);
};

// An error when the body is no such kernel, or the schedule does not fit it or the target.
Expected<KernelText> print_contract(const Graph& body, const std::string& name, const ContractSchedule& schedule,
                                    const Target& target);

// Schedules that print_contract accepts, the most promising first; none when the body is no such kernel.
std::vector<ContractSchedule> contract_schedules(const Graph& body, const Target& target);

}  // namespace lumen
