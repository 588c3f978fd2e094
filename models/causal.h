// CausalSettings: what a causal language model consists of, whatever its name. An architecture is a function from its
// config.json to these settings; one builder makes the graph of a step from them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/options.h"
#include "nn/attention.h"
#include "nn/mlp.h"
#include "nn/moe.h"

namespace lumen::models {

// A mixture of experts in a layer.
struct MixtureSettings {
  nn::ExpertSettings experts;
  nn::RouteSettings routes;
  std::string scope = {};  // of both, within the layer; empty: the layer itself
  std::string router = "gate";
  bool router_bias = false;
  // Gemma 4: beside the feed-forward block, with norms of its own; the router has a norm and scales.
  bool beside_mlp = false;
};

struct LayerSettings {
  nn::AttentionSettings attention;
  std::optional<nn::MlpSettings> mlp = {};
  std::optional<MixtureSettings> mixture = {};
};

struct CausalNames {
  std::string root = "model";
  std::string embedding = "embed_tokens";
  std::string positions = {};  // of learned positions; empty: none
  std::string layers = "layers";
  std::string attention = "self_attn";
  std::string mlp = "mlp";
  std::string norm = "norm";  // after the last layer
  std::string attention_norm = "input_layernorm";
  std::string mlp_norm = "post_attention_layernorm";
  // Norms of what a block adds to the stream; empty: none.
  std::string after_attention_norm = {};
  std::string after_mlp_norm = {};
  std::string layer_scale = {};  // a parameter [1] that the layer's result is multiplied by; empty: none
};

struct CausalSettings {
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  int64_t max_positions = 0;
  nn::NormSettings norm = {};
  double embedding_scale = 1;  // rounded to the dtype, as the embeddings are
  bool tied = false;           // the head is the embedding
  std::optional<double> final_cap = {};
  CausalNames names = {};
  std::vector<LayerSettings> layers = {};
};

// Inputs: tokens i32 [batch, seq], positions i32 [batch, seq], and page_table i32 [batch, …] when paged; dims seq and
// context; parameters and caches. Outputs: logits f32 [batch, rows, vocabulary], rows being 1 or seq; the likeliest
// token of each row, best i32, and its logit, top f32 [batch, rows]. With candidates, those of list_candidates
// (candidates.h) and its input draws f32.
void build_causal(Graph& graph, const CausalSettings& settings, const ModelOptions& options, DType dtype);

}  // namespace lumen::models
