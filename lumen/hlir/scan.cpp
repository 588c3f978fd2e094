#include "lumen/hlir/scan.h"

#include <vector>

#include "lumen/hlir/coordinates.h"
#include "lumen/hlir/infer.h"
#include "lumen/hlir/reduce.h"

namespace lumen::hlir {

namespace {

const OpDef& reduction(ScanKind kind) {
  switch (kind) {
    case ScanKind::sum:
      return op_def<SumReduce>();
    case ScanKind::prod:
      return op_def<ProdReduce>();
    case ScanKind::max:
      return op_def<MaxReduce>();
  }
  CHECK(false, "a scan kind without a reduction");
  return op_def<SumReduce>();
}

}  // namespace

Expected<TensorType> Scan::infer(const Scan& op, std::span<const TensorType> operands) {
  LUMEN_TRY(check_dtype(kName, reduction(op.kind).operands, operands[0]));
  LUMEN_TRY(check_axis(kName, op.axis, operands[0]));
  return operands[0];
}

Expected<void> Scan::eval(const Scan& op, const EvalContext&, std::span<const HostTensor* const> in, HostTensor& out) {
  const HostTensor& x = *in[0];
  const Fold& fold = *reduction(op.kind).fold;
  const AxisSplit split = split_at(x.dims, op.axis);
  std::vector<Lane> value(static_cast<size_t>(split.inner));
  std::vector<Lane> extra(value.size());
  const FoldLanes accumulators{value.data(), extra.data()};
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    fold.start(x.dtype, accumulators, split.inner);
    for (int64_t k = 0; k < split.size; ++k) {
      const int64_t at = (outer * split.size + k) * split.inner;
      fold.across({x.dtype, x.lanes.data() + at, split.inner, k}, accumulators);
      fold.finish(x.dtype, accumulators, split.inner, out.lanes.data() + at);
    }
  }
  return {};
}

}  // namespace lumen::hlir
