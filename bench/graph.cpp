// What the core costs on a real graph: a 32-layer Llama-3-8B with symbolic sequence length and KV caches as state.
//
//   build/release/bench_graph
//
// Targets on one core: build <= 20 ms and <= 20 MB, print and parse <= 50 ms each, Expr >= 1 M operations/s.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "lumen/hlir/ops.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/text.h"
#include "lumen/lumen.h"

namespace {

using namespace lumen;

struct Config {
  int64_t layers = 32;
  int64_t hidden = 4096;
  int64_t heads = 32;
  int64_t kv_heads = 8;
  int64_t ffn = 14336;
  int64_t vocab = 128256;
  int64_t context = 8192;
  int64_t head_dim() const { return hidden / heads; }
};

class Llama {
 public:
  Llama(Graph& g, const Config& c) : g_(g), c_(c), seq_(g.dim("seq", 1, c.context)) {}

  void build() {
    const Tensor tokens = g_.input("tokens", {seq_}, i64);
    positions_ = g_.input("positions", {seq_}, i64);
    Tensor x = embedding(tokens, weight("model.embed_tokens.weight", {c_.vocab, c_.hidden}));
    for (int64_t k = 0; k < c_.layers; ++k) x = layer(x, fmt::format("model.layers.{}.", k));
    x = rms_norm(x, weight("model.norm.weight", {c_.hidden}), 1e-5);
    linear(select(x, 0, -1), weight("lm_head.weight", {c_.vocab, c_.hidden})).output("logits");
  }

 private:
  Tensor weight(const std::string& name, Shape shape) { return g_.input(name, shape, bf16, InputKind::weight); }

  // [seq, heads*d] -> [heads, seq, d]
  Tensor split_heads(Tensor x, int64_t heads) { return permute(reshape(x, {seq_, heads, c_.head_dim()}), {1, 0, 2}); }

  // Writes the new rows at their positions and gives the whole cache.
  Tensor cached(Tensor rows, const std::string& name) {
    const Tensor cache = g_.input(name, {c_.kv_heads, c_.context, c_.head_dim()}, bf16, InputKind::state);
    return index_copy(cache, 1, positions_, rows).output(name, cache);
  }

  Tensor attention(Tensor x, const std::string& name) {
    const int64_t kv = c_.kv_heads * c_.head_dim();
    const Tensor q = split_heads(linear(x, weight(name + "q_proj.weight", {c_.hidden, c_.hidden})), c_.heads);
    const Tensor k = split_heads(linear(x, weight(name + "k_proj.weight", {kv, c_.hidden})), c_.kv_heads);
    const Tensor v = split_heads(linear(x, weight(name + "v_proj.weight", {kv, c_.hidden})), c_.kv_heads);
    const Tensor keys = cached(rope(k, positions_, 500000.0), name + "k_cache");
    const Tensor values = cached(v, name + "v_cache");
    const Tensor visible = le(unsqueeze(arange(g_, c_.context), 0), unsqueeze(positions_, 1));
    const Tensor out = scaled_dot_product_attention(rope(q, positions_, 500000.0), keys, values,
                                                    {.mask = visible, .enable_gqa = true});
    return linear(reshape(permute(out, {1, 0, 2}), {seq_, c_.hidden}),
                  weight(name + "o_proj.weight", {c_.hidden, c_.hidden}));
  }

  Tensor layer(Tensor x, const std::string& name) {
    const Tensor h = rms_norm(x, weight(name + "input_layernorm.weight", {c_.hidden}), 1e-5);
    x = x + attention(h, name + "self_attn.");
    const Tensor m = rms_norm(x, weight(name + "post_attention_layernorm.weight", {c_.hidden}), 1e-5);
    const Tensor gate = linear(m, weight(name + "mlp.gate_proj.weight", {c_.ffn, c_.hidden}));
    const Tensor up = linear(m, weight(name + "mlp.up_proj.weight", {c_.ffn, c_.hidden}));
    return x + linear(silu(gate) * up, weight(name + "mlp.down_proj.weight", {c_.hidden, c_.ffn}));
  }

  Graph& g_;
  Config c_;
  Expr seq_;
  Tensor positions_;
};

void build_graph(Graph& g) { Llama(g, Config{}).build(); }

void build(benchmark::State& state) {
  size_t bytes = 0;
  size_t nodes = 0;
  for (auto _ : state) {
    Graph g;
    build_graph(g);
    bytes = g.bytes();
    nodes = g.size();
  }
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(build)->Unit(benchmark::kMillisecond);

void print(benchmark::State& state) {
  Graph g;
  build_graph(g);
  size_t bytes = 0;
  for (auto _ : state) bytes = lumen::print(g).size();
  state.counters["text_MB"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(print)->Unit(benchmark::kMillisecond);

void parse(benchmark::State& state) {
  Graph g;
  build_graph(g);
  const std::string text = lumen::print(g);
  for (auto _ : state) benchmark::DoNotOptimize(lumen::parse(text, hlir_ops()).value());
}
BENCHMARK(parse)->Unit(benchmark::kMillisecond);

// Operations: every +, *, / and comparison that building an expression from its variables takes.
struct Workload {
  std::vector<Expr> exprs;
  int64_t operations = 0;
};

int64_t count_operations(Expr e);

Workload expressions() {
  Graph g;
  build_graph(g);
  Workload w;
  for (const NodeId id : g.order()) {
    if (!g[id].is<hlir::View>()) continue;
    const lumen::View v = g[id].as<hlir::View>().view;
    for (const Expr e : {v.index(), v.guard()}) {
      w.exprs.push_back(e);
      w.operations += count_operations(e);
    }
  }
  return w;
}

int64_t count_operations(Expr e) {
  // The operators of the text are the operations of the expression.
  const std::string text = e.str();
  return 1 + std::count_if(text.begin(), text.end(),
                           [](char c) { return std::string_view("+-*/%<>=").find(c) != std::string_view::npos; });
}

// As every view of the graph is met again: results are remembered.
void expr_warm(benchmark::State& state) {
  const Workload w = expressions();
  for (auto _ : state) {
    for (const Expr e : w.exprs) benchmark::DoNotOptimize(renormalise(e));
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * w.operations);
}
BENCHMARK(expr_warm);

// As for a graph never seen: each round has a sequence length of its own, so nothing is remembered.
void expr_cold(benchmark::State& state) {
  const Workload w = expressions();
  const Expr seq = Expr::dim("seq", 1, Config{}.context);
  int64_t round = 0;
  for (auto _ : state) {
    const std::pair<Expr, Expr> fresh[] = {{seq, Expr::dim(fmt::format("seq{}", round++), 1, Config{}.context)}};
    for (const Expr e : w.exprs) benchmark::DoNotOptimize(substitute(e, fresh));
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * w.operations);
}
BENCHMARK(expr_cold)->Iterations(50);

// Interned expressions, shapes and views belong to the process, not to the graph.
long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

int main(int argc, char** argv) {
  const long before = peak_kilobytes();
  const auto start = std::chrono::steady_clock::now();
  Graph g;
  build_graph(g);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print(
      "first build in this process: {:.2f} ms, {} nodes, {:.2f} MB in the graph, {:.2f} MB more in the process\n",
      elapsed.count(), g.size(), static_cast<double>(g.bytes()) / 1e6,
      static_cast<double>(peak_kilobytes() - before) / 1e3);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
