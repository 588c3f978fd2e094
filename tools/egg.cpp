#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <string>

#include "lumen/base/progress.h"
#include "lumen/egraph/lang/parse.h"
#include "lumen/egraph/lang/program.h"
#include "lumen/egraph/report/html.h"
#include "lumen/egraph/report/json.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace lumen::tools {

namespace {

using egraph::ProgramOptions;
using egraph::Source;

ProgramOptions program_options(const EggOptions& options) {
  ProgramOptions program;
  program.run.threads = options.threads;
  program.run.seminaive = !options.no_seminaive;
  if (options.max_rows) program.run.limits.rows = *options.max_rows;
  if (options.max_memory) program.run.limits.bytes = *options.max_memory << 20;
  if (options.max_seconds) program.run.limits.seconds = *options.max_seconds;
  program.shuffle_rules = options.shuffle;
  program.echo_costs = options.costs;
  program.fact_directory = options.fact_directory;
  program.trace = options.explain;
  return program;
}

// The most memory this process ever held.
uint64_t peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) / 1024;
  }
  return 0;
}

uint64_t row_count(const egraph::EGraph& graph) {
  uint64_t rows = 0;
  for (egraph::TableId table = 0; table < graph.table_count(); ++table) rows += graph.row_count(table);
  return rows;
}

Expected<void> write_reports(egraph::Program& program, const std::string& file, const EggOptions& options) {
  egraph::EGraph& graph = program.egraph();
  if (!options.report.empty())
    LUMEN_TRY(write_text(options.report, egraph::report_json(graph, program.iterations()) + "\n"));
  if (options.json.empty() && options.html.empty()) return {};
  LUMEN_TRY(graph.rebuild());
  const egraph::ViewOptions view{program.extracted(), program.globals()};
  if (!options.json.empty()) LUMEN_TRY(write_text(options.json, egraph::graph_json(graph, view) + "\n"));
  if (!options.html.empty()) {
    egraph::PageOptions page;
    page.title = file;
    page.view = view;
    page.iterations = program.iterations();
    LUMEN_TRY(write_text(options.html, egraph::html_page(graph, page)));
  }
  return {};
}

Expected<std::shared_ptr<Source>> read_source(const std::string& file) {
  return egraph::make_source(file, LUMEN_TRY(read_text(file)));
}

Expected<int> format_program(const std::string& file) {
  const std::shared_ptr<Source> source = LUMEN_TRY(read_source(file));  // holds the trees
  for (const egraph::Command& command : LUMEN_TRY(egraph::parse_program(source))) {
    fmt::print("{}\n", egraph::print_command(command));
  }
  return 0;
}

Expected<int> run_program(const std::string& file, const EggOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<Source> source = LUMEN_TRY(read_source(file));
  Progress progress("iteration", 0, stderr, std::chrono::seconds(2));
  ProgramOptions run_options = program_options(options);
  run_options.on_iteration = [&](const egraph::IterationReport& report) {
    progress.set_stage(fmt::format("{} rows, {} MB, iteration", report.rows, report.bytes >> 20));
    progress.advance();
  };
  egraph::Program program(std::move(run_options),
                          [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  const Expected<void> result = program.run(source);
  progress.finish();
  std::fflush(stdout);
  if (options.time) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print(stderr, "; time {:.3f} s, peak {} MB, rows {}, classes {}\n", seconds, peak_megabytes(),
               row_count(program.egraph()), program.egraph().class_count());
  }
  for (const std::string& limit : program.limits_hit()) fmt::print(stderr, "; stopped at a limit: {}\n", limit);
  LUMEN_TRY(write_reports(program, file, options));
  if (!result.ok()) return result.diag();
  return program.limits_hit().empty() ? 0 : 3;
}

}  // namespace

Expected<int> run_egg(const EggOptions& options) {
  const bool writes = !options.report.empty() || !options.json.empty() || !options.html.empty();
  if (writes && options.files.size() > 1) return error("--report, --json and --html are for one program at a time");
  for (const std::string& file : {options.report, options.json, options.html}) LUMEN_TRY(check_writable(file));
  int status = 0;
  for (const std::string& file : options.files) {
    if (options.format) {
      LUMEN_TRY(format_program(file));
    } else if (options.desugar) {
      fmt::print("{}", LUMEN_TRY(egraph::Program().plain_text(LUMEN_TRY(read_source(file)))));
    } else {
      status = std::max(status, LUMEN_TRY(run_program(file, options)));
    }
  }
  return status;
}

}  // namespace lumen::tools
