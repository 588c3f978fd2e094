// What extraction costs, and how good it is.
//
//   build/release/bench_egraph_extract
//
// Targets on one core: tree extraction of 600k nodes <= 0.1 s; DAG extraction without the exact search as good as the
// exact one on >= 95 % of 500 random small graphs.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <numeric>

#include "lumen/egraph/extract/dag.h"
#include "lumen/egraph/extract/k_best.h"
#include "lumen/egraph/extract/tree.h"
#include "tests/egraph/random_graph.h"

namespace {

using namespace lumen::egraph;

RandomGraphOptions large_options() {
  RandomGraphOptions options;
  options.classes = 300'000;
  options.arity = 2;
  return options;
}

// The same graph with its nodes in another order, in which costs take many rounds to settle.
FlatGraph shuffled(const FlatGraph& graph) {
  std::vector<NodeId> order(graph.nodes());
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(1);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  FlatGraph result;
  for (size_t c = 0; c < graph.classes(); ++c) result.add_class();
  for (const NodeId n : order) result.add_node(graph.node_class[n], graph.children_of(n), graph.cost[n]);
  result.finish();
  return result;
}

void tree(benchmark::State& state) {
  FlatGraph graph = random_graph(1, large_options());
  if (state.range(0) == 1) graph = shuffled(graph);
  for (auto _ : state) benchmark::DoNotOptimize(tree_extract(graph));
  state.counters["nodes"] = static_cast<double>(graph.nodes());
}
BENCHMARK(tree)->ArgName("shuffled")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void dag(benchmark::State& state) {
  RandomGraphOptions options;
  options.classes = static_cast<uint32_t>(state.range(0));
  options.leaves = 0.02;
  const FlatGraph graph = random_graph(1, options);
  const ClassId roots[] = {options.classes - 1};
  Selection found;
  for (auto _ : state) found = dag_extract(graph, roots);
  state.counters["cost"] = found.cost;
  state.counters["greedy"] = greedy_dag(graph, roots).cost;
}
BENCHMARK(dag)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void ten_best(benchmark::State& state) {
  RandomGraphOptions options;
  options.classes = 10'000;
  const FlatGraph graph = random_graph(1, options);
  const ClassId roots[] = {options.classes - 1};
  for (auto _ : state) {
    Terms terms;
    benchmark::DoNotOptimize(k_best_terms(graph, roots, 10, terms, numbered_nodes()));
  }
}
BENCHMARK(ten_best)->Unit(benchmark::kMillisecond);

void print_rates() {
  RandomGraphOptions options;
  options.classes = 24;
  options.nodes_per_class = 4;
  DagOptions heuristic;
  heuristic.exact_steps = 0;
  const ClassId roots[] = {options.classes - 1};
  int as_good = 0;
  int greedy_as_good = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const FlatGraph graph = random_graph(seed, options);
    const Cost least = exact_extract(graph, roots).cost;
    as_good += dag_extract(graph, roots, heuristic).cost == least;
    greedy_as_good += greedy_dag(graph, roots).cost == least;
  }
  fmt::print("as good as exact on 500 random graphs: local search {:.1f} %, greedy {:.1f} %\n", as_good / 5.0,
             greedy_as_good / 5.0);
}

}  // namespace

int main(int argc, char** argv) {
  print_rates();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
