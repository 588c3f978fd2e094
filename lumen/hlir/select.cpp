#include "lumen/hlir/select.h"

#include <fmt/format.h>

#include "lumen/hlir/infer.h"

namespace lumen::hlir {

Expected<TensorType> Select::infer(const Select&, std::span<const TensorType> operands) {
  LUMEN_TRY(check_same(kName, operands[1], operands[2]));
  const TensorType condition{DType::bool_, operands[1].shape};
  if (operands[0] == condition) return operands[1];
  return op_error(kName, fmt::format("needs a condition of type {}, got {}", condition.str(), operands[0].str()));
}

void Select::apply(const Select&, const ApplyArgs& args) {
  for (int64_t k = 0; k < args.count; ++k) args.out[k] = args.in[0][k].i != 0 ? args.in[1][k] : args.in[2][k];
}

}  // namespace lumen::hlir
