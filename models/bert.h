// BERT as an encoder of texts: sentence-transformers' mean pooling and normalisation over BertModel.
#pragma once

#include "lumen/base/expected.h"
#include "models/config.h"
#include "models/options.h"
#include "nn/attention.h"
#include "nn/mlp.h"

namespace lumen::models {

struct BertSettings {
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  int64_t max_positions = 0;
  int64_t token_types = 0;
  int64_t layers = 0;
  nn::NormSettings norm = {};
  nn::AttentionSettings attention = {};
  nn::MlpSettings mlp = {};
};

Expected<BertSettings> read_bert(const Config& config);

// Inputs: tokens i32 [batch, seq] and mask i32 [batch, seq], 1 for tokens and 0 for padding after them; dim seq;
// parameters. Outputs: hidden [batch, seq, hidden] of the model's dtype, and embedding f32 [batch, hidden]: the mean
// over the tokens, of length 1. Every token is of type 0.
void build_bert(Graph& graph, const BertSettings& settings, const ModelOptions& options, DType dtype);

}  // namespace lumen::models
