// One operand of attention that a few lanes of a warp read together, a line of it at a time: the depth of a key, or the
// features of a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/cuda_contract_factor.h"

namespace lumen {

class CudaLanes {
 public:
  // The columns' factor of `roles`; a line is along `along`, and its number the coordinate `line`.
  CudaLanes(const ContractRoles& roles, Role along, std::string line);

  int64_t lanes() const { return lanes_; }        // that read a line, a power of two
  int64_t elements() const { return elements_; }  // that each of them has
  // Whether lines are read ahead into registers: 16 bytes to a lane.
  bool is_wide() const { return stored_.has_value(); }
  // The place in a line of element `j` of lane `at`; outside the line it has no element there.
  std::string place(const std::string& at, const std::string& j) const;
  // Wide: statements that read 16 bytes of the line into `to`; an index may choose the line.
  std::string read(const std::string& to, std::vector<std::string>& faults) const;
  // Statements that leave the elements in `y`, of what was read, or of inputs.
  Expected<std::string> elements_text(const std::string& read, int indent, std::vector<std::string>& faults) const;

 private:
  // The roles by whose coordinates an index may choose: those of lines.
  std::vector<Role> by() const;

  const ContractRoles& roles_;
  Role along_;
  std::string line_;
  int64_t extent_ = 0, lanes_ = 32, elements_ = 1;
  std::optional<StoredFactor> stored_;
};

}  // namespace lumen
