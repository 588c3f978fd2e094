#include "lumen/compile.h"

#include <fmt/format.h>

#include <cstdio>

#include "bench/suite/profile.h"
#include "lumen/base/clock.h"
#include "lumen/base/statistics.h"
#include "lumen/runtime/program_file.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/fusion_choice.h"
#include "tools/profile_runs.h"
#include "tools/usual_inputs.h"

namespace lumen::tools {

namespace {

constexpr int kRounds = 15;

double time_of(Session& session) {
  const double start = seconds_now();
  session.execute();
  return seconds_now() - start;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

void print_search(const CompileReport& report, const CompileOptions& options) {
  if (options.rewrite) {
    uint64_t matches = 0;
    size_t fired = 0;
    for (const egraph::RuleReport& rule : report.rules.rules) {
      matches += rule.matches;
      fired += rule.matches > 0 ? 1 : 0;
    }
    fmt::print("rewrite  {:6.2f} s  {} rules fired {} times: {} terms in {} classes after {} iterations{}\n",
               report.rewriting, fired, matches, report.rules.rows, report.rules.classes, report.rules.iterations,
               report.rules.limit.empty() ? "" : " (" + report.rules.limit + ")");
  }
  if (report.distinct < report.parts) {
    fmt::print("roll     {:6.2f} s  {} parts, {} of them distinct\n", report.rolling, report.parts, report.distinct);
  }
  fmt::print("tune     {:6.2f} s  {} programs grouped into kernels, {} kernels measured\n", report.lowering,
             report.candidates, report.measured);
  fmt::print("build    {:6.2f} s\n", report.building);
  if (options.verify) fmt::print("verify   {:6.2f} s  computes what the graph says\n", report.verifying);
}

// One line for each kernel, the slowest first: what it is, how it runs, what it takes together.
void print_kernels(Session& session) {
  const std::vector<bench::KernelProfile> kernels = profile_session(session, kRounds).kernels();
  int64_t calls = 0;
  for (const bench::KernelProfile& kernel : kernels) calls += kernel.calls;
  fmt::print("kernels  {}, on random inputs\n", calls);
  for (const bench::KernelProfile& kernel : kernels) {
    fmt::print("  {:>10}  {}  [{}]\n", time_text(kernel.seconds), kernel.name,
               kernel.schedule.empty() ? "interpreted" : kernel.schedule);
  }
}

void compare_with_unfused(const Graph& graph, Session& chosen, const DimValues& dims, CompileOptions options) {
  options.fusion = FusionPolicy::never;
  options.fusion_log = nullptr;
  options.verify = false;
  options.buckets.clear();
  Compiled compiled = compile_program(graph, options);
  const size_t calls = compiled.variants[0].binary.program.calls.size();
  Session unfused = make_session(std::move(compiled));
  fill_inputs(unfused, dims);
  unfused.execute();
  std::vector<double> before, after;
  for (int round = 0; round < kRounds; ++round) {
    before.push_back(time_of(unfused));
    after.push_back(time_of(chosen));
  }
  fmt::print("unfused  {} in {} kernels; as chosen {}: {:.2f} times as fast\n", time_text(median(before)), calls,
             time_text(median(after)), median(before) / median(after));
}

}  // namespace

Expected<int> compile_graph(const CompileArguments& arguments) {
  LUMEN_TRY(refuse_stdout("-o", arguments.output));
  const std::shared_ptr<Graph> graph = LUMEN_TRY(read_graph(arguments.file));
  const DimValues dims = LUMEN_TRY(usual_dims(arguments.dims, *graph));
  CompileOptions options = CompileOptions::from_flags();
  FusionLog log(arguments.fusion);
  LUMEN_TRY(log.set(options));
  options.rewrite = !arguments.no_rewrite;
  options.measure = !arguments.no_measure;
  options.verify = !arguments.no_verify;
  options.buckets = arguments.buckets;
  options.progress = true;
  Compiled compiled = compile_program(*graph, options);
  fmt::print("{}: {} nodes\n", arguments.file, graph->order().size());
  print_search(compiled.report, options);
  if (arguments.rules) fmt::print("{}", compiled.report.rules.text());
  if (!arguments.output.empty()) {
    save_program(arguments.output, *compiled.graph, compiled.variants, *compiled.device);
    fmt::print("wrote {}\n", arguments.output);
  }
  const size_t variants = compiled.variants.size();
  Session session = make_session(std::move(compiled));
  fill_inputs(session, dims);
  session.execute();
  if (variants > 1) fmt::print("buckets  {} variants; shown is the one for the dims given\n", variants);
  print_kernels(session);
  if (arguments.unfused) compare_with_unfused(*graph, session, dims, options);
  return 0;
}

}  // namespace lumen::tools
