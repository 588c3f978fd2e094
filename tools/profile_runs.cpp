#include "tools/profile_runs.h"

#include <fmt/format.h>

#include "bench/suite/run_suite.h"
#include "lumen/backend/cpu/cpu_device.h"
#include "lumen/base/clock.h"
#include "lumen/base/log.h"
#include "lumen/base/progress.h"
#include "lumen/base/statistics.h"
#include "tools/language.h"

namespace lumen::tools {

Expected<bench::Limits> limits_for(BackendKind backend, int device) {
  if (backend == BackendKind::cuda) {
    CompileOptions options;
    options.backend = backend;
    options.device = device;
    Expected<bench::GpuLimits> gpu = bench::measure_gpu(options);
    if (gpu.ok()) return std::move(gpu->limits);
    // Beside a model there may be no room for what is copied: shares are left out.
    LUMEN_LOG(1, "no limits of the GPU: " + gpu.diag().str());
    return bench::Limits();
  }
  const cpu::Compiler compiler = LUMEN_TRY(cpu::Compiler::find());
  return bench::measure_limits(compiler, *cpu::shared_pool());
}

bench::Profile profile_runs(Session& session, int64_t rounds, const std::function<void()>& run) {
  const auto seconds_of_run = [&] {
    const double start = seconds_now();
    run();
    return seconds_now() - start;
  };
  std::vector<double> plain;
  for (int64_t round = 0; round <= rounds && !session.on_host(); ++round) {
    const double seconds = seconds_of_run();
    if (round > 0) plain.push_back(seconds);
  }
  session.set_profiling(true);
  Progress progress("profile", static_cast<size_t>(rounds));
  bench::Profile profile;
  for (int64_t round = 0; round <= rounds; ++round) {
    const double seconds = seconds_of_run();
    if (round > 0) profile.add_run(session.profile(), plain.empty() ? seconds : median(plain));
    progress.advance();
  }
  session.set_profiling(false);
  return profile;
}

bench::Profile profile_session(Session& session, int64_t rounds) {
  return profile_runs(session, rounds, [&] { session.execute(); });
}

std::vector<NamedProfile> profile_decoder(models::Decoder& decoder, int64_t vocabulary, int64_t prompt,
                                          int64_t rounds) {
  const std::vector<int32_t> tokens = some_tokens(prompt, vocabulary);
  std::vector<NamedProfile> profiles;
  profiles.emplace_back(fmt::format("reading {} tokens", prompt), profile_runs(decoder.session(), rounds, [&] {
                          decoder.reset();
                          decoder.prefill({tokens}, prompt);
                        }));
  profiles.emplace_back(fmt::format("writing a token after {}", prompt),
                        profile_runs(decoder.session(), rounds, [&] { decoder.step({tokens[0]}); }));
  return profiles;
}

}  // namespace lumen::tools
