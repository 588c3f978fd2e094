// What both methods of attention on a GPU do: find their rows and keys, weigh scores, make outputs of sums.
//
// Texts are over Index, i0, i1 (a row), i2 (a feature), i3 (a key), as attention_form.h has them.
#pragma once

#include <string>
#include <vector>

#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/cuda_attention.h"

namespace lumen {

// The statements that make a score of the product `x`, and a weight of both when the maximum of the row is `used`.
struct CudaWeigh {
  std::string score_text, score;    // a name
  std::string weight_text, weight;  // over `y` (the score) and `used`, and `x` if that is set:
  bool needs_product = false;
};
Expected<CudaWeigh> print_cuda_weigh(const AttentionForm& form, int indent, std::vector<std::string>& faults);

// The statements that store the outputs of an element, of `sum`, `top` and `total` of its row.
Expected<std::string> print_cuda_row_store(const Graph& body, const AttentionForm& form, int indent,
                                           std::vector<std::string>& faults);

// The type of coordinates.
std::string attention_index_type(const Graph& body, const AttentionForm& form);

// Blocks are (batch, rows, part): `i0`, `tile`, `m0`, `m1`, `part` of `row`, and the keys `first` … `last` of the part.
// The last rows come first: where keys are excluded, they have the most to do.
std::string attention_place(const AttentionForm& form, const CudaAttentionSchedule& schedule);
Expr attention_blocks(const AttentionForm& form, const CudaAttentionSchedule& schedule);

// The floats that a part leaves: maxima and totals of its rows, then their sums.
int64_t part_floats(const AttentionForm& form, const CudaAttentionSchedule& schedule);
// The step that combines parts by the law that also streams.
Expected<std::string> print_cuda_combine(const Graph& body, const AttentionForm& form, const std::string& name,
                                         const CudaAttentionSchedule& schedule, std::vector<std::string>& faults);

// The loop over tiles of keys that are not excluded: `k0` and `next`, `k1`, `count` in it. `before` stands before it,
// where `start` is the first of them.
std::string attention_tiles_head(const AttentionForm& form, const CudaAttentionSchedule& schedule,
                                 const std::string& before);

}  // namespace lumen
