#include "models/bert.h"

#include <fmt/format.h>

#include <cmath>

#include "lumen/frontend/ops.h"
#include "models/shared_keys.h"
#include "nn/conv.h"

namespace lumen::models {

namespace {

using nn::Norm;
using nn::Scope;

Tensor embed(const Scope& scope, const BertSettings& s, Tensor tokens) {
  const Expr seq = tokens.dim(1);
  const nn::Embedding words(scope / "word_embeddings", s.vocabulary, s.hidden);
  const nn::Embedding positions(scope / "position_embeddings", s.max_positions, s.hidden);
  const nn::Embedding types(scope / "token_type_embeddings", s.token_types, s.hidden);
  const Tensor sum = words(tokens) + narrow(types.weight, 0, 0, 1) + narrow(positions.weight, 0, 0, seq);
  return Norm(scope / "LayerNorm", s.hidden, s.norm)(sum);
}

Tensor layer(const Scope& scope, const BertSettings& s, Tensor x, Tensor visible) {
  const Scope attention = scope / "attention";
  x = Norm(attention / "output" / "LayerNorm", s.hidden, s.norm)(x + nn::Attention(attention, s.attention)(x, visible));
  return Norm(scope / "output" / "LayerNorm", s.hidden, s.norm)(x + nn::Mlp(scope, s.mlp)(x));
}

}  // namespace

Expected<BertSettings> read_bert(const Config& config) {
  BertSettings s;
  s.vocabulary = LUMEN_TRY(config.token_count("vocab_size"));
  s.hidden = LUMEN_TRY(config.size("hidden_size"));
  s.max_positions = LUMEN_TRY(config.token_count("max_position_embeddings"));
  s.token_types = LUMEN_TRY(config.size("type_vocab_size", 2));
  s.layers = LUMEN_TRY(config.layer_count("num_hidden_layers"));
  s.norm = {nn::NormKind::layer, LUMEN_TRY(config.number("layer_norm_eps", 1e-12))};
  if (const std::string kind = LUMEN_TRY(config.string("position_embedding_type", "absolute")); kind != "absolute") {
    return config.problem("position_embedding_type", fmt::format("is \"{}\"; supported is absolute", kind));
  }
  nn::AttentionSettings& a = s.attention;
  a.hidden = s.hidden;
  a.heads = a.kv_heads = LUMEN_TRY(config.size("num_attention_heads"));
  if (s.hidden % a.heads != 0) {
    return config.problem("hidden_size", fmt::format("{} is no multiple of num_attention_heads {}", s.hidden, a.heads));
  }
  a.head_dim = s.hidden / a.heads;
  a.scale = 1 / std::sqrt(static_cast<double>(a.head_dim));
  a.qkv_bias = a.output_bias = true;
  a.names = {"self.query", "self.key", "self.value", "output.dense", ""};
  s.mlp = {.hidden = s.hidden, .inner = LUMEN_TRY(config.size("intermediate_size")), .gated = false, .bias = true};
  s.mlp.activation = LUMEN_TRY(read_activation(config, "hidden_act", "gelu"));
  s.mlp.names.up = "intermediate.dense";
  s.mlp.names.down = "output.dense";
  return s;
}

void build_bert(Graph& graph, const BertSettings& s, const ModelOptions& options, DType dtype) {
  const Expr seq = graph.dim("seq", 1, std::min(options.max_step, s.max_positions));
  const Tensor tokens = graph.input("tokens", {options.batch, seq}, i32);
  const Tensor mask = graph.input("mask", {options.batch, seq}, i32);
  const Scope top(graph, dtype);
  const Tensor visible = ne(reshape(mask, {options.batch, 1, 1, seq}), 0);
  Tensor x = embed(top / "embeddings", s, tokens);
  for (int64_t k = 0; k < s.layers; ++k) x = layer(top / "encoder" / "layer" / k, s, x, visible);
  x.output("hidden");
  normalize(nn::mean_pool(cast(x, f32), mask), 2.0, 1).output("embedding");
}

}  // namespace lumen::models
