// How views and the axes of reductions and contractions get along.
#pragma once

#include <optional>

#include "lumen/ir/shape.h"
#include "lumen/ir/view.h"

namespace lumen {

// v without `count` dims from `first` on. Nothing when it depends on one of them, when there is no such dim, or when
// one may be empty: then v need not read anything that is there.
std::optional<View> without_dims(View v, int64_t first, int64_t count);

// v with dim `axis` moved to position `to` (of the result).
View move_dim(View v, int64_t axis, int64_t to);

// A reduction over dim `axis` of what v reads of a tensor with shape `from`, as a view of a reduction of that tensor.
struct ReducedView {
  int64_t axis;  // of the source
  View view;     // of what reducing the source gives
};
// Nothing unless coordinate `axis` of v runs along one whole axis of the source, in order, and moves nothing else.
std::optional<ReducedView> reduce_first(View v, Shape from, int64_t axis);

// The same for a gather by indices of shape `indices`, which take the place of the axis: what v gives, once the source
// is gathered along the axis that reduce_first names.
std::optional<View> gather_first(View v, Shape from, int64_t axis, Shape indices);

// v of a tensor with shape `from` that was reduced over `axis`, as a view of the tensor itself whose last dim is the
// one to reduce over. Nothing when v has a fill, or more dims than it reads: a tensor can be a reduction of a view of
// itself, and rules would go on adding dims.
std::optional<View> view_first(View v, Shape from, int64_t axis);

// Views over a domain: the dims of a result, then `summed` dims.
// What v gives when the result is read through `outer`. Nothing when outer has a fill.
std::optional<View> through_result(View outer, View v, int64_t summed);

}  // namespace lumen
