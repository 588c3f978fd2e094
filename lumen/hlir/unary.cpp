#include "lumen/hlir/unary.h"

#include "lumen/hlir/infer.h"
#include "lumen/hlir/lanes.h"

namespace lumen::hlir {

template <class Op>
Expected<TensorType> Unary<Op>::infer(const Op&, std::span<const TensorType> operands) {
  LUMEN_TRY(check_dtype(Op::kName, Op::kOperands, operands[0]));
  return operands[0];
}

template <class Op>
void Unary<Op>::apply(const Op&, const ApplyArgs& args) {
  for (int64_t k = 0; k < args.count; ++k) args.out[k].f = Op::scalar(args.in[0][k].f);
  settle(args.out_dtype, args.out, args.count);
}

template struct Unary<Exp2>;
template struct Unary<Log2>;
template struct Unary<Sin>;
template struct Unary<Sqrt>;
template struct Unary<Recip>;
template struct Unary<Floor>;
template struct Unary<Tanh>;
template struct Unary<Erf>;
template struct Unary<Atan>;

}  // namespace lumen::hlir
