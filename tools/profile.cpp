#include "bench/suite/profile.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/suite/report_json.h"
#include "bench/suite/table.h"
#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/backend/cuda/cuda_device.h"
#include "lumen/runtime/program_file.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/fusion_choice.h"
#include "tools/language.h"
#include "tools/profile_runs.h"
#include "tools/usual_inputs.h"

namespace lumen::tools {

namespace {

Expected<std::string> hardware_of(const CompileOptions& options) {
  if (options.backend != BackendKind::cuda) return cpu::cpu().fingerprint();
  for (const cuda::DeviceInfo& gpu : LUMEN_TRY(cuda::devices())) {
    if (gpu.number == options.device) return fmt::format("{} {}", gpu.name, cuda::architecture_name(gpu.sm));
  }
  return error(fmt::format("there is no GPU {}", options.device));
}

// Profiles by name, as a page of tables and as one JSON object.
class ProfileReport {
 public:
  static Expected<ProfileReport> start(const CompileOptions& options) {
    ProfileReport report;
    report.hardware_ = LUMEN_TRY(hardware_of(options));
    report.limits_ = LUMEN_TRY(limits_for(options.backend, options.device));
    if (!report.limits_.copies.empty()) fmt::print("{}\n", bench::limits_text(report.limits_));
    return report;
  }

  void add(const std::string& name, const bench::Profile& profile) {
    fmt::print("{}{}\n{}", profiles_.empty() ? "" : "\n", name, bench::profile_table(profile, limits_));
    profiles_[name] = bench::Json::parse(bench::profile_json(profile, limits_));
  }
  std::string json() const {
    const bench::Json whole = {
        {"hardware", hardware_}, {"limits", bench::limits_json(limits_)}, {"profiles", profiles_}};
    return whole.dump(2) + "\n";
  }

 private:
  std::string hardware_;
  bench::Limits limits_;
  bench::Json profiles_ = bench::Json::object();
};

Expected<Session> session_of(const ProfileArguments& arguments, CompileOptions options) {
  if (is_program_file(arguments.file)) return load_program(arguments.file);
  options.progress = true;
  FusionLog log(arguments.model.fusion);
  LUMEN_TRY(log.set(options));
  const std::shared_ptr<Graph> graph = LUMEN_TRY(read_graph(arguments.file));
  return make_session(compile_program(*graph, options));
}

Expected<ProfileReport> profile_file(const ProfileArguments& arguments) {
  const CompileOptions options = CompileOptions::from_flags();
  Session session = LUMEN_TRY(session_of(arguments, options));
  fill_inputs(session, LUMEN_TRY(usual_dims(arguments.dims, session.graph())));
  ProfileReport report = LUMEN_TRY(ProfileReport::start(options));
  report.add(arguments.file, profile_session(session, arguments.rounds));
  return report;
}

Expected<ProfileReport> profile_model(const ProfileArguments& arguments) {
  CompileOptions options = CompileOptions::from_flags();
  if (!arguments.model.device.empty()) LUMEN_TRY(options.set_backend(arguments.model.device));
  const std::unique_ptr<LanguageModel> loaded = LUMEN_TRY(load_model(arguments.model, need_causal));
  if (arguments.prompt > loaded->model.options.max_step) {
    return error(
        fmt::format("--pp {}: the model reads {} tokens at once", arguments.prompt, loaded->model.options.max_step));
  }
  models::Decoder decoder(std::move(*loaded->session), loaded->model);
  ProfileReport report = LUMEN_TRY(ProfileReport::start(options));
  for (const auto& [name, profile] :
       profile_decoder(decoder, loaded->model.vocabulary, arguments.prompt, arguments.rounds)) {
    report.add(name, profile);
  }
  return report;
}

}  // namespace

Expected<int> profile_program(const ProfileArguments& arguments) try {
  if (arguments.file.empty() == arguments.model.path.empty()) return error("either FILE or --model PATH is needed");
  LUMEN_TRY(check_writable(arguments.json));
  const ProfileReport report =
      arguments.file.empty() ? LUMEN_TRY(profile_model(arguments)) : LUMEN_TRY(profile_file(arguments));
  if (!arguments.json.empty()) LUMEN_TRY(write_text(arguments.json, report.json()));
  return 0;
} catch (const Error& problem) {
  return Diag(problem.diag());
}

}  // namespace lumen::tools
