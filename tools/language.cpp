#include "tools/language.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "lumen/base/clock.h"
#include "tools/fusion_choice.h"

namespace lumen::tools {

namespace {

constexpr int64_t kUsualContext = 4096;
constexpr int64_t kFewTokens = 128;
constexpr int64_t kGpuStep = 2048;  // tokens that a GPU reads at once; a processor is as fast with fewer

Expected<models::ModelOptions> model_options(const ModelArguments& arguments) {
  models::ModelOptions options;
  options.max_context = arguments.max_context;
  options.batch = arguments.batch;
  if (!arguments.dtype.empty()) {
    options.dtype = parse_dtype(arguments.dtype);
    if (!options.dtype) return error(fmt::format("--dtype {}: not the name of a dtype", arguments.dtype));
  }
  return options;
}

}  // namespace

Expected<std::unique_ptr<LanguageModel>> load_model(const ModelArguments& arguments, const ModelCheck& check,
                                                    Trace* trace, std::vector<search::PartRecord>* record) {
  const double start = seconds_now();
  std::optional<TraceScope> stage(std::in_place, trace, "open the model", "command");
  CompileOptions compiling = CompileOptions::from_flags();
  if (!arguments.device.empty()) LUMEN_TRY(compiling.set_backend(arguments.device));
  auto loaded = std::make_unique<LanguageModel>(
      LanguageModel{LUMEN_TRY(models::ModelFiles::open(arguments.path, arguments.random_weights)), {}, {}, {}});
  models::ModelOptions options = LUMEN_TRY(model_options(arguments));
  if (compiling.backend == BackendKind::cuda) {
    options.max_step = kGpuStep;
    options.candidates = arguments.candidates;
  }
  loaded->model = LUMEN_TRY(loaded->files.build(options));
  if (options.max_context == 0 && loaded->model.options.max_context > kUsualContext) {
    options.max_context = kUsualContext;
    loaded->model = LUMEN_TRY(loaded->files.build(options));
  }
  if (check) LUMEN_TRY(check(*loaded));
  stage.reset();
  const double opened = seconds_now();
  compiling.progress = true;
  // What is slow for long texts must not be chosen for being as fast for short ones. A GPU's attention is the same.
  if (compiling.backend != BackendKind::cuda) {
    compiling.typical.set("context", std::clamp<int64_t>(loaded->model.options.max_context / 4, 512, 2048));
  }
  compiling.measure = arguments.measure;
  FusionLog log(arguments.fusion);
  LUMEN_TRY(log.set(compiling));
  compiling.trace = trace;
  compiling.record = record;
  compiling.most_memory = arguments.max_memory << 20;
  loaded->backend = compiling.backend;
  loaded->device = compiling.device;
  if (loaded->model.kind == models::ModelKind::causal && loaded->model.options.max_step > 1) {
    const int64_t most = loaded->model.options.max_step;
    // A GPU is full with a few hundred tokens: what is best for fewer is something else.
    const bool cut = compiling.backend == BackendKind::cuda && most > kFewTokens;
    compiling.buckets = {cut ? fmt::format("seq=1,2-{},{}-{}", kFewTokens, kFewTokens + 1, most)
                             : fmt::format("seq=1,2-{}", most)};
  }
  try {
    if (compiling.backend == BackendKind::reference) {
      loaded->session.emplace(compile(*loaded->model.graph, compiling));
    } else {
      Compiled compiled = compile_program(*loaded->model.graph, compiling);
      loaded->report = compiled.report;
      loaded->hardware = compiled.device->fingerprint();
      loaded->session.emplace(make_session(std::move(compiled)));
    }
  } catch (const Error& problem) {
    return Diag(problem.diag());
  }
  const double compiled = seconds_now();
  stage.emplace(trace, "bind weights", "command");
  LUMEN_TRY(loaded->files.bind(*loaded->session));
  loaded->session->set_trace(trace);
  loaded->load_seconds = opened - start + seconds_now() - compiled;
  loaded->search_seconds = compiled - opened;
  return loaded;
}

std::vector<int32_t> some_tokens(int64_t count, int64_t vocabulary) {
  std::vector<int32_t> tokens;
  for (int64_t k = 0; k < count; ++k) tokens.push_back(static_cast<int32_t>(3 + k * 7919 % (vocabulary - 3)));
  return tokens;
}

std::vector<int32_t> end_tokens(const std::string& config) {
  const nlohmann::json json = nlohmann::json::parse(config, nullptr, /*allow_exceptions=*/false);
  std::vector<int32_t> tokens;
  if (!json.is_object() || !json.contains("eos_token_id")) return tokens;
  const nlohmann::json& end = json["eos_token_id"];
  for (const nlohmann::json& each : end.is_array() ? end : nlohmann::json::array({end})) {
    if (each.is_number_integer()) tokens.push_back(each.get<int32_t>());
  }
  return tokens;
}

Expected<Tokenizer> need_tokenizer(const LanguageModel& model) {
  if (model.files.tokenizer()) return *model.files.tokenizer();
  return error("the model comes without a tokenizer (tokenizer.json, tokenizer.model, or a GGUF vocabulary)");
}

Expected<void> need_causal(const LanguageModel& model) {
  if (model.model.kind == models::ModelKind::causal) return {};
  return error(fmt::format("{} does not continue texts; `lumen embed` embeds them", model.model.architecture));
}

Expected<models::GenerateOptions> generate_options(const SamplingArguments& arguments) {
  models::GenerateOptions options = arguments.generate;
  for (const std::string& text : arguments.logit_bias) {
    int32_t token = 0;
    float bias = 0;
    const size_t equals = text.find('=');
    const char* const begin = text.data();
    const bool ok = equals != std::string::npos &&
                    std::from_chars(begin, begin + equals, token).ptr == begin + equals &&
                    std::from_chars(begin + equals + 1, begin + text.size(), bias).ptr == begin + text.size();
    if (!ok) return error(fmt::format("--logit-bias {}: not TOKEN=BIAS", text));
    options.sampling.logit_bias.emplace_back(token, bias);
  }
  return options;
}

std::string statistics_text(const LanguageModel& model, size_t prompt_tokens, const models::GenerateResult& result) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto after_first = static_cast<double>(result.tokens.size()) - 1;
  const double each = after_first > 0 ? result.rest_seconds / after_first : 0;
  return fmt::format(
      "load {:.2f} s, search {:.2f} s ({} kernels timed); {} prompt tokens, first token after {:.3f} s ({:.1f} "
      "tokens/s)\n"
      "{} tokens, {:.2f} ms each, {:.2f} tokens/s; weights {} MB, resident {} MB at most\n",
      model.load_seconds, model.search_seconds, model.report.measured, prompt_tokens, result.first_seconds,
      static_cast<double>(prompt_tokens) / std::max(result.first_seconds, 1e-9), result.tokens.size(), each * 1e3,
      each > 0 ? 1 / each : 0, model.files.bytes() >> 20, usage.ru_maxrss >> 10);
}

}  // namespace lumen::tools
