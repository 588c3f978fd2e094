// Which blocks of keys a row has nothing to do with: those where every score is -inf by a condition on coordinates.
#pragma once

#include <string>

#include "lumen/codegen/attention_form.h"

namespace lumen {

// A C condition over i0, m0 … m1-1 (rows) and k0 … k1-1 (keys) that holds only where all scores are -inf; empty when
// there is none to be found.
std::string print_excluded(const AttentionForm& form);

}  // namespace lumen
