#include "lumen/codegen/fold_layout.h"

#include <algorithm>

#include "lumen/codegen/element.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int64_t kTile = 512;          // columns: their accumulators stay in the nearest cache
constexpr int64_t kColumnChunks = 64;   // at most: every later step reads their results one after another
constexpr int64_t kChunkMultiple = 64;  // chunks end where vectors and bytes do

// Dims of `whole` that one variable walks over.
struct Group {
  std::vector<int64_t> axes;
  Shape shape(const Shape& whole) const {
    std::vector<Expr> dims;
    for (const int64_t axis : axes) dims.push_back(whole[axis]);
    return Shape(dims);
  }
};

std::vector<Group> group(const std::vector<int64_t>& axes, bool merge) {
  std::vector<Group> groups;
  for (const int64_t axis : axes) {
    if (merge && !groups.empty() && groups.back().axes.back() == axis - 1) {
      groups.back().axes.push_back(axis);
    } else {
      groups.push_back({{axis}});
    }
  }
  return groups;
}

class LayoutMaker {
 public:
  LayoutMaker(const FoldPlan& plan, const Shape& whole) : plan_(plan), whole_(whole) {
    made_.element.resize(static_cast<size_t>(whole.rank()));
  }

  FoldLayout make(FoldMerges merges, const FoldSchedule& schedule) {
    std::vector<int64_t> outer, columns;
    const int64_t last = plan_.axes.back();
    for (int64_t axis = 0; axis < whole_.rank(); ++axis) {
      if (std::find(plan_.axes.begin(), plan_.axes.end(), axis) != plan_.axes.end()) continue;
      const bool is_column = axis > last && (merges.columns || axis == whole_.rank() - 1);
      (is_column ? columns : outer).push_back(axis);
    }
    for (const Group& each : group(outer, merges.rows)) made_.items.push_back(walk(each).extent);
    next_ += 2;  // the tile and the chunk
    if (!columns.empty()) made_.column = walk({columns});
    if (!made_.column.variable.is_constant()) made_.tile = kTile;  // one column is a row
    for (const Group& each : group(plan_.axes, merges.reduced)) made_.loops.push_back(walk(each));
    made_.items.push_back(made_.tile == 0 ? Expr(1) : ceil_div(made_.column.extent, kTile));
    split(schedule);
    for (int64_t axis = 0; axis < whole_.rank(); ++axis) {
      if (std::find(plan_.axes.begin(), plan_.axes.end(), axis) != plan_.axes.end()) continue;
      made_.row.push_back(made_.element[static_cast<size_t>(axis)]);
    }
    return std::move(made_);
  }

 private:
  FoldLoop walk(const Group& dims) {
    const Shape shape = dims.shape(whole_);
    const FoldLoop loop{Expr::index(next_++, shape.numel()), shape.numel()};
    const std::vector<Expr> at = unflatten(loop.variable, shape);
    for (size_t k = 0; k < at.size(); ++k) made_.element[static_cast<size_t>(dims.axes[k])] = at[k];
    return loop;
  }

  void split(const FoldSchedule& schedule) {
    const Expr items = Shape(made_.items).numel();
    const Expr length = made_.loops[0].extent;
    Expr inner = made_.tile == 0 ? Expr(1) : min(made_.column.extent, kTile);
    for (size_t k = 1; k < made_.loops.size(); ++k) inner *= made_.loops[k].extent;
    const int64_t most_items = bounds(items).hi, work = bounds(length * inner).hi;
    const bool few = most_items < schedule.split_below;
    const bool is_long = work >= std::max(schedule.split_from, 2 * schedule.chunk_work);
    if (few && is_long && bounds(inner).lo > 0 && bounds(length).lo > 0) {
      int64_t most = std::min(schedule.most_chunks, schedule.most_items / std::max<int64_t>(most_items, 1));
      if (made_.tile != 0) most = std::min(most, kColumnChunks);
      const Expr least = ceil_div(schedule.chunk_work, inner);
      const Expr size = max(least, ceil_div(length, std::max<int64_t>(most, 1)));
      made_.chunk = ceil_div(size, kChunkMultiple) * kChunkMultiple;
      if (made_.tile != 0 || made_.loops.size() > 1) made_.chunk = size;
      made_.items.push_back(ceil_div(length, made_.chunk));
    } else {
      made_.items.emplace_back(1);
    }
  }

  const FoldPlan& plan_;
  const Shape& whole_;
  FoldLayout made_;
  int next_ = 0;
};

}  // namespace

FoldLayout lay_out_fold(const FoldPlan& plan, const Shape& whole, FoldMerges merges, const FoldSchedule& schedule) {
  FoldLayout layout = LayoutMaker(plan, whole).make(merges, schedule);
  layout.stack_first = schedule.stack_first;
  layout.held = schedule.held;
  layout.early = schedule.early;
  return layout;
}

}  // namespace lumen
