// What a step of a model lists of its logits, so that a Sampler need not be given all of them (text/sampler.h).
#pragma once

#include "lumen/frontend/ops.h"

namespace lumen::models {

// The k largest along the last axis, in order; equal ones by their places, NaN first. It is topk(x, k), but long lines
// are sorted in pieces, of which only the k largest go on: pieces fit into the shared memory of a block of a GPU, and
// there are enough of them for all blocks.
ValuesAndIndices likeliest(Tensor x, int64_t k);

// What a draw takes, along the last axis of the input `draws`: a Draws, and its uniform number.
enum class DrawField : uint8_t { temperature, top_k, top_p, min_p, uniform };
constexpr int64_t kDrawFields = 5;

// Outputs for logits f32 [batch, rows, vocabulary], of which `largest` [batch, rows] are the largest: the tokens of the
// k largest, candidates i32 [batch, rows, k]; candidate_logits f32, likewise; weight f32 [batch, rows], the sum of
// e^((logit - largest) / temperature); and the token that a Sampler draws, drawn i32 [batch, rows], a candidate, where
// decided bool [batch, rows] says that the candidates tell which that is. `draws` is f32 [batch, kDrawFields].
void list_candidates(Tensor logits, Tensor largest, Tensor draws, int64_t k);

}  // namespace lumen::models
