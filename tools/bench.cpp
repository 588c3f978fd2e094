#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <optional>

#include "bench/suite/html.h"
#include "bench/suite/run_suite.h"
#include "bench/suite/serve.h"
#include "bench/suite/table.h"
#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/backend/cpu/work_dir.h"
#include "lumen/search/tuning_entry.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/fusion_choice.h"
#include "tools/trace_file.h"

namespace lumen::tools {

namespace {

using bench::Report;

Expected<Report> run_cases(const BenchOptions& options, const std::vector<bench::Case>& cases,
                           CompileOptions compiling) {
  TraceFile trace(options.trace);
  FusionLog log(options.fusion);
  compiling.trace = trace.trace();
  LUMEN_TRY(log.set(compiling));
  Report report{.suite = options.suite,
                .version = LUMEN_VERSION,
                .date = search::date_text(static_cast<int64_t>(std::time(nullptr))),
                .machine = cpu::cpu().model,
                .hardware = cpu::cpu().fingerprint(),
                .cold = options.cold,
                .limits = {},
                .results = {}};
  if (compiling.backend == BackendKind::cuda) {
    bench::GpuLimits gpu = LUMEN_TRY(bench::measure_gpu(compiling));
    report.machine = report.hardware = gpu.hardware;
    report.limits = gpu.limits;
  } else {
    report.limits = LUMEN_TRY(bench::measure_limits(LUMEN_TRY(cpu::Compiler::find()), *cpu::shared_pool()));
  }
  fmt::print("{}, {}\n{}\n", report.machine, report.date, bench::limits_text(report.limits));
  report.results = bench::run_suite(cases, options.quick ? bench::RunPlan::quick() : bench::RunPlan(), compiling);
  return report;
}

}  // namespace

Expected<int> run_bench(const BenchOptions& options) {
  CompileOptions compiling = CompileOptions::from_flags();
  if (!options.device.empty()) LUMEN_TRY(compiling.set_backend(options.device));
  const bench::CaseChoice choice{options.only, options.dtype, options.quick};
  const auto patterns = compiling.backend == BackendKind::cuda ? bench::large_pattern_cases : bench::pattern_cases;
  const std::vector<bench::Case> cases =
      LUMEN_TRY(bench::choose(options.suite == "micro" ? bench::micro_cases() : patterns(), choice));
  LUMEN_TRY(check_writable(options.json));
  LUMEN_TRY(check_writable(options.html));
  std::optional<Report> before;
  if (!options.compare.empty()) {
    before = LUMEN_TRY(bench::parse_report(LUMEN_TRY(read_text(options.compare)), options.compare));
  }
  const Report report = LUMEN_TRY(run_cases(options, cases, compiling));
  fmt::print("{}", bench::results_table(report));
  if (!options.json.empty()) LUMEN_TRY(write_text(options.json, bench::print_report(report)));
  int status = 0;
  for (const bench::Result& result : report.results) status |= result.problem.empty() ? 0 : 1;
  std::optional<bench::Comparison> comparison;
  if (before) {
    if (before->hardware != report.hardware) fmt::print(stderr, "lumen: {} is of other hardware\n", options.compare);
    comparison = LUMEN_TRY(bench::compare_reports(*before, report));
    fmt::print("\nbeside {} of {}\n{}", options.compare, before->date, bench::comparison_text(*comparison));
    if (comparison->slower() > 0 || !comparison->lost.empty()) status = 1;
  }
  if (!options.html.empty()) {
    LUMEN_TRY(write_text(options.html, bench::html_report(report, comparison ? &*comparison : nullptr)));
  }
  return status;
}

Expected<int> serve_bench() {
  LUMEN_TRY(bench::serve(std::cin, std::cout));
  return 0;
}

}  // namespace lumen::tools
