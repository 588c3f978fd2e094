// Which blocks of keys a row has nothing to do with: those where every score is -inf by a condition on coordinates.
#pragma once

#include <string>

#include "lumen/codegen/attention_form.h"

namespace lumen {

// static int name_excluded(in, out, dims, int64_t i0, int64_t m0, int64_t m1, int64_t k0, int64_t k1)
// Not 0 only where all scores of the rows m0 … m1-1 and the keys k0 … k1-1, of which there are some, are -inf.
std::string print_excluded(const AttentionForm& form, const std::string& name);
// The same as an expression over i0, m0, m1, k0 and k1; "0" when nothing is known.
std::string excluded_condition(const AttentionForm& form);

}  // namespace lumen
