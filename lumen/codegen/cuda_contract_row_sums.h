// Sums of whole rows inside a kernel with few of them: what norms divide rows by, or their products.
//
//   y = Contract(x / sqrt(SumReduce(x * x)), w)     or     Contract(x, w) / sqrt(SumReduce(x * x))
//
// Every block reads its rows anyway: it sums them itself, while its first columns are on their way, and no kernel has
// to end before it. The warps' parts of a sum stay in shared memory, where whoever needs it adds them up.
#pragma once

#include <string>
#include <vector>

#include "lumen/codegen/contract_roles.h"
#include "lumen/codegen/cuda_contract.h"
#include "lumen/codegen/element.h"

namespace lumen {

class RowSums {
 public:
  // The parts of sums begin `place` bytes into shared memory.
  RowSums(const ContractRoles& roles, const CudaContractSchedule& schedule, int64_t place);

  // An error when the body reduces anything but all rows of one tile.
  static Expected<void> check(const ContractRoles& roles, const CudaContractSchedule& schedule);

  int64_t shared() const;  // bytes
  // Sums the rows from `m0` on, by all threads, where `lane` and `warp` are declared. Empty when nothing is summed.
  Expected<std::string> text(std::vector<std::string>& faults) const;
  // The sums have names in what is written from now on, over i1.
  void know(ElementWriter& writer) const;
  // The declarations of those names that occur in a text, where `row` is the number of a row of the tile.
  std::string names_in(const std::string& text, const std::string& row, int indent) const;

 private:
  std::string name(size_t number) const { return "row_sum" + std::to_string(number); }
  std::vector<Expr> at(NodeId sum) const;
  Expected<std::string> sum_text(size_t number, std::vector<std::string>& faults) const;

  const ContractRoles& roles_;
  CudaContractSchedule s_;
  int64_t place_ = 0, warps_ = 0;
};

}  // namespace lumen
