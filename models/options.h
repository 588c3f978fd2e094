// What a user chooses about a model's graph.
#pragma once

#include <cstdint>
#include <optional>

#include "lumen/ir/dtype.h"
#include "nn/kv_cache.h"

namespace lumen::models {

struct ModelOptions {
  int64_t batch = 1;
  int64_t max_context = 0;                // positions a cache holds; 0: as many as the model knows
  int64_t max_step = 512;                 // tokens of a sequence in one step
  std::optional<DType> dtype = {};        // f32, bf16 or f16; none: what config.json says
  bool all_logits = false;                // of every token of a step, else of the last of each sequence
  int64_t candidates = 0;                 // how many likely tokens are listed for a Sampler; 0: none are
  std::optional<nn::Paging> paging = {};  // none: contiguous caches
  // How a weight file differs from Hugging Face's: types of parameters, rotated pairs that are neighbours in the rows
  // of queries and keys, and Gemma's norms with their 1 added (GGUF has all three).
  nn::StorageOf storage = {};
  bool paired_rows = false;
  bool whole_norms = false;
};

}  // namespace lumen::models
