#include "models/causal.h"

#include <cmath>

#include "lumen/frontend/ops.h"
#include "models/candidates.h"

namespace lumen::models {

namespace {

using nn::Linear;
using nn::Norm;
using nn::NormKind;
using nn::NormSettings;
using nn::Scope;

class CausalBuilder {
 public:
  CausalBuilder(Graph& graph, const CausalSettings& settings, const ModelOptions& options, DType dtype)
      : graph_(graph), settings_(settings), options_(options), top_(graph, dtype, options.storage) {}

  void build() {
    declare_inputs();
    const CausalNames& names = settings_.names;
    const Scope root = top_ / names.root;
    const nn::Embedding embedding(root / names.embedding, settings_.vocabulary, settings_.hidden);
    Tensor x = embed(root, embedding);
    for (size_t k = 0; k < settings_.layers.size(); ++k) {
      x = layer(root / names.layers / static_cast<int64_t>(k), settings_.layers[k], x);
    }
    if (!options_.all_logits) x = narrow(x, 1, x.dim(1) - 1, 1);
    x = Norm(root / names.norm, settings_.hidden, settings_.norm)(x);
    Tensor logits = cast(head(embedding, x), f32);
    if (settings_.final_cap) logits = tanh(logits / *settings_.final_cap) * *settings_.final_cap;
    logits.output("logits");
    cast(argmax(logits, 2), i32).output("best");
    const Tensor top = max(logits, {2}).output("top");
    if (options_.candidates == 0) return;
    list_candidates(logits, top, graph_.input("draws", {options_.batch, kDrawFields}, f32), options_.candidates);
  }

 private:
  void declare_inputs() {
    const Expr seq = graph_.dim("seq", 1, options_.max_step);
    const Expr context = graph_.dim("context", 1, options_.max_context);
    tokens_ = graph_.input("tokens", {options_.batch, seq}, i32);
    step_ = {cast(graph_.input("positions", {options_.batch, seq}, i32), i64), context, {}};
    if (!options_.paging) return;
    const int64_t page = options_.paging->page;
    const int64_t pages = (options_.max_context + page - 1) / page;
    step_->page_table = cast(graph_.input("page_table", {options_.batch, pages}, i32), i64);
  }

  Tensor embed(const Scope& root, const nn::Embedding& embedding) const {
    Tensor x = embedding(tokens_);
    if (settings_.embedding_scale != 1) x = x * Scalar::of(x.dtype(), settings_.embedding_scale).as_double();
    if (settings_.names.positions.empty()) return x;
    return x +
           nn::Embedding(root / settings_.names.positions, settings_.max_positions, settings_.hidden)(step_->positions);
  }

  // The residual stream after a block: with what the block added, or the norm of that.
  Tensor plus(const Scope& scope, const std::string& norm, Tensor x, Tensor added) const {
    if (!norm.empty()) added = Norm(scope / norm, settings_.hidden, settings_.norm)(added);
    return x + added;
  }

  Tensor layer(const Scope& scope, const LayerSettings& layer, Tensor x) const {
    const CausalNames& names = settings_.names;
    const nn::AttentionSettings& a = layer.attention;
    const Scope attention = scope / names.attention;
    const nn::KvCache cache(attention / "cache",
                            {options_.batch, a.kv_heads, a.head_dim, options_.max_context, options_.paging});
    const Tensor seen = Norm(scope / names.attention_norm, settings_.hidden, settings_.norm)(x);
    x = plus(scope, names.after_attention_norm, x, nn::Attention(attention, a)(seen, cache, *step_));
    const Tensor fed = Norm(scope / names.mlp_norm, settings_.hidden, settings_.norm)(x);
    x = plus(scope, names.after_mlp_norm, x, feed_forward(scope, layer, x, fed));
    return names.layer_scale.empty() ? x : x * scope.parameter(names.layer_scale, {1});
  }

  Tensor feed_forward(const Scope& scope, const LayerSettings& layer, Tensor stream, Tensor fed) const {
    if (!layer.mixture) return nn::Mlp(scope / settings_.names.mlp, *layer.mlp)(fed);
    const MixtureSettings& mixture = *layer.mixture;
    if (!mixture.beside_mlp) return route(scope / mixture.scope, mixture, fed);
    const auto norm = [&](const char* name, Tensor x) {
      return Norm(scope / name, settings_.hidden, settings_.norm)(x);
    };
    const Tensor dense = nn::Mlp(scope / settings_.names.mlp, *layer.mlp)(fed);
    const Tensor routed = route_scaled(scope, mixture, stream, norm("pre_feedforward_layernorm_2", stream));
    return norm("post_feedforward_layernorm_1", dense) + norm("post_feedforward_layernorm_2", routed);
  }

  static Tensor flat(Tensor x) { return reshape(x, {x.dim(0) * x.dim(1), x.dim(2)}); }
  static Tensor like(Tensor flat, Tensor x) { return reshape(flat, {x.dim(0), x.dim(1), x.dim(2)}); }

  Tensor route(const Scope& scope, const MixtureSettings& mixture, Tensor x) const {
    const Linear router(scope / mixture.router,
                        {settings_.hidden, mixture.experts.experts, mixture.router_bias, nn::WeightOrder::out_in});
    const Tensor tokens = flat(x);
    const nn::Routes routes = nn::choose_experts(router(tokens), mixture.routes);
    return like(nn::Experts(scope / "experts", mixture.experts)(tokens, routes), x);
  }

  // Gemma 4's: routed by the stream's norm times a scale, and each expert has a scale of its own.
  Tensor route_scaled(const Scope& scope, const MixtureSettings& mixture, Tensor stream, Tensor fed) const {
    const Scope router = scope / mixture.router;
    const NormSettings plain{NormKind::rms_without_weight, settings_.norm.eps};
    const Tensor normed = Norm(router / "norm", settings_.hidden, plain)(flat(stream));
    const Tensor scaled =
        normed * router.parameter("scale", {settings_.hidden}) * (1 / std::sqrt(static_cast<double>(settings_.hidden)));
    const Linear projection(router / "proj", {settings_.hidden, mixture.experts.experts});
    nn::Routes routes = nn::choose_experts(projection(scaled), mixture.routes);
    const Tensor scales = router.parameter("per_expert_scale", {mixture.experts.experts});
    routes.weights = routes.weights * cast(index_select(scales, 0, routes.experts), f32);
    return like(nn::Experts(scope / "experts", mixture.experts)(flat(fed), routes), fed);
  }

  Tensor head(const nn::Embedding& embedding, Tensor x) const {
    if (settings_.tied) return linear(x, embedding.weight);
    return Linear(top_ / "lm_head", {settings_.hidden, settings_.vocabulary})(x);
  }

  Graph& graph_;
  const CausalSettings& settings_;
  const ModelOptions& options_;
  Scope top_;
  Tensor tokens_;
  std::optional<nn::CacheStep> step_;
};

}  // namespace

void build_causal(Graph& graph, const CausalSettings& settings, const ModelOptions& options, DType dtype) {
  CausalBuilder(graph, settings, options, dtype).build();
}

}  // namespace lumen::models
