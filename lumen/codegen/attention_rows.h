// What attention does to one row: scores of a block of keys become weights, and sums become outputs.
#pragma once

#include <string>
#include <vector>

#include "lumen/codegen/attention_form.h"

namespace lumen {

// static float name_exp2(float x): as good as Exp2 for x <= 0, but 0 below the normal range.
std::string print_weight_exp2(const std::string& name);

// static int64_t name_weigh(in, out, dims, i0, i1, first, count, float* s, float* t, float* sums, float* top,
//                           float* total)
// `s` has products of row i1 with `count` > 0 keys from `first` on, which become weights; `t` is room for as many.
// Where the maximum so far, `top`, grows, `total` and so many `sums` are scaled.
// The result has a bit for each message, which are added to `faults`.
Expected<std::string> print_weigh(const AttentionForm& form, const std::string& name, int64_t sums,
                                  std::vector<std::string>& faults);

// static int64_t name_store(in, out, dims, i0, i1, const float* sums, float top, float total): the outputs of a row.
Expected<std::string> print_row_store(const Graph& body, const AttentionForm& form, const std::string& name,
                                      std::vector<std::string>& faults);

}  // namespace lumen
