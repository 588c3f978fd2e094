// What one execute costs beside its kernels: chains of tiny kernels, one thread.
#include <benchmark/benchmark.h>

#include "lumen/lumen.h"

namespace {

using namespace lumen;

void execute(benchmark::State& state) {
  Graph graph;
  Tensor x = graph.input("x", {4});
  for (int64_t k = 0; k < state.range(0); ++k) x = exp2(x);
  x.output("y");
  CompileOptions options;
  options.fusion = FusionPolicy::never;
  options.rewrite = options.measure = options.verify = false;
  Session session = compile(graph, options);
  session.set("x", {1, 2, 3, 4});
  for (auto _ : state) session.execute();
  state.counters["kernels"] = static_cast<double>(state.range(0));
}
BENCHMARK(execute)->Arg(1)->Arg(20)->Arg(200);

}  // namespace

BENCHMARK_MAIN();
