// What is done with the sums of a Contract: the epilogue of its body, in any kernel that has them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lumen/codegen/contract_roles.h"
#include "lumen/codegen/kernel_text.h"

namespace lumen {

class RowSums;

// An expression as text, without the type that number() adds.
std::string plain_number(Expr e);

// The type of a sum, and its bytes.
std::string sum_type(DType dtype);
int64_t sum_bytes(DType dtype);

class SumsStore {
 public:
  SumsStore(const Graph& body, const ContractRoles& roles, std::vector<std::string> faults = {});

  // The line that makes x0, x1, … of the sums of Contract number `side`.
  std::string sum_line(size_t side, const std::string& sum, int indent) const;
  // The statements that store the outputs at `at`, of x0, x1, …, and of sums of rows.
  Expected<std::string> outputs(std::span<const Expr> at, int indent, const RowSums* sums = nullptr);
  // Adds a last step `name`, which makes the outputs of sums in scratch: [part][Contract][element of the result].
  Expected<void> settle(const std::string& name, int64_t parts, KernelText& kernel);

  const std::vector<std::string>& faults() const { return faults_; }

 private:
  const Graph& body_;
  const ContractRoles& roles_;
  std::vector<std::string> faults_;
};

}  // namespace lumen
