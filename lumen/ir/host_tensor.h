// HostTensor: a dense row-major tensor in wide lanes, the form in which op meanings are written.
#pragma once

#include <cstdint>
#include <vector>

#include "lumen/ir/dtype.h"
#include "lumen/ir/expr.h"

namespace lumen {

struct HostTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  std::vector<Lane> lanes;  // every lane holds a value of the dtype exactly

  // Lanes are filled with a poison pattern (NaN, or a large integer), never with zeros.
  static HostTensor poisoned(DType dtype, std::vector<int64_t> dims);
  int64_t numel() const { return static_cast<int64_t>(lanes.size()); }
};

// What a meaning may know besides its operands.
struct EvalContext {
  const DimValues& dims;
};

}  // namespace lumen
