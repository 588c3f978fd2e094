#include "lumen/hlir/sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "lumen/hlir/coordinates.h"
#include "lumen/hlir/infer.h"
#include "lumen/hlir/lanes.h"

namespace lumen::hlir {

Expected<TensorType> Sort::infer(const Sort& op, std::span<const TensorType> operands) {
  LUMEN_TRY(check_axis(kName, op.axis, operands[0]));
  return TensorType{DType::i64, operands[0].shape};
}

Expected<void> Sort::eval(const Sort& op, const EvalContext&, std::span<const HostTensor* const> in, HostTensor& out) {
  const HostTensor& x = *in[0];
  const AxisSplit split = split_at(x.dims, op.axis);
  std::vector<int64_t> order(static_cast<size_t>(split.size));
  visit_lanes<kOperands>(x.dtype, [&]<class T>() {
    for (int64_t line = 0; line < split.outer * split.inner; ++line) {
      const int64_t first = line / split.inner * split.size * split.inner + line % split.inner;
      const auto value = [&](int64_t k) {
        return lane_value<T>(x.lanes[static_cast<size_t>(first + k * split.inner)]);
      };
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return op.descending ? is_greater(value(a), value(b)) : is_greater(value(b), value(a));
      });
      for (int64_t k = 0; k < split.size; ++k) {
        out.lanes[static_cast<size_t>(first + k * split.inner)].i = order[static_cast<size_t>(k)];
      }
    }
  });
  return {};
}

}  // namespace lumen::hlir
