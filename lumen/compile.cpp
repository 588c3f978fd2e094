#include "lumen/compile.h"

#include <fmt/format.h>

#include <chrono>

#include "lumen/base/flags.h"
#include "lumen/base/log.h"
#include "lumen/base/progress.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/verify.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/verify.h"

namespace lumen {

namespace {

using GraphPtr = std::shared_ptr<const Graph>;
using Clock = std::chrono::steady_clock;

// Seconds since the last call.
class StageClock {
 public:
  double lap() {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  Clock::time_point last_ = Clock::now();
};

// The stages of compilation for one machine, from a graph to a program of kernels.
class CpuCompilation {
 public:
  static Expected<CpuCompilation> start(const CompileOptions& options) {
    CpuCompilation result(LUMEN_TRY(cpu::Compiler::find()), options);
    if (options.measure) result.db_ = LUMEN_TRY(search::TuningDb::open_default());
    return result;
  }

  const cpu::Compiler& compiler() const { return compiler_; }

  // Equivalent graphs, the most promising first.
  Expected<std::vector<GraphPtr>> rewritten(const GraphPtr& graph, CompileReport& report) const {
    if (!options_.rewrite) return std::vector{graph};
    RewriteOptions rewriting;
    rewriting.dims = typical_dims(*graph);
    // Times decide between several; without them the first is as good as any.
    if (!options_.measure || options_.fusion != FusionPolicy::profile) rewriting.candidates = 1;
    Rewritten found = LUMEN_TRY(rewrite(*graph, rewriting));
    report.rules = std::move(found.report);
    std::vector<GraphPtr> graphs;
    for (const Candidate& candidate : found.candidates) graphs.push_back(candidate.graph);
    return graphs;
  }

  // The fastest of the graphs, as a program.
  Expected<Program> lowered(std::span<const GraphPtr> graphs, CompileReport& report) {
    search::TuneOptions tuning{typical_dims(*graphs[0]), options_.measure, db_ ? &*db_ : nullptr, options_.c_flags};
    search::Tuner tuner(compiler_, cpu::shared_pool(), std::move(tuning));
    std::optional<search::Lowered> best;
    for (const GraphPtr& graph : graphs) {
      search::Lowered one = LUMEN_TRY(search::lower(graph, options_.fusion, tuner));
      ++report.candidates;
      if (!best || one.seconds < best->seconds) best = std::move(one);
    }
    report.measured = tuner.measured();
    report.expected = best->seconds;
    return std::move(best->program);
  }

 private:
  CpuCompilation(cpu::Compiler compiler, CompileOptions options)
      : compiler_(std::move(compiler)), options_(std::move(options)) {}

  cpu::Compiler compiler_;
  CompileOptions options_;
  std::optional<search::TuningDb> db_;
};

void add(CompileReport& all, CompileReport one) {
  all.rules = std::move(one.rules);
  all.candidates += one.candidates;
  all.measured += one.measured;
  all.expected = one.expected;
  all.rewriting += one.rewriting;
  all.lowering += one.lowering;
  all.building += one.building;
  all.verifying += one.verifying;
}

Expected<cpu::Binary> compile_one(const GraphPtr& graph, const CompileOptions& options, CompileReport& all) {
  CpuCompilation compilation = LUMEN_TRY(CpuCompilation::start(options));
  std::optional<Progress> progress;
  if (options.progress) progress.emplace("rewrite");
  const auto enter = [&](const char* stage) {
    if (progress) progress->set_stage(stage);
  };
  CompileReport report;
  StageClock clock;
  const std::vector<GraphPtr> candidates = LUMEN_TRY(compilation.rewritten(graph, report));
  report.rewriting = clock.lap();
  enter("group and tune");
  std::vector<Program> programs;
  programs.push_back(LUMEN_TRY(compilation.lowered(candidates, report)));
  report.lowering = clock.lap();
  enter("build");
  std::vector<cpu::Binary> built = LUMEN_TRY(cpu::build(std::move(programs), compilation.compiler(), options.c_flags));
  report.building = clock.lap();
  enter("verify");
  if (options.verify) LUMEN_TRY(search::verify(graph, built[0], compilation.compiler()));
  report.verifying = clock.lap();
  LUMEN_LOG(1, fmt::format("compile: {} kernels in {} calls, {:.1f} us expected, {} measured; rewrite {:.2f} s, lower "
                           "{:.2f} s, build {:.2f} s, verify {:.2f} s",
                           built[0].program.kernels.size(), built[0].program.calls.size(), report.expected * 1e6,
                           report.measured, report.rewriting, report.lowering, report.building, report.verifying));
  LUMEN_LOG(2, report.rules.text());
  add(all, std::move(report));
  return std::move(built[0]);
}

Expected<Compiled> compile_variants(const GraphPtr& graph, const CompileOptions& options) {
  std::vector<std::vector<DimRange>> buckets;
  for (const std::string& text : options.buckets) buckets.push_back(LUMEN_TRY(parse_buckets(text, *graph)));
  Compiled compiled{graph, {}, {}};
  for (const std::vector<DimRange>& where : combinations(buckets)) {
    const GraphPtr part = where.empty() ? graph : GraphPtr(LUMEN_TRY(restricted(*graph, where)));
    compiled.variants.push_back({where, LUMEN_TRY(compile_one(part, options, compiled.report))});
  }
  return compiled;
}

Expected<std::vector<cpu::Binary>> compile_together(std::span<const GraphPtr> graphs, const CompileOptions& options) {
  CpuCompilation compilation = LUMEN_TRY(CpuCompilation::start(options));
  std::vector<Program> programs;
  for (const GraphPtr& graph : graphs) {
    CompileReport report;
    const std::vector<GraphPtr> candidates = LUMEN_TRY(compilation.rewritten(graph, report));
    programs.push_back(LUMEN_TRY(compilation.lowered(candidates, report)));
  }
  return cpu::build(std::move(programs), compilation.compiler(), options.c_flags);
}

GraphPtr checked(const Graph& graph) {
  verify(graph, hlir_stage()).value();
  return clone(graph);
}

}  // namespace

CompileOptions CompileOptions::from_flags() {
  CompileOptions options;
  if (flags().backend == "reference") options.backend = BackendKind::reference;
  if (flags().fusion == "never") options.fusion = FusionPolicy::never;
  if (flags().fusion == "always") options.fusion = FusionPolicy::always;
  return options;
}

Compiled compile_for_cpu(const Graph& graph, const CompileOptions& options) {
  return compile_variants(checked(graph), options).value();
}

Session make_session(Compiled compiled) {
  std::unique_ptr<Executable> executable = make_executable(std::move(compiled.variants), *compiled.graph).value();
  return Session(compiled.graph, std::move(executable));
}

Session compile(const Graph& graph, const CompileOptions& options) {
  if (options.backend == BackendKind::reference) return Session(checked(graph));
  return make_session(compile_for_cpu(graph, options));
}

std::vector<Session> compile_all(std::span<const Graph* const> graphs, const CompileOptions& options) {
  std::vector<GraphPtr> own;
  for (const Graph* graph : graphs) own.push_back(checked(*graph));
  std::vector<Session> sessions;
  if (options.backend == BackendKind::reference) {
    for (const GraphPtr& graph : own) sessions.emplace_back(graph);
    return sessions;
  }
  std::vector<cpu::Binary> binaries = compile_together(own, options).value();
  for (size_t k = 0; k < own.size(); ++k) {
    sessions.emplace_back(own[k], cpu::make_executable(std::move(binaries[k])).value());
  }
  return sessions;
}

}  // namespace lumen
