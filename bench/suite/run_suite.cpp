#include "bench/suite/run_suite.h"

#include "lumen/base/progress.h"

namespace lumen::bench {

namespace {

Result result_for(const Case& c) {
  return {.name = c.name(),
          .group = c.group,
          .size = c.size,
          .dtype = c.dtype,
          .unit = c.unit,
          .fused = c.fused,
          .flops = c.flops,
          .bytes = least_bytes(*c.graph())};
}

struct Entrant {
  std::optional<Subject> subject;  // none after a problem
  int64_t runs = 1;
  std::vector<double> times;

  Expected<void> prepare(const Case& c, const RunPlan& plan, const CompileOptions& options) {
    const TraceScope scope(options.trace, c.name(), "case");
    subject = LUMEN_TRY(Subject::make(c, true, options));
    runs = LUMEN_TRY(subject->runs_in(plan.trial_seconds));
    return {};
  }
  Expected<void> trial() {
    times.push_back(LUMEN_TRY(subject->time(runs)));
    return {};
  }
};

}  // namespace

std::vector<Result> run_suite(std::span<const Case> cases, const RunPlan& plan, const CompileOptions& options) {
  std::vector<Result> results;
  std::vector<Entrant> entrants(cases.size());
  const auto note = [&](size_t k, const Expected<void>& done) {
    if (done.ok()) return;
    results[k].problem = done.diag().str();
    entrants[k].subject.reset();
  };
  Progress progress("compile", cases.size());
  for (size_t k = 0; k < cases.size(); ++k) {
    progress.set_stage("compile " + cases[k].name());
    results.push_back(result_for(cases[k]));
    note(k, entrants[k].prepare(cases[k], plan, options));
    if (entrants[k].subject) results[k].compile = entrants[k].subject->compile_facts();
    progress.advance();
  }
  progress.finish();
  Progress timing("time", static_cast<size_t>(plan.trials) * cases.size());
  for (int trial = 0; trial < plan.trials; ++trial) {
    for (size_t k = 0; k < cases.size(); ++k) {
      if (entrants[k].subject) note(k, entrants[k].trial());
      timing.advance();
    }
  }
  for (size_t k = 0; options.trace != nullptr && k < cases.size(); ++k) {
    const TraceScope scope(options.trace, cases[k].name(), "case");
    if (entrants[k].subject) note(k, entrants[k].subject->run_traced(*options.trace));
  }
  for (size_t k = 0; k < cases.size(); ++k) {
    if (entrants[k].subject) results[k].time = summarise(entrants[k].times);
  }
  return results;
}

}  // namespace lumen::bench
