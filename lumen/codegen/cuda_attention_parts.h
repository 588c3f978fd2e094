// What both methods of attention on a GPU do: find their rows and keys, weigh scores, make outputs of sums.
//
// Texts are over Index, i0, i1 (a row), i2 (a feature), i3 (a key), as attention_form.h has them.
#pragma once

#include <string>
#include <vector>

#include "lumen/codegen/attention_bounds.h"
#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/cuda_attention.h"

namespace lumen {

// The statements that make a score of the product `x`, of a key inside the bounds of its row, and a weight of both when
// the maximum of the row is `used`.
struct CudaWeigh {
  std::string score_text, score;    // a name
  std::string weight_text, weight;  // over `y` (the score) and `used`, and `x` if that is set:
  bool needs_product = false;
};
Expected<CudaWeigh> print_cuda_weigh(const AttentionForm& form, const KeyBounds& bounds, int indent,
                                     std::vector<std::string>& faults);

// The statements that store the outputs of an element, of `sum`, `top` and `total` of its row.
Expected<std::string> print_cuda_row_store(const Graph& body, const AttentionForm& form, int indent,
                                           std::vector<std::string>& faults);

// The type of coordinates.
std::string attention_index_type(const Graph& body, const AttentionForm& form);

// Blocks are (batch, rows, part): `i0`, `tile`, `m0`, `m1` and `part` of `row`. Where keys are left out, the last rows
// of some heads come first: they have the most to do, and little is to be left at the end.
std::string attention_place(const AttentionForm& form, const KeyBounds& bounds, const CudaAttentionSchedule& schedule);
// Where there are bounds, those of row m0 + r are left in `ends[r]` and, where there are such, `begins[r]`, which are
// ints in shared memory, by the first `threads` threads.
Expected<std::string> attention_row_bounds(const AttentionForm& form, const KeyBounds& bounds,
                                           const CudaAttentionSchedule& schedule, int64_t threads,
                                           std::vector<std::string>& faults);
// `first` … `last`: the keys that any row of the block sees, and some before them so that `first` is a multiple of a
// turn's. The block has waited for its bounds; `lane` is the thread's in its warp.
std::string attention_range(const AttentionForm& form, const KeyBounds& bounds, const CudaAttentionSchedule& schedule);
Expr attention_blocks(const AttentionForm& form, const CudaAttentionSchedule& schedule);

// The floats that a part leaves: maxima and totals of its rows, then their sums.
int64_t part_floats(const AttentionForm& form, const CudaAttentionSchedule& schedule);
// The step that combines parts by the law that also streams.
Expected<std::string> print_cuda_combine(const Graph& body, const AttentionForm& form, const std::string& name,
                                         const CudaAttentionSchedule& schedule, std::vector<std::string>& faults);

// `begin` and `end`: the keys that row m0 + r sees.
std::string attention_row_range(const KeyBounds& bounds, const std::string& r);

}  // namespace lumen
