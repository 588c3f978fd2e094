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

// Reductions inside reductions, for one run of results at a time; none but the last is stored whole.
class Plan::NestedFold {
 public:
  NestedFold(Step& step, const Values& values)
      : step_(step), values_(values), dims_(step.tape->dims()), lanes_(step.levels.size() * 3 * kRunLanes) {}

  // Results of levels 0 .. `level` for `count` positions along the line axis (one, when that axis is folded).
  Expected<const Lane*> run(size_t level, std::span<int64_t> coords, int64_t count) {
    const auto [node, dtype, axis] = step_.levels[level];
    const Fold& fold = *node->op->fold;
    const int64_t extent = dims_[axis];
    if (extent == 0 && fold.needs_elements) {
      return error(fmt::format("[{}] axis {} is empty when run", node->op->name, fold.axis(node->fields)));
    }
    Lane* const first = lanes_.data() + level * 3 * kRunLanes;
    const FoldLanes accumulators{first, first + kRunLanes};
    fold.start(dtype, accumulators, count);
    const bool along = axis == step_.line_axis;
    const int64_t step = along ? kRunLanes : 1;
    for (int64_t k = 0; k < extent; k += step) {
      coords[axis] = k;
      if (along) {
        const int64_t length = std::min(step, extent - k);
        fold.along({dtype, LUMEN_TRY(step_.tape->pull({coords, axis, length}, values_)), length, k}, accumulators);
      } else {
        const Lane* lanes = level == 0 ? LUMEN_TRY(step_.tape->pull({coords, step_.line_axis, count}, values_))
                                       : LUMEN_TRY(run(level - 1, coords, count));
        fold.across({dtype, lanes, count, k}, accumulators);
      }
    }
    coords[axis] = 0;
    Lane* const results = first + 2 * kRunLanes;
    fold.finish(dtype, accumulators, count, results);
    return results;
  }

 private:
  Step& step_;
  const Values& values_;
  const std::vector<int64_t> dims_;
  std::vector<Lane> lanes_;  // for each level kRunLanes of value, extra and result
};

Expected<void> Plan::run_fold(Step& step, HostTensor& out) {
  std::vector<int64_t> dims = step.tape->dims();
  for (const Level& level : step.levels) dims[level.axis] = 1;
  const AffineMap place{0, hlir::row_major(dims)};
  NestedFold fold(step, at_);
  return for_each_run(dims, step.line_axis, [&](std::span<int64_t> coords, int64_t count) -> Expected<void> {
    const Lane* results = LUMEN_TRY(fold.run(step.levels.size() - 1, coords, count));
    store(results, count, out.lanes.data() + place(coords), place.strides[step.line_axis]);
    return {};
  });
}

}  // namespace lumen::reference
