#include "lumen/frontend/operand.h"

#include "lumen/frontend/build.h"

namespace lumen {

Tensor Operand::tensor() const {
  const auto* tensor = std::get_if<Tensor>(&value_);
  if (tensor == nullptr) fail("needs a tensor, not a number");
  if (tensor->graph == nullptr) fail("an operand is an empty Tensor, which belongs to no graph");
  return *tensor;
}

}  // namespace lumen
