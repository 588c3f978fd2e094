// Attention and rotary embeddings.
#pragma once

#include <optional>

#include "lumen/frontend/operand.h"

namespace lumen {

struct AttentionOptions {
  std::optional<Operand> mask = {};  // bool: true may be attended to; float: added to the scores
  bool causal = false;               // query i sees keys up to i (from the upper left, as PyTorch)
  std::optional<double> scale = {};  // default 1/sqrt(head dim)
  bool enable_gqa = false;           // key and value heads are shared by groups of query heads
};
// query [..., heads, L, d], key [..., heads, S, d], value [..., heads, S, e]
Tensor scaled_dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                                    const AttentionOptions& options = {});

enum class RopeLayout : uint8_t {
  half,         // pairs (x[k], x[k + d/2]): Hugging Face Llama
  interleaved,  // pairs (x[2k], x[2k+1]): the original paper, GGUF Llama
};
// x [..., seq, d], positions [seq] or broadcastable to x's dims before the last; frequencies base^(-2k/d).
Tensor rope(const Operand& x, const Operand& positions, double base = 10000.0, RopeLayout layout = RopeLayout::half);

}  // namespace lumen
