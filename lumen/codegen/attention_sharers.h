// How many batches of attention in a row read the same keys and values: heads of queries that share one of keys.
#pragma once

#include "lumen/codegen/attention_form.h"

namespace lumen {

// Divides the batch; 1 when nothing is known.
Expr sharers_of(const AttentionForm& form);

// The same form with the batches that share as rows of one: all rows that read the same keys and values together.
AttentionForm with_shared_rows(const AttentionForm& form);

}  // namespace lumen
