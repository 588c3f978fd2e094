// View: one canonical index map from output coordinates to a flat source index.
//
// A view has output dims, an `index` (an Expr over the coordinates i0, i1, … of those dims: the flat position in
// a row-major source), and a `guard` (0 or 1; where it is 0 the element is `fill` and the index is not read).
// Permute, expand, reshape, slice, pad, flip, roll, repeat, unfold and diagonal are all this one thing, and a
// chain of them is again one view: composing substitutes coordinates.
//
//   transpose of f32[2,seq]          {[seq,2] i0 + seq*i1}
//   row 3 repeated 5 times           {[5,seq] 3*seq + i1}
//   pad(f32[5], 2 before, 2 after)   {[9] i0 - 2 if i0 < 7 and i0 >= 2 else f32(0)}
//
// How two views become one. Let `inner` be the transpose of a source f32[seq,4], and `outer` pad its result, a
// [4,seq], by one row before:
//
//   inner   {[4,seq] i0 + 4*i1}
//   outer   {[5,seq] seq*i0 - seq + i1 if i0 >= 1 else f32(0)}
//
// Outer's index is a flat position f in inner's result; inner wants coordinates, c0 = f/seq and c1 = f % seq. Expr
// sees that 0 <= i1 < seq and makes them i0 - 1 and i1; putting them into inner's index gives
//
//   {[5,seq] i0 + 4*i1 - 1 if i0 >= 1 else f32(0)}
//
// Had outer padded the last axis, f would be seq*i0 + i1 - 1, and 0 <= i1 - 1 < seq is true only where the guard
// holds. So the algebra works in other coordinates, u = i1 - 1 with 0 <= u < seq, in which the guard is visible as
// an interval, and goes back afterwards. The same is done for i0/6 of a coordinate that a reshape merged: it is
// split into two. A view's index is kept in the form this gives, so that chains which read alike are one object; that
// is certain for affine views, and nearly so for what keeps divisions.
//
// Views are interned handles: equal views are the same object. Every view here describes reads that stay inside
// its source; whether a given view fits a given source is the verifier's question (fits()).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lumen/ir/shape.h"

namespace lumen {

struct ViewNode;

class View {
 public:
  View();  // the scalar: {[] 0}
  View(Shape shape, Expr index);
  // `fill` is dropped when the guard is constantly true; the index is 0 when it is constantly false.
  View(Shape shape, Expr index, Expr guard, Scalar fill);
  // The whole row-major source.
  static View identity(Shape shape);

  Shape shape() const;
  Expr index() const;
  Expr guard() const;
  bool has_guard() const;
  Scalar fill() const;

  bool operator==(const View& o) const { return node_ == o.node_; }
  uint64_t hash() const;
  std::string str() const;

 private:
  const ViewNode* node_;
};

// What `outer` reads of `inner`: element x of the result is inner's element outer(x). Nothing when both have guards
// with different fills (then two views stay two). `outer` must read within inner's shape.
std::optional<View> compose(View outer, View inner);

// ---- constructors: each takes the view so far and gives the next. CHECK on arguments out of range: the frontend
// has checked them and named them to the user. ------------------------------------------------------------------
View permute(View v, std::span<const int64_t> order);  // result dim k is v's dim order[k]
View expand(View v, Shape to);                         // NumPy broadcasting: dims of size 1 and new leading dims
View reshape(View v, Shape to);                        // same number of elements
View slice(View v, int64_t axis, Expr start, Expr count, Expr step);  // elements start, start+step, …; step != 0
std::optional<View> pad(View v, int64_t axis, Expr before, Expr after, Scalar fill);  // nothing: fills differ
View flip(View v, int64_t axis);
View roll(View v, int64_t axis, Expr shift);                                   // element i moves to (i+shift) mod n
View repeat(View v, int64_t axis, Expr times);                                 // whole axis tiled
View unfold(View v, int64_t axis, Expr kernel, Expr stride, Expr dilation);    // axis -> windows; kernel dim at the end
View diagonal(View v, int64_t axis0, int64_t axis1, Expr offset, Expr count);  // diagonal dim at the end

// ---- queries ------------------------------------------------------------------------------------------------
struct Affine {
  Expr offset;
  std::vector<Expr> strides;  // one per output dim; free of coordinates
};
std::optional<Affine> affine(View v);         // nothing when a guard, or a coordinate under a div, remains
bool is_identity(View v);                     // reads a row-major source of its own shape in order
bool is_contiguous(View v);                   // as identity, from any constant or symbolic offset
std::vector<int64_t> broadcast_dims(View v);  // output dims that neither index nor guard depends on
bool is_injective(View v);                    // proven: no source element is read twice (unguarded views)
// The smallest and one past the largest flat index read where guarded true: exact for unguarded affine views, a bound
// for the others; nothing when none is found. {0,0} when nothing is read.
struct Span {
  Expr lowest;
  Expr end;
};
std::optional<Span> physical_span(View v);
std::vector<int64_t> dependent_dims(View v, Expr term);  // output dims whose coordinate occurs in `term`
// The view w with compose(w, v) == identity(source), for a bijective view of a source of that shape.
std::optional<View> inverse(View v, Shape source);
// Proven: where the guard holds, 0 <= index < numel. `false` means "not proven".
bool fits(View v, Expr numel);

}  // namespace lumen
