#include "tests/rules/samples.h"

#include <cmath>

namespace lumen::testing {

namespace {

struct Heads {
  Tensor q, k, v;
};

constexpr int64_t kBatch = 2, kHeads = 4, kQueries = 5, kKeys = 9, kSize = 6;

Heads heads(Graph& graph, int64_t kv_heads = kHeads, DType dtype = f32, Expr keys = kKeys) {
  return {graph.input("q", {kBatch, kHeads, kQueries, kSize}, dtype),
          graph.input("k", {kBatch, kv_heads, keys, kSize}, dtype),
          graph.input("v", {kBatch, kv_heads, keys, kSize + 1}, dtype)};
}

// Matrix product, softmax, matrix product; `adjust` is what happens to the scores in between.
template <class Adjust>
Tensor spelled_out(const Heads& h, Adjust adjust) {
  const Tensor scores = matmul(h.q, transpose(h.k)) / std::sqrt(static_cast<double>(kSize));
  return matmul(softmax(adjust(scores), -1), h.v);
}

Tensor repeated(Tensor x) { return repeat_interleave(x, 2, 1); }

// The same by a broadcast of a new dim.
Tensor broadcast_heads(Tensor x) {
  const Shape s = x.shape();
  const Tensor wide = expand(unsqueeze(x, 2), {s[0], s[1], 2, s[2], s[3]});
  return reshape(wide, {s[0], s[1] * 2, s[2], s[3]});
}

using Write = std::function<Tensor(Graph&)>;

Sample sample(std::string name, const Write& write, DimValues dims = {}) {
  auto graph = std::make_shared<Graph>();
  write(*graph).output("y");
  return {std::move(name), graph, std::move(dims)};
}

}  // namespace

std::vector<Sample> attention_samples() {
  std::vector<Sample> all;
  const auto add = [&](std::string name, const Write& write, DimValues dims = {}) {
    all.push_back(sample(std::move(name), write, std::move(dims)));
  };
  const auto plain = [](Tensor scores) { return scores; };
  const auto sdpa = [](const Heads& h, const AttentionOptions& options) {
    return scaled_dot_product_attention(h.q, h.k, h.v, options);
  };
  add("the function", [&](Graph& g) { return sdpa(heads(g), {}); });
  add("the function, causal", [&](Graph& g) { return sdpa(heads(g), {.causal = true}); });
  add("the function, added mask", [&](Graph& g) {
    return sdpa(heads(g), {.mask = Operand(g.input("mask", {kQueries, kKeys}))});
  });
  add("the function, bool mask", [&](Graph& g) {
    return sdpa(heads(g), {.mask = Operand(g.input("mask", {kBatch, 1, kQueries, kKeys}, bool_))});
  });
  add("the function, shared heads", [&](Graph& g) { return sdpa(heads(g, 2), {.enable_gqa = true}); });
  add("the function, bf16", [&](Graph& g) { return sdpa(heads(g, kHeads, bf16), {.causal = true}); });
  add("the function, any number of keys",
      [&](Graph& g) { return sdpa(heads(g, kHeads, f32, g.dim("n", 1, 4096)), {}); }, {{"n", 3}});
  add("by hand", [&](Graph& g) { return spelled_out(heads(g), plain); });
  add("by hand, added mask", [&](Graph& g) {
    const Tensor mask = g.input("mask", {kQueries, kKeys});
    return spelled_out(heads(g), [&](Tensor s) { return s + mask; });
  });
  add("by hand, mask by where", [&](Graph& g) {
    const Tensor mask = g.input("mask", {kQueries, kKeys}, bool_);
    return spelled_out(heads(g), [&](Tensor s) { return where(mask, s, -1e30); });
  });
  add("by hand, soft cap",
      [&](Graph& g) { return spelled_out(heads(g), [&](Tensor s) { return tanh(s / 30.0) * 30.0; }); });
  add("by hand, division at the end of softmax", [&](Graph& g) {
    const Heads h = heads(g);
    const Tensor s = matmul(h.q, transpose(h.k)) * 0.4;
    const Tensor e = exp(s - max(s, {-1}, true));
    return matmul(e / sum(e, {-1}, true), h.v);
  });
  add("by hand, heads repeated", [&](Graph& g) {
    const Heads h = heads(g, 2);
    return spelled_out({h.q, repeated(h.k), repeated(h.v)}, plain);
  });
  add("by hand, heads broadcast", [&](Graph& g) {
    const Heads h = heads(g, 2);
    return spelled_out({h.q, broadcast_heads(h.k), broadcast_heads(h.v)}, plain);
  });
  add("by einsum", [&](Graph& g) {
    const Heads h = heads(g);
    const Tensor s = einsum("bhqd,bhkd->bhqk", {h.q, h.k}) * 0.4;
    return einsum("bhqk,bhkd->bqhd", {softmax(s, -1), h.v});
  });
  return all;
}

namespace {

struct Block {
  Graph& g;
  const BlockSize& size;
  DType dtype;
  Expr seq;
  std::string prefix;

  Tensor weight(const char* name, int64_t out, int64_t in) const {
    return g.input(prefix + name, {out, in}, dtype, InputKind::weight);
  }
  Tensor norm(const char* name) const {
    return g.input(prefix + name, {size.heads * size.head}, dtype, InputKind::weight);
  }
  Tensor split(Tensor x, int64_t heads) const { return transpose(reshape(x, {1, seq, heads, size.head}), 1, 2); }

  Tensor operator()(Tensor x, Tensor positions) const {
    const int64_t width = size.heads * size.head;
    const int64_t kv_width = size.kv_heads * size.head;
    const Tensor h = rms_norm(x, norm("attention_norm"));
    const Tensor q = rope(split(linear(h, weight("wq", width, width)), size.heads), positions);
    const Tensor k = rope(split(linear(h, weight("wk", kv_width, width)), size.kv_heads), positions);
    const Tensor v = split(linear(h, weight("wv", kv_width, width)), size.kv_heads);
    const Tensor attended = scaled_dot_product_attention(q, k, v, {.causal = true, .enable_gqa = true});
    const Tensor merged = reshape(transpose(attended, 1, 2), {1, seq, width});
    const Tensor y = x + linear(merged, weight("wo", width, width));
    const Tensor n = rms_norm(y, norm("mlp_norm"));
    const Tensor gate = silu(linear(n, weight("gate", size.hidden, width)));
    const Tensor up = linear(n, weight("up", size.hidden, width));
    return y + linear(gate * up, weight("down", width, size.hidden));
  }
};

}  // namespace

Sample transformer_block(const BlockSize& size, DType dtype) {
  auto graph = std::make_shared<Graph>();
  const Expr seq = size.max_seq > 1 ? graph->dim("seq", 1, size.max_seq) : Expr(size.seq);
  const Tensor positions = graph->input("positions", {seq}, i64);
  Tensor x = graph->input("x", {1, seq, size.heads * size.head}, dtype);
  for (int64_t k = 0; k < size.layers; ++k) {
    x = Block{*graph, size, dtype, seq, std::to_string(k) + "."}(x, positions);
  }
  x.output("y");
  DimValues dims;
  if (size.max_seq > 1) dims.set("seq", size.seq);
  return {"transformer block", graph, dims};
}

}  // namespace lumen::testing
