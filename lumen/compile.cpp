#include "lumen/compile.h"

#include <fmt/format.h>

#include <optional>

#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/base/flags.h"
#include "lumen/base/log.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/verify.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"

namespace lumen {

namespace {

using Graphs = std::vector<std::shared_ptr<const Graph>>;

// The cheapest program that the rules find.
Expected<std::shared_ptr<const Graph>> choose_program(const std::shared_ptr<const Graph>& graph,
                                                      const CompileOptions& options) {
  if (!options.rewrite) return graph;
  const Rewritten rewritten = LUMEN_TRY(rewrite(*graph));
  LUMEN_LOG(2, rewritten.report.text());
  return std::shared_ptr<const Graph>(rewritten.candidates[0].graph);
}

Expected<std::vector<cpu::Binary>> compile_for_cpu(const Graphs& graphs, const CompileOptions& options) {
  const cpu::Compiler compiler = LUMEN_TRY(cpu::Compiler::find());
  std::optional<search::TuningDb> db;
  if (options.measure) db = LUMEN_TRY(search::TuningDb::open_default());
  std::vector<Program> programs;
  for (const std::shared_ptr<const Graph>& graph : graphs) {
    const std::shared_ptr<const Graph> chosen = LUMEN_TRY(choose_program(graph, options));
    search::TuneOptions tuning{typical_dims(*graph), options.measure, db ? &*db : nullptr, options.c_flags};
    search::Tuner tuner(compiler, cpu::shared_pool(), std::move(tuning));
    search::Lowered lowered = LUMEN_TRY(search::lower(chosen, options.fusion, tuner));
    LUMEN_LOG(1, fmt::format("compile: {} kernels in {} calls, {:.1f} us, {} measured", lowered.program.kernels.size(),
                             lowered.program.calls.size(), lowered.seconds * 1e6, tuner.measured()));
    programs.push_back(std::move(lowered.program));
  }
  return cpu::build(std::move(programs), compiler, options.c_flags);
}

}  // namespace

CompileOptions CompileOptions::from_flags() {
  CompileOptions options;
  if (flags().backend == "reference") options.backend = BackendKind::reference;
  if (flags().fusion == "never") options.fusion = FusionPolicy::never;
  if (flags().fusion == "always") options.fusion = FusionPolicy::always;
  return options;
}

Session compile(const Graph& graph, const CompileOptions& options) {
  const Graph* const graphs[] = {&graph};
  return std::move(compile_all(graphs, options)[0]);
}

std::vector<Session> compile_all(std::span<const Graph* const> graphs, const CompileOptions& options) {
  Graphs own;
  for (const Graph* graph : graphs) {
    verify(*graph, hlir_stage()).value();
    own.push_back(clone(*graph));
  }
  std::vector<Session> sessions;
  if (options.backend == BackendKind::reference) {
    for (const auto& graph : own) sessions.emplace_back(graph);
    return sessions;
  }
  std::vector<cpu::Binary> binaries = compile_for_cpu(own, options).value();
  for (size_t k = 0; k < own.size(); ++k) {
    sessions.emplace_back(own[k], cpu::make_executable(std::move(binaries[k])).value());
  }
  return sessions;
}

}  // namespace lumen
