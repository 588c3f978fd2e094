#include "lumen/compile.h"
#include "bench/suite/statistics.h"
#include "lumen/base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "lumen/ir/random_tensor.h"
#include "lumen/runtime/program_file.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/run_arguments.h"

namespace lumen::tools {

namespace {

constexpr int kRounds = 15;

// Random inputs for a session, at dims of usual size.
void fill_inputs(Session& session, const Graph& graph, const DimValues& dims) {
  for (const Expr& dim : graph.dims()) session.set_dim(dim.dim_name(), *dims.get(dim.dim_name()));
  for (const NodeId id : graph.inputs()) {
    const Input& input = graph[id].as<Input>();
    if (input.kind == InputKind::state) continue;
    std::vector<std::byte> bytes(static_cast<size_t>(graph[id].type.bytes(dims).value()));
    fill_random(input.dtype, bytes, static_cast<int64_t>(id));
    session.set_bytes(input.name.str(), bytes);
  }
}

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
  session.set_profiling(true);
  session.execute();
  fmt::print("kernels  {}, on random inputs\n", session.profile().size());
  std::map<std::pair<std::string, std::string>, std::vector<double>> times;  // by name and schedule: per round
  for (int round = 0; round < kRounds; ++round) {
    session.execute();
    std::map<std::pair<std::string, std::string>, double> sums;
    for (const CallTime& call : session.profile()) sums[{call.name, call.schedule}] += call.seconds;
    for (const auto& [key, sum] : sums) times[key].push_back(sum);
  }
  session.set_profiling(false);
  std::vector<std::pair<double, std::pair<std::string, std::string>>> lines;
  for (const auto& [key, rounds] : times) lines.emplace_back(bench::median(rounds), key);
  std::sort(lines.rbegin(), lines.rend());
  for (const auto& [seconds, key] : lines) {
    fmt::print("  {:>10}  {}  [{}]\n", time_text(seconds), key.first, key.second.empty() ? "interpreted" : key.second);
  }
}

void compare_with_unfused(const Graph& graph, Session& chosen, const DimValues& dims, CompileOptions options) {
  options.fusion = FusionPolicy::never;
  options.verify = false;
  options.buckets.clear();
  Compiled compiled = compile_for_cpu(graph, options);
  const size_t calls = compiled.variants[0].binary.program.calls.size();
  Session unfused = make_session(std::move(compiled));
  fill_inputs(unfused, graph, dims);
  unfused.execute();
  std::vector<double> before, after;
  for (int round = 0; round < kRounds; ++round) {
    before.push_back(time_of(unfused));
    after.push_back(time_of(chosen));
  }
  fmt::print("unfused  {} in {} kernels; as chosen {}: {:.2f} times as fast\n", time_text(bench::median(before)), calls,
             time_text(bench::median(after)), bench::median(before) / bench::median(after));
}

}  // namespace

Expected<int> compile_graph(const CompileArguments& arguments) {
  const std::shared_ptr<Graph> graph = LUMEN_TRY(read_graph(arguments.file));
  DimValues dims = LUMEN_TRY(parse_dims(arguments.dims, *graph));
  for (const Expr& dim : graph->dims()) {
    if (!dims.get(dim.dim_name())) dims.set(dim.dim_name(), *typical_dims(*graph).get(dim.dim_name()));
  }
  CompileOptions options = CompileOptions::from_flags();
  if (!arguments.fusion.empty()) options.fusion = LUMEN_TRY(parse_fusion(arguments.fusion));
  options.rewrite = !arguments.no_rewrite;
  options.measure = !arguments.no_measure;
  options.verify = !arguments.no_verify;
  options.buckets = arguments.buckets;
  options.progress = true;
  fmt::print("{}: {} nodes\n", arguments.file, graph->order().size());
  Compiled compiled = compile_for_cpu(*graph, options);
  print_search(compiled.report, options);
  if (arguments.rules) fmt::print("{}", compiled.report.rules.text());
  if (!arguments.output.empty()) {
    save_program(arguments.output, *compiled.graph, compiled.variants);
    fmt::print("wrote {}\n", arguments.output);
  }
  const size_t variants = compiled.variants.size();
  Session session = make_session(std::move(compiled));
  fill_inputs(session, *graph, dims);
  session.execute();
  if (variants > 1) fmt::print("buckets  {} variants; shown is the one for the dims given\n", variants);
  print_kernels(session);
  if (arguments.unfused) compare_with_unfused(*graph, session, dims, options);
  return 0;
}

Expected<FusionPolicy> parse_fusion(std::string_view text) {
  if (text == "never") return FusionPolicy::never;
  if (text == "always") return FusionPolicy::always;
  if (text == "profile") return FusionPolicy::profile;
  return error(fmt::format("--fusion {}: not one of profile, always, never", text));
}

}  // namespace lumen::tools
