// Tiles of rows and keys by products of groups of four warps (wgmma): each group has 64 rows. Products run on while
// their threads weigh the scores of the next keys. Of Hopper only.
#pragma once

#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/cuda_attention.h"

namespace lumen {

Expected<KernelText> print_cuda_groups(const Graph& body, const AttentionForm& form, const std::string& name,
                                       const CudaAttentionSchedule& schedule, const Target& target);

}  // namespace lumen
