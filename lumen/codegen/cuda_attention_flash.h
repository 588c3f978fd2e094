// Tiles of rows and keys by the tensor cores: a warp has 16 or 32 rows, with all their scores of a tile of keys and all
// their sums in registers; weights are rounded as values are, their sums are not.
#pragma once

#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/cuda_attention.h"

namespace lumen {

Expected<KernelText> print_cuda_flash(const Graph& body, const AttentionForm& form, const std::string& name,
                                      const CudaAttentionSchedule& schedule);

}  // namespace lumen
