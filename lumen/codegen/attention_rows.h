// What attention does to one row: scores of a block of keys become weights, and sums become outputs.
#pragma once

#include <string>
#include <vector>

#include "lumen/codegen/attention_form.h"

namespace lumen {

// static float name_exp2(float x): as good as Exp2 for x <= 0, but 0 below the normal range. `rough`: to 18 bits.
std::string print_weight_exp2(const std::string& name, bool rough);

inline constexpr int64_t kTotals = 16;  // the sum of a row's weights is kept in so many parts

struct WeighPlan {
  int64_t sums = 0;     // of a row
  bool narrow = false;  // weights are bf16
  int64_t lanes = 0;    // that are computed together, a multiple of kTotals
};

// static int64_t name_weigh(in, out, dims, i0, i1, first, count, const float* s, W* w, float* t, float* sums,
//                           float* top, float* total)
// `s` has products of row i1 with `count` > 0 keys from `first` on, of which `w` gets the weights; `t` is room for as
// many. Weights are floats, and may take the place of `s`, or bf16 and filled up with zeros to a multiple of 32.
// Where the maximum so far, `top`, grows, `total` and `sums` are scaled.
// The result has a bit for each message, which are added to `faults`.
Expected<std::string> print_weigh(const AttentionForm& form, const std::string& name, const WeighPlan& plan,
                                  std::vector<std::string>& faults);

// static int64_t name_store(in, out, dims, i0, i1, const float* sums, float top, const float* totals): the outputs of a
// row.
Expected<std::string> print_row_store(const Graph& body, const AttentionForm& form, const std::string& name,
                                      std::vector<std::string>& faults);

// The statements that store the outputs at form.result.at, where what they are made of is known to the writer.
Expected<void> store_attention_outputs(ElementWriter& writer, const Graph& body, const AttentionForm& form);

}  // namespace lumen
