#include "nn/attention.h"

#include <cmath>

#include "lumen/frontend/ops.h"

namespace lumen::nn {

namespace {

// In f32, each head as often in a row as query heads share it.
Tensor shared(Tensor x, Tensor query) {
  const Tensor wide = cast(x, f32);
  const Expr times = query.dim(1) / x.dim(1);
  return times == Expr(1) ? wide : repeat_interleave(wide, times, 1);
}

}  // namespace

Tensor attend(Tensor query, Tensor key, Tensor value, const AttendOptions& options) {
  Tensor scores = matmul(cast(query, f32), transpose(shared(key, query))) * options.scale;
  if (options.soft_cap) scores = tanh(scores / *options.soft_cap) * *options.soft_cap;
  if (options.visible) scores = where(*options.visible, scores, -INFINITY);
  const Tensor top = max(scores, {-1}, true);
  const Tensor e = exp(scores - top);
  Tensor total = sum(e, {-1}, true);
  // A sink far above the scores makes this infinite and the weights 0, which is right.
  if (options.sinks) total += exp(reshape(cast(*options.sinks, f32), {1, query.dim(1), 1, 1}) - top);
  return cast(matmul(e * reciprocal(total), shared(value, query)), query.dtype());
}

Tensor visible_keys(Tensor positions, Expr context, std::optional<int64_t> window) {
  const Tensor at = unsqueeze(unsqueeze(positions, 1), -1);  // [batch, 1, seq, 1]
  const Tensor key = iota(*positions.graph, {1, 1, 1, context}, Expr::index(3, context), positions.dtype());
  const Tensor past = le(key, at);
  return window ? logical_and(past, gt(key + *window, at)) : past;
}

Attention::Attention(const Scope& scope, const AttentionSettings& s)
    : settings_(s),
      output_(scope / s.names.output,
              {.in = s.heads * s.head_dim, .out = s.hidden, .bias = s.output_bias, .order = s.order}) {
  const auto projection = [&](const std::string& name, int64_t heads) {
    return Linear(scope / name, {.in = s.hidden, .out = heads * s.head_dim, .bias = s.qkv_bias, .order = s.order});
  };
  if (!s.names.fused.empty()) {
    fused_ = projection(s.names.fused, s.heads + 2 * s.kv_heads);
  } else {
    query_ = projection(s.names.query, s.heads);
    key_ = projection(s.names.key, s.kv_heads);
    if (!s.keys_are_values) value_ = projection(s.names.value, s.kv_heads);
  }
  if (s.qk_norm) {
    query_norm_.emplace(scope / "q_norm", s.head_dim, *s.qk_norm);
    key_norm_.emplace(scope / "k_norm", s.head_dim, *s.qk_norm);
  }
  if (s.value_norm) value_norm_.emplace(scope / "v_norm", s.head_dim, *s.value_norm);
  if (s.sinks) sinks_ = scope.parameter("sinks", {s.heads});
}

Tensor Attention::split(Tensor x, int64_t heads) const {
  return transpose(reshape(x, {x.dim(0), x.dim(1), heads, settings_.head_dim}), 1, 2);
}

Tensor Attention::merge(Tensor x) const {
  return output_(reshape(transpose(x, 1, 2), {x.dim(0), x.dim(2), settings_.heads * settings_.head_dim}));
}

Attention::Heads Attention::project(Tensor x) const {
  const int64_t queries = settings_.heads * settings_.head_dim, keys = settings_.kv_heads * settings_.head_dim;
  Heads flat;
  if (fused_) {
    const Tensor all = (*fused_)(x);
    flat = {narrow(all, -1, 0, queries), narrow(all, -1, queries, keys), narrow(all, -1, queries + keys, keys)};
  } else {
    const Tensor key = (*key_)(x);
    flat = {(*query_)(x), key, value_ ? (*value_)(x) : key};
  }
  Heads heads{split(flat.query, settings_.heads), split(flat.key, settings_.kv_heads),
              split(flat.value, settings_.kv_heads)};
  if (query_norm_) heads.query = (*query_norm_)(heads.query);
  if (key_norm_) heads.key = (*key_norm_)(heads.key);
  if (value_norm_) heads.value = (*value_norm_)(heads.value);
  return heads;
}

Tensor Attention::operator()(Tensor x, const KvCache& cache, const CacheStep& step) const {
  Heads heads = project(x);
  if (settings_.rope) {
    const Rope rope(*settings_.rope, step.positions);
    heads.query = rope(heads.query);
    heads.key = rope(heads.key);
  }
  const KvCache::Entries all = cache.update(heads.key, heads.value, step);
  const Tensor visible = visible_keys(step.positions, step.context, settings_.window);
  return merge(attend(heads.query, all.keys, all.values, {settings_.scale, visible, settings_.soft_cap, sinks_}));
}

Tensor Attention::operator()(Tensor x, Tensor visible) const {
  const Heads heads = project(x);
  return merge(attend(heads.query, heads.key, heads.value, {settings_.scale, visible, settings_.soft_cap, sinks_}));
}

}  // namespace lumen::nn
