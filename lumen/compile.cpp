#include "lumen/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "lumen/backend/link.h"
#include "lumen/base/flags.h"
#include "lumen/base/log.h"
#include "lumen/base/progress.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"
#include "lumen/ir/verify.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/roll.h"
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

// Of the graph, and of all that its program does.
std::string program_hash(const Graph& graph, const Program& program) {
  std::string content = print(graph) + print(*program.graph);
  for (const ProgramKernel& kernel : program.kernels) content += kernel.text.text;
  for (const ProgramCall& call : program.calls) {
    content += fmt::format("{} {} {}\n", call.kernel, fmt::join(call.operands, ","), fmt::join(call.results, ","));
  }
  return search::kernel_hash(content);
}

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
    if (found.report.rows >= report.rules.rows) report.rules = std::move(found.report);
    std::vector<GraphPtr> graphs;
    for (const Candidate& candidate : found.candidates) graphs.push_back(candidate.graph);
    return graphs;
  }

  // The fastest of the graphs, as a program that will run `times` times.
  Expected<Program> lowered(std::span<const GraphPtr> graphs, CompileReport& report, double times) {
    search::TuneOptions tuning{typical_dims(*graphs[0]), options_.measure, db_ ? &*db_ : nullptr, options_.c_flags};
    search::Tuner tuner(compiler_, cpu::shared_pool(), std::move(tuning));
    std::optional<search::Lowered> best;
    for (const GraphPtr& graph : graphs) {
      search::Lowered one = LUMEN_TRY(search::lower(graph, options_.fusion, tuner));
      ++report.candidates;
      if (!best || one.seconds < best->seconds) best = std::move(one);
    }
    report.measured += tuner.measured();
    report.expected += best->seconds * times;
    return std::move(best->program);
  }

  // Once for each program.
  Expected<void> verify(const GraphPtr& graph, const cpu::Binary& binary) {
    if (!db_) return search::verify(graph, binary, compiler_);
    const std::string fingerprint = compiler_.target().fingerprint();
    search::TuningEntry entry;
    entry.fingerprint = fingerprint;
    entry.kernel = "[verified program]";
    entry.shape = program_hash(*graph, binary.program);
    entry.schedule = compiler_.version();
    entry.trials = 1;
    entry.date = search::now();
    for (const search::TuningEntry& known : LUMEN_TRY(db_->find({fingerprint, entry.kernel, entry.shape}))) {
      if (known.schedule == entry.schedule) return {};
    }
    LUMEN_TRY(search::verify(graph, binary, compiler_));
    return db_->put(entry);
  }

 private:
  CpuCompilation(cpu::Compiler compiler, CompileOptions options)
      : compiler_(std::move(compiler)), options_(std::move(options)) {}

  cpu::Compiler compiler_;
  CompileOptions options_;
  std::optional<search::TuningDb> db_;
};

// What a graph repeats, and the programs of its distinct parts.
struct Parts {
  std::vector<Carved> all;
  std::vector<size_t> body_of;    // by part
  std::vector<GraphPtr> bodies;   // distinct; the graph itself when it is one part
  std::vector<Program> programs;  // by body
};

Expected<Parts> rolled(const GraphPtr& graph) {
  Parts parts;
  parts.all = LUMEN_TRY(search::roll(*graph));
  if (parts.all.empty()) {
    parts.bodies = {graph};
    return parts;
  }
  std::map<std::string, size_t> numbers;  // by text
  for (const Carved& part : parts.all) {
    const auto [found, is_new] = numbers.emplace(print(*part.body), parts.bodies.size());
    if (is_new) parts.bodies.push_back(part.body);
    parts.body_of.push_back(found->second);
  }
  return parts;
}

// The program of the whole.
Expected<Program> linked(const GraphPtr& graph, const Parts& parts) {
  if (parts.body_of.empty()) return parts.programs[0];
  std::vector<const Program*> programs;
  for (const size_t body : parts.body_of) programs.push_back(&parts.programs[body]);
  return link(graph, parts.all, programs);
}

// The stages of compiling one graph, with what they took.
class OneCompilation {
 public:
  OneCompilation(CpuCompilation& compilation, const CompileOptions& options, CompileReport& report)
      : compilation_(compilation), options_(options), report_(report) {
    if (options.progress) progress_.emplace("roll");
  }

  Expected<cpu::Binary> run(const GraphPtr& graph) {
    Parts parts = LUMEN_TRY(rolled(graph));
    report_.parts += std::max<size_t>(1, parts.all.size());
    report_.distinct += parts.bodies.size();
    report_.rolling += clock_.lap();
    for (size_t k = 0; k < parts.bodies.size(); ++k) {
      parts.programs.push_back(LUMEN_TRY(lowered(parts.bodies[k], times(parts, k))));
    }
    enter("build");
    std::vector<Program> programs = parts.programs;
    programs.push_back(LUMEN_TRY(linked(graph, parts)));
    std::vector<cpu::Binary> built =
        LUMEN_TRY(cpu::build(std::move(programs), compilation_.compiler(), options_.c_flags));
    report_.building += clock_.lap();
    enter("verify");
    for (size_t k = 0; k < parts.bodies.size() && options_.verify; ++k) {
      LUMEN_TRY(compilation_.verify(parts.bodies[k], built[k]));
    }
    report_.verifying += clock_.lap();
    log(built.back().program);
    return std::move(built.back());
  }

 private:
  void enter(const char* stage) {
    if (progress_) progress_->set_stage(stage);
  }

  static double times(const Parts& parts, size_t body) {
    return std::max<double>(1, static_cast<double>(std::ranges::count(parts.body_of, body)));
  }

  Expected<Program> lowered(const GraphPtr& body, double times) {
    enter("rewrite");
    const std::vector<GraphPtr> candidates = LUMEN_TRY(compilation_.rewritten(body, report_));
    report_.rewriting += clock_.lap();
    enter("group and tune");
    Program program = LUMEN_TRY(compilation_.lowered(candidates, report_, times));
    report_.lowering += clock_.lap();
    return program;
  }

  void log(const Program& program) const {
    LUMEN_LOG(1, fmt::format("compile: {} of {} parts, {} kernels in {} calls, {:.1f} us expected, {} measured; roll "
                             "{:.2f} s, rewrite {:.2f} s, lower {:.2f} s, build {:.2f} s, verify {:.2f} s",
                             report_.distinct, report_.parts, program.kernels.size(), program.calls.size(),
                             report_.expected * 1e6, report_.measured, report_.rolling, report_.rewriting,
                             report_.lowering, report_.building, report_.verifying));
    LUMEN_LOG(2, report_.rules.text());
  }

  CpuCompilation& compilation_;
  const CompileOptions& options_;
  CompileReport& report_;
  std::optional<Progress> progress_;
  StageClock clock_;
};

Expected<Compiled> compile_variants(const GraphPtr& graph, const CompileOptions& options) {
  std::vector<std::vector<DimRange>> buckets;
  for (const std::string& text : options.buckets) buckets.push_back(LUMEN_TRY(parse_buckets(text, *graph)));
  Compiled compiled{graph, {}, {}};
  CpuCompilation compilation = LUMEN_TRY(CpuCompilation::start(options));
  for (const std::vector<DimRange>& where : combinations(buckets)) {
    const GraphPtr part = where.empty() ? graph : GraphPtr(LUMEN_TRY(restricted(*graph, where)));
    OneCompilation one(compilation, options, compiled.report);
    compiled.variants.push_back({where, LUMEN_TRY(one.run(part))});
  }
  return compiled;
}

Expected<std::vector<cpu::Binary>> compile_together(std::span<const GraphPtr> graphs, const CompileOptions& options) {
  CpuCompilation compilation = LUMEN_TRY(CpuCompilation::start(options));
  std::vector<Program> programs;
  for (const GraphPtr& graph : graphs) {
    CompileReport report;
    Parts parts = LUMEN_TRY(rolled(graph));
    for (const GraphPtr& body : parts.bodies) {
      const std::vector<GraphPtr> candidates = LUMEN_TRY(compilation.rewritten(body, report));
      parts.programs.push_back(LUMEN_TRY(compilation.lowered(candidates, report, 1)));
    }
    programs.push_back(LUMEN_TRY(linked(graph, parts)));
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
