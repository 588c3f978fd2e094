// What rules compute: index maps, types and scalars, in C++. Rules say what has which structure, these do the
// arithmetic; where one has no answer the rule does not fire. All are pure.
#pragma once

#include "lumen/egraph/core/egraph.h"

namespace lumen {

// After FieldValues has declared its sorts.
//
// Views (the shapes are those of the tensors at hand)
//   (identity_view T)            the whole of a tensor of type T
//   (broadcast_view T)           one element as a tensor of type T
//   (view_rank v)                of what it gives
//   (compose outer inner)        what outer reads of inner, unless they have very many divisions
//   (guarded v)                  holds when there is a fill
//   (unguarded v)                holds when there is none, and v is not empty
//   (injective v), (repeats v)   of those without a fill: no element is read twice; some may be
//   (all_equal v c)              holds when v of a tensor full of c is full of c
//   (cast_fill v d)              the same with its fill cast to d
//   (iota_shape v), (iota_value v s e)   the Iota that v reads of one with shape s and value e
//   (without_axis v i)           v, which does not depend on coordinate i, without dim i
// Reductions
//   (axis_is T i n)              holds when axis i has size n
//   (nonempty T i)               holds when axis i is known to have elements
//   (source_axis v T i)          the axis of a T that coordinate i of v walks along, in order and alone
//   (view_after v T i)           what v reads of a T, once reduced over that axis; v's dim i is gone
//   (view_before v T i)          v of a T that was reduced over axis i, as a view of the T; the axis becomes the last
//   (axis_last T i)              the identity with axis i moved to the end
//   (count_of T i)               the size of axis i as a scalar of T's dtype, when it is a number that it can be
// Contractions (a view over the domain: the result's dims, then r that are summed over)
//   (sum_dim v r i)              dim i of the result, not of size 1, moved to those that are summed over
//   (view_domain outer v r)      the domain that gives what outer reads of the result
//   (without_summed v r)         v, which does not depend on the dims summed over, over the result's dims
// Types and scalars
//   (dtype_of T), (floating T)
//   (neutral_add c), (neutral_mul c)    x + c and x * c are x, bit for bit
//   (is_zero c)                  +0
//   (positive c)                 finite and above 0
//   (exact_recip c)              1/c for powers of two
//   (mul_constants c d)          c * d, unless far from 1
//   (cast_through T d e)         holds when casting a T to d and then to e is casting it to e
// Gathers (of an x of type T along axis i)
//   (gather_view T i s e)        what an Iota of shape s and affine value e reads, as a view of x
//   (index_axis I i j)           the axis of the indices, of type I, that is axis j of the result; there may be none
//   (view_after_gather v T i I)  a gather along axis i of what v reads of a T, once the T is gathered along its axis
//                                (source_axis v T i)
void add_rule_primitives(egraph::EGraph& graph);

// Those on views alone, and on contractions; parts of the above.
void add_view_primitives(egraph::EGraph& graph);
void add_reduction_primitives(egraph::EGraph& graph);

}  // namespace lumen
