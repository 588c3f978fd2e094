#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lumen/backend/reference/plan.h"
#include "lumen/hlir/coordinates.h"

namespace lumen::reference {

namespace {

// Calls run(coords, count) for each run of at most kRunLanes positions along `axis` of each line of `dims`.
template <class F>
Expected<void> for_each_run(std::vector<int64_t> dims, size_t axis, const F& run) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return {};
  const int64_t extent = std::exchange(dims[axis], 1);
  std::vector<int64_t> coords(dims.size());
  do {
    for (int64_t first = 0; first < extent; first += kRunLanes) {
      coords[axis] = first;
      LUMEN_TRY(run(coords, std::min(kRunLanes, extent - first)));
    }
    coords[axis] = 0;
  } while (hlir::next_coordinates(coords, dims));
  return {};
}

void store(const Lane* lanes, int64_t count, Lane* out, int64_t stride) {
  for (int64_t k = 0; k < count; ++k) out[k * stride] = lanes[k];
}

}  // namespace

Expected<void> Plan::run_map(Step& step, HostTensor& out) {
  Tape& tape = *step.tape;
  const AffineMap place{0, hlir::row_major(tape.dims())};
  const size_t axis = step.line_axis;
  return for_each_run(tape.dims(), axis, [&](std::span<int64_t> coords, int64_t count) -> Expected<void> {
    const Lane* lanes = LUMEN_TRY(tape.pull({coords, axis, count}, at_));
    store(lanes, count, out.lanes.data() + place(coords), place.strides[axis]);
    return {};
  });
}

Expected<void> Plan::run_fold(Step& step, HostTensor& out) {
  const Node& node = (*graph_)[step.node];
  const Fold& fold = *node.op->fold;
  const DType dtype = (*graph_)[node.operands[0]].type.dtype;
  Tape& tape = *step.tape;
  const auto folded = static_cast<size_t>(step.fold_axis);
  const size_t axis = step.line_axis;
  std::vector<int64_t> dims = tape.dims();
  const int64_t extent = std::exchange(dims[folded], 1);
  if (extent == 0 && fold.needs_elements && !out.lanes.empty()) {
    return error(fmt::format("[{}] axis {} is empty when run", node.op->name, fold.axis(node.fields)));
  }
  const AffineMap place{0, hlir::row_major(dims)};
  std::vector<Lane> lanes(3 * static_cast<size_t>(kRunLanes));
  const FoldLanes accumulators{lanes.data(), lanes.data() + kRunLanes};
  Lane* const results = lanes.data() + 2 * kRunLanes;
  return for_each_run(dims, axis, [&](std::span<int64_t> coords, int64_t count) -> Expected<void> {
    fold.start(dtype, accumulators, count);
    for (int64_t k = 0; k < extent;) {
      coords[folded] = k;
      if (axis == folded) {
        const int64_t run = std::min(kRunLanes, extent - k);
        fold.along({dtype, LUMEN_TRY(tape.pull({coords, axis, run}, at_)), run, k}, accumulators);
        k += run;
      } else {
        fold.across({dtype, LUMEN_TRY(tape.pull({coords, axis, count}, at_)), count, k}, accumulators);
        ++k;
      }
    }
    coords[folded] = 0;
    fold.finish(dtype, accumulators, count, results);
    store(results, count, out.lanes.data() + place(coords), axis == folded ? 0 : place.strides[axis]);
    return {};
  });
}

}  // namespace lumen::reference
