// A few rows at a time: a few lanes read a key or a value, each once, ahead of when it is needed; scores and weights of
// a tile of keys meet in shared memory.
#pragma once

#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/cuda_attention.h"

namespace lumen {

Expected<KernelText> print_cuda_decode(const Graph& body, const AttentionForm& form, const std::string& name,
                                       const CudaAttentionSchedule& schedule);

}  // namespace lumen
