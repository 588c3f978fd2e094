#include "lumen/compile.h"

#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/base/flags.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/verify.h"
#include "lumen/search/lower.h"

namespace lumen {

namespace {

Expected<std::unique_ptr<Executable>> compile_for_cpu(const std::shared_ptr<const Graph>& graph,
                                                      const CompileOptions& options) {
  const cpu::Compiler compiler = LUMEN_TRY(cpu::Compiler::find());
  Program program = LUMEN_TRY(search::lower(graph, options.fusion, {}));
  return cpu::make_executable(std::move(program), compiler);
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
  verify(graph, hlir_stage()).value();
  const std::shared_ptr<const Graph> own = clone(graph);
  if (options.backend == BackendKind::reference) return Session(own);
  return Session(own, compile_for_cpu(own, options).value());
}

}  // namespace lumen
