// Attention of many heads, over a KvCache or over the tokens given.
#pragma once

#include <optional>
#include <string>

#include "nn/kv_cache.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/rope.h"

namespace lumen::nn {

struct AttendOptions {
  double scale = 1;
  std::optional<Tensor> visible = {};   // bool, broadcasts to the scores: what may be attended to; one key at least
  std::optional<double> soft_cap = {};  // scores are cap * tanh(score / cap)
  std::optional<Tensor> sinks = {};     // [heads]: a score of each head whose value is 0
};

// query [batch, heads, seq, d], key and value [batch, kv_heads, context, d]: groups of query heads share one of these.
// Computed in f32; the result has the query's dtype.
Tensor attend(Tensor query, Tensor key, Tensor value, const AttendOptions& options);

// bool [batch, 1, seq, context]: key k is seen from position p when k <= p, and p - k < window where there is one.
Tensor visible_keys(Tensor positions, Expr context, std::optional<int64_t> window);

struct AttentionNames {
  std::string query = "q_proj", key = "k_proj", value = "v_proj", output = "o_proj";
  std::string fused = {};  // one projection to queries, keys and values; empty: three
};

struct AttentionSettings {
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  double scale = 1;
  bool qkv_bias = false;
  bool output_bias = false;
  WeightOrder order = WeightOrder::out_in;
  AttentionNames names = {};
  std::optional<NormSettings> qk_norm = {};     // of each head, before rope: q_norm and k_norm
  std::optional<NormSettings> value_norm = {};  // of each head
  bool keys_are_values = false;                 // one projection serves both, before their norms
  std::optional<RopeSettings> rope = {};
  std::optional<int64_t> window = {};
  std::optional<double> soft_cap = {};
  bool sinks = false;  // parameter: sinks [heads]
};

class Attention {
 public:
  Attention(const Scope& scope, const AttentionSettings& settings);

  // x [batch, seq, hidden]. Tokens are written to the cache and see what is there up to their positions.
  Tensor operator()(Tensor x, const KvCache& cache, const CacheStep& step) const;
  // Tokens see all of each other that `visible` allows (bool, broadcasts to [batch, heads, seq, seq]).
  Tensor operator()(Tensor x, Tensor visible) const;

 private:
  struct Heads {
    Tensor query, key, value;
  };
  Heads project(Tensor x) const;
  Tensor split(Tensor x, int64_t heads) const;  // [batch, heads, seq, head_dim]
  Tensor merge(Tensor x) const;                 // and back, through the output projection

  AttentionSettings settings_;
  std::optional<Linear> fused_, query_, key_, value_;
  Linear output_;
  std::optional<Norm> query_norm_, key_norm_, value_norm_;
  std::optional<Tensor> sinks_;
};

}  // namespace lumen::nn
