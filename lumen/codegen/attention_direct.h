// Attention of few rows: keys and values are read once, where they lie, and work is cut along the keys. Each piece
// leaves its maximum, its total and its sums; a second step combines them by the law that also streams.
#pragma once

#include "lumen/codegen/attention.h"
#include "lumen/codegen/attention_form.h"

namespace lumen {

// The most rows that read the same keys and values, for which this is thought of.
inline constexpr int64_t kMostDirectRows = 16;

// An error when there are more rows, or their number is not known.
Expected<KernelText> print_direct_attention(const Graph& body, const AttentionForm& form, const std::string& name,
                                            const AttentionSchedule& schedule, const Target& target);

}  // namespace lumen
