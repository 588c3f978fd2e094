#include "lumen/compile.h"

#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/backend/cpu/target.h"
#include "lumen/base/flags.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/verify.h"
#include "lumen/search/lower.h"

namespace lumen {

namespace {

using Graphs = std::vector<std::shared_ptr<const Graph>>;

Expected<std::vector<std::unique_ptr<Executable>>> compile_for_cpu(const Graphs& graphs,
                                                                   const CompileOptions& options) {
  const cpu::Compiler compiler = LUMEN_TRY(cpu::Compiler::find());
  std::vector<Program> programs;
  for (const std::shared_ptr<const Graph>& graph : graphs) {
    programs.push_back(LUMEN_TRY(search::lower(graph, options.fusion, cpu::target_of(compiler.target()))));
  }
  return cpu::make_executables(std::move(programs), compiler, options.c_flags);
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
  std::vector<std::unique_ptr<Executable>> executables = compile_for_cpu(own, options).value();
  for (size_t k = 0; k < own.size(); ++k) sessions.emplace_back(own[k], std::move(executables[k]));
  return sessions;
}

}  // namespace lumen
