#include "lumen/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "lumen/backend/buffer.h"
#include "lumen/backend/cpu/cpu_device.h"
#include "lumen/backend/cuda/cuda_device.h"
#include "lumen/backend/link.h"
#include "lumen/base/flags.h"
#include "lumen/base/log.h"
#include "lumen/base/progress.h"
#include "lumen/fusion_patterns.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"
#include "lumen/ir/verify.h"
#include "lumen/kernel/title.h"
#include "lumen/search/finalists.h"
#include "lumen/search/launches.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/roll.h"
#include "lumen/search/stage_files.h"
#include "lumen/search/verify.h"

namespace lumen {

namespace {

using GraphPtr = std::shared_ptr<const Graph>;
using Clock = std::chrono::steady_clock;

// Kernels are timed alone and with warm caches: times that differ by less say nothing, and the more promising graph
// stays.
constexpr double kClearly = 0.97;
constexpr double kFarBehind = 2;  // a program whose kernels take so much longer is not faster as a whole

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

Expected<std::shared_ptr<const Device>> device_of(const CompileOptions& options) {
  std::shared_ptr<const Device> device;
  if (options.backend == BackendKind::cuda) {
    device = LUMEN_TRY(cuda::CudaDevice::open(options.device, options.most_memory));
  } else {
    device = LUMEN_TRY(cpu::CpuDevice::find(options.c_flags));
  }
  return device;
}

// The stages of compilation for one device, from a graph to a program of kernels.
class Compilation {
 public:
  static Expected<Compilation> start(const CompileOptions& options) {
    Compilation result(LUMEN_TRY(device_of(options)), options);
    if (options.measure) result.db_ = search::TuningDb::open_or_forget();
    result.guide_.gates = options.fusion_gates;
    if (options.fusion == FusionPolicy::profile && !options.fusion_profile.empty()) {
      result.guide_.profile =
          LUMEN_TRY(read_fusion_profile(options.fusion_profile, *result.device_, options.fusion_profile_of_another));
      result.guide_.patterns = LUMEN_TRY(make_patterns(*result.guide_.profile, machine_like(result.device_->target())));
    }
    return result;
  }

  const std::shared_ptr<const Device>& device() const { return device_; }

  Expected<search::StageFiles> files_of(const Graph& graph) const {
    return search::StageFiles::open(options_.dump, options_.overrides, graph);
  }

  // Equivalent graphs, the most promising first.
  Expected<std::vector<GraphPtr>> rewritten(const GraphPtr& graph, search::StageFiles& files, CompileReport& report,
                                            search::PartRecord* record = nullptr) const {
    if (GraphPtr given = LUMEN_TRY(files.rewritten(*graph))) return std::vector{given};
    if (!options_.rewrite) return std::vector{graph};
    RewriteOptions rewriting;
    rewriting.dims = dims_to_measure(*graph);
    rewriting.machine = machine_like(device_->target());
    // Times decide between several; without them the first is as good as any.
    if (!options_.measure || options_.fusion != FusionPolicy::profile) rewriting.candidates = 1;
    rewriting.classes = record != nullptr;
    Rewritten found = LUMEN_TRY(rewrite(*graph, rewriting));
    if (record != nullptr) {
      record->rules = found.report;
      record->classes = std::move(found.classes);
      record->candidates = found.candidates;
    }
    if (found.report.rows >= report.rules.rows) report.rules = std::move(found.report);
    std::vector<GraphPtr> graphs;
    for (const Candidate& candidate : found.candidates) graphs.push_back(candidate.graph);
    return graphs;
  }

  // Of a body: the fastest of the equivalent graphs, as a program that will run `times` times.
  Expected<Program> lowered(std::span<const GraphPtr> graphs, search::StageFiles& files, CompileReport& report,
                            double times, search::PartRecord* record = nullptr, const std::string& where = {}) {
    search::Tuner tuner(*device_,
                        {dims_to_measure(*graphs[0]), options_.measure, db_ ? &*db_ : nullptr, options_.trace});
    const search::Decisions decided = LUMEN_TRY(files.decisions(*graphs[0], tuner.target()));
    Fastest best = LUMEN_TRY(fastest_of(graphs, options_.fusion, tuner, decided));
    report.candidates += graphs.size();
    const bool is_free = !decided.groups && decided.schedules.empty();
    if (is_free) {
      LUMEN_TRY(race_with_all_fused(graphs, tuner, best));
      LUMEN_TRY(race_launches(tuner, best.lowered));
    }
    report.measured += tuner.measured();
    report.expected += best.lowered.seconds * times;
    LUMEN_TRY(decided.check_known(best.lowered.names));
    std::vector<GraphPtr> others(graphs.begin(), graphs.end());
    std::erase(others, best.lowered.program.graph);
    LUMEN_TRY(files.finish(best.lowered, others));
    log_fusion(best.lowered, where);
    if (record != nullptr) {
      record->chosen = best.candidate;
      record->candidate_seconds = std::move(best.seconds);
      record->dims = tuner.dims();
      for (const ProgramKernel& kernel : best.lowered.program.kernels) {
        record->schedules.push_back(LUMEN_TRY(tuner.contenders(*kernel.body)));
      }
      record->lowered = best.lowered;
    }
    return std::move(best.lowered.program);
  }

  // A profile that was given and had nothing to say is worth a line: it is easily of another dtype.
  void warn_of_unused_profile(std::span<const GraphPtr> graphs) const {
    if (!guide_.profile || profile_decided_) return;
    LUMEN_LOG(0, fmt::format("{}: nothing was decided by this profile: {}", options_.fusion_profile,
                             why_unused(*guide_.profile, graphs)));
  }

  // Once for each program.
  Expected<void> verify(const GraphPtr& graph, const Binary& binary) {
    if (!db_) return search::verify(graph, binary, *device_);
    const std::string fingerprint = device_->fingerprint();
    search::TuningEntry entry;
    entry.fingerprint = fingerprint;
    entry.kernel = "[verified program]";
    entry.shape = search::kernel_hash(print(*graph) + search::program_hash(binary.program));
    entry.schedule = device_->compiler_version();
    entry.trials = 1;
    entry.date = search::now();
    for (const search::TuningEntry& known : LUMEN_TRY(db_->find({fingerprint, entry.kernel, entry.shape}))) {
      if (known.schedule == entry.schedule) return {};
    }
    LUMEN_TRY(search::verify(graph, binary, *device_));
    return db_->keep(std::span(&entry, 1));
  }

 private:
  DimValues dims_to_measure(const Graph& graph) const {
    DimValues dims = typical_dims(graph);
    for (const Expr& dim : graph.dims()) {
      const auto [lo, hi] = dim.dim_bounds();
      const std::optional<int64_t> given = options_.typical.get(dim.dim_name());
      if (given) dims.set(dim.dim_name(), std::clamp(*given, lo, hi));
    }
    return dims;
  }

  // The fastest of equivalent graphs, by the times of its kernels.
  struct Fastest {
    search::Lowered lowered;
    size_t candidate = 0;
    std::vector<double> seconds;  // by candidate
  };

  Expected<Fastest> fastest_of(std::span<const GraphPtr> graphs, FusionPolicy policy, search::Tuner& tuner,
                               const search::Decisions& decided = {}) {
    Fastest best;
    for (size_t k = 0; k < graphs.size(); ++k) {
      search::Lowered one = LUMEN_TRY(search::lower(graphs[k], policy, tuner, decided, guide_));
      LUMEN_LOG(2, fmt::format("candidate: {:.4g} s", one.seconds));
      best.seconds.push_back(one.seconds);
      if (k > 0 && one.seconds >= kClearly * best.lowered.seconds) continue;
      best.candidate = k;
      best.lowered = std::move(one);
    }
    return best;
  }

  // Cutting was decided kernel by kernel; what comes of it is set beside the program that cuts nothing, and must be
  // faster as a whole.
  Expected<void> race_with_all_fused(std::span<const GraphPtr> graphs, search::Tuner& tuner, Fastest& best) {
    if (options_.fusion != FusionPolicy::profile || !options_.measure) return {};
    // What a profile or a gate wants apart stays so.
    if (!std::ranges::all_of(best.lowered.decisions, &search::FusionDecision::fuse)) return {};
    Fastest rival = LUMEN_TRY(fastest_of(graphs, FusionPolicy::always, tuner));
    search::Lowered& fused = rival.lowered;
    if (fused.seconds > kFarBehind * best.lowered.seconds) return {};
    const Program* const programs[] = {&fused.program, &best.lowered.program};
    const search::Finalists found = LUMEN_TRY(search::race_programs(programs, *device_, racing(tuner)));
    if (found.seconds.empty() || found.fastest == 1) return {};
    fused.decisions.push_back({.what = fmt::format("everything, in {} kernels", fused.program.kernels.size()),
                               .fused = found.seconds[0] * 1e3,
                               .unfused = found.seconds[1] * 1e3,
                               .source = "measured",
                               .note = "whole programs",
                               .fuse = true});
    fused.cuts = std::move(best.lowered.cuts);
    for (search::TriedCut& cut : fused.cuts) cut.undone = std::exchange(cut.taken, false);
    // Those about what is a kernel now, too.
    for (const search::FusionDecision& decision : best.lowered.decisions) {
      const auto is_it = [&](const ProgramKernel& kernel) { return kernel_title(*kernel.body) == decision.what; };
      const bool is_kernel = std::ranges::any_of(fused.program.kernels, is_it);
      if (is_kernel || !decision.shape.empty()) fused.decisions.push_back(decision);
    }
    best.seconds[rival.candidate] = fused.seconds;
    best.candidate = rival.candidate;
    best.lowered = std::move(fused);
    return {};
  }

  // Kernels were timed alone; those that are launched together are timed so, with other schedules too.
  Expected<void> race_launches(search::Tuner& tuner, search::Lowered& best) {
    if (!options_.measure) return {};
    for (const std::vector<uint32_t>& together : device_->launched_together(best.program)) {
      std::vector<search::Lowered> others = LUMEN_TRY(search::with_other_launch(best, together, tuner));
      if (others.empty()) continue;
      std::vector<const Program*> programs = {&best.program};
      for (const search::Lowered& other : others) programs.push_back(&other.program);
      const search::Finalists found = LUMEN_TRY(search::race_programs(programs, *device_, racing(tuner)));
      if (found.fastest > 0) best = std::move(others[found.fastest - 1]);
    }
    return {};
  }

  search::FinalistOptions racing(const search::Tuner& tuner) {
    return {tuner.dims(), db_ ? &*db_ : nullptr, options_.trace};
  }

  void log_fusion(const search::Lowered& lowered, const std::string& where) {
    for (const search::FusionDecision& decision : lowered.decisions) {
      profile_decided_ = profile_decided_ || decision.is_by_profile();
      if (decision.source != "nearest") continue;
      LUMEN_LOG(0, fmt::format("{}: {} {} is outside of what was measured; its times are {}", options_.fusion_profile,
                               decision.what, decision.shape, decision.note));
    }
    if (options_.fusion_log == nullptr) return;
    std::vector<search::FusionDecision> decisions = lowered.decisions;
    std::ranges::move(decisions_of(lowered.cuts, options_.measure), std::back_inserter(decisions));
    for (search::FusionDecision& decision : decisions) {
      decision.where = where;
      options_.fusion_log->push_back(std::move(decision));
    }
  }

  Compilation(std::shared_ptr<const Device> device, CompileOptions options)
      : device_(std::move(device)), options_(std::move(options)) {}

  std::shared_ptr<const Device> device_;
  CompileOptions options_;
  std::optional<search::TuningDb> db_;
  search::FusionGuide guide_;
  bool profile_decided_ = false;  // about some group
};

// What a graph repeats, and the programs of its distinct parts.
struct Parts {
  std::vector<Carved> all;
  std::vector<size_t> body_of;    // by part
  std::vector<GraphPtr> bodies;   // distinct; the graph itself when it is one part
  std::vector<Program> programs;  // by body
};

Expected<Parts> rolled(const GraphPtr& graph, const Target& target) {
  Parts parts;
  parts.all = LUMEN_TRY(search::roll(*graph, target));
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

// A graph that is one part has no names of parts.
Expected<void> enter_part(search::StageFiles& files, const Parts& parts, size_t body) {
  if (parts.all.empty()) return {};
  return files.enter_part(body, *parts.bodies[body]);
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
  OneCompilation(Compilation& compilation, const CompileOptions& options, CompileReport& report, std::string where)
      : compilation_(compilation), options_(options), report_(report), where_(std::move(where)) {
    if (options.progress) progress_.emplace("roll");
  }

  Expected<Binary> run(const GraphPtr& given) {
    const KeepReleased memory;
    const TraceScope whole(options_.trace, "compile", "compile");
    enter("roll");
    search::StageFiles files = LUMEN_TRY(compilation_.files_of(*given));
    const GraphPtr graph = LUMEN_TRY(files.graph(given));
    Parts parts = LUMEN_TRY(rolled(graph, compilation_.device()->target()));
    report_.parts += std::max<size_t>(1, parts.all.size());
    report_.distinct += parts.bodies.size();
    report_.rolling += clock_.lap();
    for (size_t k = 0; k < parts.bodies.size(); ++k) {
      LUMEN_TRY(enter_part(files, parts, k));
      search::PartRecord* record = options_.record == nullptr ? nullptr : &start_record(*graph, parts, k);
      parts.programs.push_back(LUMEN_TRY(lowered(parts.bodies[k], files, times(parts, k), record)));
    }
    enter("build");
    std::vector<Program> programs = parts.programs;
    programs.push_back(LUMEN_TRY(linked(graph, parts)));
    LUMEN_TRY(files.plan(programs.back()));
    LUMEN_TRY(files.check_all_read());
    std::vector<Binary> built = LUMEN_TRY(compilation_.device()->build(std::move(programs)));
    report_.building += clock_.lap();
    enter("verify");
    for (size_t k = 0; k < parts.bodies.size() && options_.verify; ++k) {
      LUMEN_TRY(compilation_.verify(parts.bodies[k], built[k]));
    }
    report_.verifying += clock_.lap();
    stage_.reset();
    log(built.back().program);
    return std::move(built.back());
  }

 private:
  void enter(const char* stage) {
    if (progress_) progress_->set_stage(stage);
    stage_.reset();
    stage_.emplace(options_.trace, stage, "compile");
  }

  static double times(const Parts& parts, size_t body) {
    return std::max<double>(1, static_cast<double>(std::ranges::count(parts.body_of, body)));
  }

  search::PartRecord& start_record(const Graph& graph, const Parts& parts, size_t body) const {
    search::PartRecord& record = options_.record->emplace_back();
    record.body = parts.bodies[body];
    record.times = times(parts, body);
    record.where = where_;
    const auto part = std::ranges::find(parts.body_of, body) - parts.body_of.begin();
    const std::span<const NodeId> inputs =
        parts.all.empty() ? graph.inputs() : std::span<const NodeId>(parts.all[static_cast<size_t>(part)].operands);
    for (const NodeId id : inputs) {
      record.inputs.push_back(graph[id].is<Input>() ? std::string(graph[id].as<Input>().name.str()) : "");
    }
    record.origins = origins(graph, parts, body);
    return record;
  }

  // PartRecord::origins.
  static std::vector<std::vector<size_t>> origins(const Graph& graph, const Parts& parts, size_t body) {
    const std::vector<NodeId> order = graph.order();
    std::vector<size_t> place(graph.size());
    for (size_t k = 0; k < order.size(); ++k) place[static_cast<size_t>(order[k])] = k;
    std::vector<std::vector<size_t>> result(parts.bodies[body]->size());
    if (parts.all.empty()) {
      for (const NodeId id : order) result[static_cast<size_t>(id)] = {place[static_cast<size_t>(id)]};
    }
    const std::vector<NodeId> first = parts.bodies[body]->order();
    for (size_t k = 0; k < parts.all.size(); ++k) {
      if (parts.body_of[k] != body) continue;
      const std::vector<NodeId> own = parts.all[k].body->order();
      for (size_t node = 0; node < own.size(); ++node) {
        const NodeId origin = parts.all[k].nodes[static_cast<size_t>(own[node])];
        result[static_cast<size_t>(first[node])].push_back(place[static_cast<size_t>(origin)]);
      }
    }
    return result;
  }

  Expected<Program> lowered(const GraphPtr& body, search::StageFiles& files, double times, search::PartRecord* record) {
    enter("rewrite");
    const std::vector<GraphPtr> candidates = LUMEN_TRY(compilation_.rewritten(body, files, report_, record));
    if (record != nullptr && record->candidates.empty()) record->candidates.push_back({clone(*body), 0});
    report_.rewriting += clock_.lap();
    enter("group and tune");
    Program program = LUMEN_TRY(compilation_.lowered(candidates, files, report_, times, record, where_));
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

  Compilation& compilation_;
  const CompileOptions& options_;
  CompileReport& report_;
  const std::string where_;  // the bucket
  std::optional<Progress> progress_;
  std::optional<TraceScope> stage_;
  StageClock clock_;
};

Expected<Compiled> compile_variants(const GraphPtr& graph, const CompileOptions& options) {
  std::vector<std::vector<DimRange>> buckets;
  for (const std::string& text : options.buckets) buckets.push_back(LUMEN_TRY(parse_buckets(text, *graph)));
  Compilation compilation = LUMEN_TRY(Compilation::start(options));
  Compiled compiled{graph, compilation.device(), {}, {}};
  for (const std::vector<DimRange>& where : combinations(buckets)) {
    const GraphPtr part = where.empty() ? graph : GraphPtr(LUMEN_TRY(restricted(*graph, where)));
    OneCompilation one(compilation, options, compiled.report, text_of(where));
    Binary binary = LUMEN_TRY(one.run(part));
    compiled.variants.push_back({where, std::move(binary)});
  }
  compilation.warn_of_unused_profile(std::span(&graph, 1));
  return compiled;
}

Expected<std::vector<std::unique_ptr<Executable>>> compile_together(std::span<const GraphPtr> graphs,
                                                                    const CompileOptions& options) {
  const KeepReleased memory;
  Compilation compilation = LUMEN_TRY(Compilation::start(options));
  std::vector<Program> programs;
  for (const GraphPtr& graph : graphs) {
    CompileReport report;
    search::StageFiles files = LUMEN_TRY(compilation.files_of(*graph));
    const GraphPtr own = LUMEN_TRY(files.graph(graph));
    Parts parts = LUMEN_TRY(rolled(own, compilation.device()->target()));
    for (size_t k = 0; k < parts.bodies.size(); ++k) {
      LUMEN_TRY(enter_part(files, parts, k));
      const std::vector<GraphPtr> candidates = LUMEN_TRY(compilation.rewritten(parts.bodies[k], files, report));
      parts.programs.push_back(LUMEN_TRY(compilation.lowered(candidates, files, report, 1)));
    }
    programs.push_back(LUMEN_TRY(linked(own, parts)));
    LUMEN_TRY(files.plan(programs.back()));
    LUMEN_TRY(files.check_all_read());
  }
  compilation.warn_of_unused_profile(graphs);
  std::vector<std::unique_ptr<Executable>> executables;
  for (Binary& binary : LUMEN_TRY(compilation.device()->build(std::move(programs)))) {
    executables.push_back(LUMEN_TRY(compilation.device()->load(std::move(binary))));
  }
  return executables;
}

GraphPtr checked(const Graph& graph) {
  verify(graph, hlir_stage()).value();
  return clone(graph);
}

}  // namespace

CompileOptions CompileOptions::from_flags() {
  CompileOptions options;
  if (!flags().backend.empty()) options.set_backend(flags().backend).value();
  if (flags().fusion == "never") options.fusion = FusionPolicy::never;
  if (flags().fusion == "always") options.fusion = FusionPolicy::always;
  options.fusion_profile = flags().fusion_profile;
  options.dump = flags().dump;
  options.overrides = flags().overrides;
  return options;
}

Expected<void> CompileOptions::set_backend(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string number(colon == std::string_view::npos ? "0" : text.substr(colon + 1));
  const bool numbered =
      !number.empty() && number.size() < 4 && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  if (kind == "cuda" && numbered) {
    backend = BackendKind::cuda;
    device = std::stoi(number);
  } else if (text == "cpu") {
    backend = BackendKind::cpu;
  } else if (text == "reference") {
    backend = BackendKind::reference;
  } else {
    return error(fmt::format("no backend \"{}\"; there are cpu, cuda, cuda:N and reference", text));
  }
  return {};
}

Compiled compile_program(const Graph& graph, const CompileOptions& options) {
  return compile_variants(checked(graph), options).value();
}

Session make_session(Compiled compiled) {
  const Loader load = [&](Binary binary) { return compiled.device->load(std::move(binary)); };
  std::unique_ptr<Executable> executable = make_executable(std::move(compiled.variants), *compiled.graph, load).value();
  return Session(compiled.graph, std::move(executable));
}

Session compile(const Graph& graph, const CompileOptions& options) {
  if (options.backend == BackendKind::reference) return Session(checked(graph));
  return make_session(compile_program(graph, options));
}

std::vector<Session> compile_all(std::span<const Graph* const> graphs, const CompileOptions& options) {
  std::vector<GraphPtr> own;
  for (const Graph* graph : graphs) own.push_back(checked(*graph));
  std::vector<Session> sessions;
  if (options.backend == BackendKind::reference) {
    for (const GraphPtr& graph : own) sessions.emplace_back(graph);
    return sessions;
  }
  std::vector<std::unique_ptr<Executable>> executables = compile_together(own, options).value();
  for (size_t k = 0; k < own.size(); ++k) sessions.emplace_back(own[k], std::move(executables[k]));
  return sessions;
}

}  // namespace lumen
