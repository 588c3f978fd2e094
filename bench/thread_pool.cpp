// What it costs to hand work to the threads of a ThreadPool: an empty run, warm and after a rest.
//
//   build/release/bench_thread_pool
//
// Target on an idle machine of two cores: 2 to 4 us for a warm run with two threads.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "lumen/base/thread_pool.h"

namespace {

using lumen::ThreadPool;

void empty_run(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    pool.run(pool.threads(), [](int64_t piece, int) { benchmark::DoNotOptimize(piece); });
  }
}
BENCHMARK(empty_run)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->Unit(benchmark::kMicrosecond);

// The threads have gone to sleep: the time includes waking them.
void empty_run_after_rest(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    const auto start = std::chrono::steady_clock::now();
    pool.run(pool.threads(), [](int64_t piece, int) { benchmark::DoNotOptimize(piece); });
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
BENCHMARK(empty_run_after_rest)->Arg(2)->Arg(4)->UseManualTime()->Iterations(500)->Unit(benchmark::kMicrosecond);

// Two calls with a short pause between them, as between the kernels of a program: the threads still wait busily. The
// percentiles tell apart what neighbours blur in the mean: a run with both cores, and one that had to wait for a core.
void empty_run_after_20us(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  std::vector<double> times;
  for (auto _ : state) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (std::chrono::steady_clock::now() < until) continue;
    const auto start = std::chrono::steady_clock::now();
    pool.run(pool.threads(), [](int64_t piece, int) { benchmark::DoNotOptimize(piece); });
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    state.SetIterationTime(times.back());
  }
  std::sort(times.begin(), times.end());
  for (const int percent : {10, 50, 90}) {
    state.counters["p" + std::to_string(percent) + "_us"] =
        times[times.size() * static_cast<size_t>(percent) / 100] * 1e6;
  }
}
BENCHMARK(empty_run_after_20us)->Arg(2)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
