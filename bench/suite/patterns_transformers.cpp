#include <fmt/format.h>

#include "bench/suite/patterns.h"
#include "lumen/frontend/ops.h"

namespace lumen::bench {

namespace {

struct Attention {
  int64_t heads, queries, keys, width;
  bool causal;
};

// Products and sums of the scores that are looked at, and of the values; the softmax is not counted.
double attention_flops(const Attention& a) {
  const double pairs =
      a.causal ? 0.5 * static_cast<double>(a.queries * (a.queries + 1)) : static_cast<double>(a.queries * a.keys);
  return 4.0 * static_cast<double>(a.heads * a.width) * pairs;
}

Case attention_case(const Attention& a, DType dtype) {
  Case c{.group = a.causal ? "attention_causal" : "attention", .dtype = dtype, .unit = Unit::matrix, .fused = true};
  c.size = fmt::format("{}h{}x{}x{}", a.heads, a.queries, a.keys, a.width);
  c.flops = attention_flops(a);
  c.quick = a.queries == 512 && dtype == f32;
  c.parameters = {{"causal", a.causal ? 1 : 0}};
  c.build = [=](Graph& g) {
    const Tensor q = g.input("q", {1, a.heads, a.queries, a.width}, dtype);
    const Tensor k = g.input("k", {1, a.heads, a.keys, a.width}, dtype);
    const Tensor v = g.input("v", {1, a.heads, a.keys, a.width}, dtype);
    scaled_dot_product_attention(q, k, v, {.causal = a.causal}).output("out");
  };
  return c;
}

struct Block {
  int64_t tokens, heads, width, inner;  // width of one head; of the gated layer

  int64_t model() const { return heads * width; }
};

// The second half of each head, negated, before the first.
Tensor rotated(Tensor x, int64_t width) {
  return concat({neg(slice(x, -1, width / 2, width)), slice(x, -1, 0, width / 2)}, -1);
}

// [tokens, model] to [heads, tokens, width].
Tensor heads_of(Tensor x, const Block& b) { return transpose(reshape(x, {b.tokens, b.heads, b.width}), 0, 1); }

void build_block(Graph& g, const Block& b, DType dtype) {
  const int64_t model = b.model();
  const auto weight = [&](const char* name, Shape shape) { return g.input(name, shape, dtype, InputKind::weight); };
  const Tensor x = g.input("x", {b.tokens, model}, dtype);
  const Tensor cos = weight("cos", {b.tokens, b.width});
  const Tensor sin = weight("sin", {b.tokens, b.width});
  const auto turned = [&](Tensor y) { return y * cos + rotated(y, b.width) * sin; };
  const Tensor h = rms_norm(x, weight("norm1", {model}));
  const Tensor q = turned(heads_of(linear(h, weight("wq", {model, model})), b));
  const Tensor k = turned(heads_of(linear(h, weight("wk", {model, model})), b));
  const Tensor v = heads_of(linear(h, weight("wv", {model, model})), b);
  const Tensor mixed = scaled_dot_product_attention(q, k, v, {.causal = true});
  const Tensor joined = reshape(transpose(mixed, 0, 1), {b.tokens, model});
  const Tensor y = x + linear(joined, weight("wo", {model, model}));
  const Tensor n = rms_norm(y, weight("norm2", {model}));
  const Tensor gated = silu(linear(n, weight("gate", {b.inner, model}))) * linear(n, weight("up", {b.inner, model}));
  (y + linear(gated, weight("down", {model, b.inner}))).output("out");
}

Case block_case(const Block& b, DType dtype) {
  Case c{.group = "block", .dtype = dtype, .unit = Unit::matrix, .fused = true};
  const double model = static_cast<double>(b.model()), inner = static_cast<double>(b.inner);
  c.size = fmt::format("{}x{}x{}", b.tokens, b.model(), b.inner);
  c.flops = 2.0 * static_cast<double>(b.tokens) * (4 * model * model + 3 * model * inner) +
            attention_flops({b.heads, b.tokens, b.tokens, b.width, true});
  c.quick = b.tokens == 128 && dtype == f32;
  c.parameters = {{"heads", b.heads}};
  for (const char* name : {"wq", "wk", "wv", "wo", "gate", "up", "down"}) c.ranges.push_back({name, {-0.05, 0.05}});
  c.build = [=](Graph& g) { build_block(g, b, dtype); };
  return c;
}

}  // namespace

void add_transformers(std::vector<Case>& cases) {
  for (const bool causal : {false, true}) {
    for (const int64_t tokens : {128, 512, 1024}) {
      cases.push_back(attention_case({8, tokens, tokens, 64, causal}, f32));
    }
    cases.push_back(attention_case({8, 512, 512, 64, causal}, bf16));
  }
  cases.push_back(attention_case({32, 1, 1024, 128, false}, f32));
  for (const DType dtype : {f32, bf16}) {
    cases.push_back(block_case({128, 8, 64, 1408}, dtype));
    cases.push_back(block_case({1, 8, 64, 1408}, dtype));
  }
}

void add_large_attention(std::vector<Case>& cases) {
  cases.push_back(attention_case({32, 4096, 4096, 128, true}, bf16));
  cases.push_back(attention_case({32, 4096, 4096, 128, false}, bf16));
  cases.push_back(attention_case({32, 1, 32768, 128, false}, bf16));
}

std::vector<Case> large_pattern_cases() {
  std::vector<Case> cases;
  add_large_products(cases);
  add_large_rows(cases);
  add_large_attention(cases);
  return cases;
}

std::vector<Case> pattern_cases() {
  std::vector<Case> cases;
  add_products(cases);
  add_rows(cases);
  add_transformers(cases);
  return cases;
}

}  // namespace lumen::bench
