// What kernels with few rows share whose warps sum columns. A warp has `lanes` columns; several warps may share them
// and take turns along the summed axis. The rows are in shared memory, their summed coordinates in pieces of `summed`.
//
// The text declares, of the type T of sums:
//   s[sides][rows][lanes]      sums of a lane
//   sums, partial, x           in shared memory: of the block, of warps, and the rows
//   lane, warp                 of the thread
//   piece, group               the warp's place among those that share columns; which columns these are
#pragma once

#include <string>
#include <vector>

#include "lumen/codegen/contract_roles.h"
#include "lumen/codegen/cuda_contract.h"
#include "lumen/codegen/cuda_contract_row_sums.h"

namespace lumen {

// Whether the sizes of a schedule are those of such a kernel.
bool is_warp_tile(const ContractRoles& roles, const CudaContractSchedule& schedule);

class WarpTile {
 public:
  WarpTile(const ContractRoles& roles, const CudaContractSchedule& schedule);

  // Elements of a row that a lane reads as its own, one lane after the other: then x has groups of four that lie
  // together for all lanes, so that 16 bytes are read by each without two in one bank. 0: x is in order.
  int64_t of_lane = 0;
  // Floats from one group to the next: more than 128 where neighbours along a row would be filled into one bank.
  int64_t group = 128;

  int64_t split() const { return split_; }              // warps that share columns
  int64_t pitch() const;                                // from one row of x to the next
  int64_t span() const { return of_lane / 4 * group; }  // of x, what all lanes read as their own
  int64_t shared() const;                               // bytes, from sums to the end of x: a multiple of 128
  std::string head() const;
  // The rows from `kk` on, `count` summed coordinates, into x; and, before the first of them, what they are divided by.
  Expected<std::string> fill_rows(const RowSums& sums, std::vector<std::string>& faults) const;
  // i2, the column c of a warp whose block begins at `first`; behind the last one it is that again, and its sum is not
  // stored.
  std::string column_line(const std::string& first = "c0") const;
  // s of all lanes, and of the warps that share columns, into `sums`.
  std::string together() const;

 private:
  std::string place(const std::string& k) const;
  std::string fill_wide_rows() const;
  int64_t sums() const;

  const ContractRoles& roles_;
  CudaContractSchedule s_;
  std::string type_;
  int64_t split_ = 0, sides_ = 0;
};

}  // namespace lumen
