#include "models/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "models/architectures.h"
#include "models/bert.h"

namespace lumen::models {

namespace {

struct CausalArchitecture {
  std::string_view name;
  Expected<CausalSettings> (*read)(const Config&);
};

constexpr std::array kCausal = {
    CausalArchitecture{"LlamaForCausalLM", read_llama},        CausalArchitecture{"MistralForCausalLM", read_mistral},
    CausalArchitecture{"Qwen2ForCausalLM", read_qwen2},        CausalArchitecture{"Qwen3ForCausalLM", read_qwen3},
    CausalArchitecture{"Phi3ForCausalLM", read_phi3},          CausalArchitecture{"Gemma2ForCausalLM", read_gemma2},
    CausalArchitecture{"Gemma3ForCausalLM", read_gemma3},      CausalArchitecture{"Gemma4ForCausalLM", read_gemma4},
    CausalArchitecture{"GPT2LMHeadModel", read_gpt2},          CausalArchitecture{"MixtralForCausalLM", read_mixtral},
    CausalArchitecture{"Qwen3MoeForCausalLM", read_qwen3_moe}, CausalArchitecture{"GptOssForCausalLM", read_gpt_oss},
};
constexpr std::string_view kBert = "BertModel";

constexpr std::array kDtypes = {std::pair{std::string_view("float32"), f32},
                                std::pair{std::string_view("bfloat16"), bf16},
                                std::pair{std::string_view("float16"), f16}};

Expected<DType> read_dtype(const Config& config) {
  const std::string_view key = config.has("dtype") ? "dtype" : "torch_dtype";
  const std::string name = LUMEN_TRY(config.string(key, "float32"));
  for (const auto& [known, dtype] : kDtypes) {
    if (known == name) return dtype;
  }
  return config.problem(key, fmt::format("is \"{}\"; supported are float32, bfloat16, float16", name));
}

// Files that do not name an architecture say the type.
constexpr std::array kTypes = {
    std::pair{std::string_view("llama"), std::string_view("LlamaForCausalLM")},
    std::pair{std::string_view("mistral"), std::string_view("MistralForCausalLM")},
    std::pair{std::string_view("qwen2"), std::string_view("Qwen2ForCausalLM")},
    std::pair{std::string_view("qwen3"), std::string_view("Qwen3ForCausalLM")},
    std::pair{std::string_view("gemma2"), std::string_view("Gemma2ForCausalLM")},
    std::pair{std::string_view("gemma3_text"), std::string_view("Gemma3ForCausalLM")},
    std::pair{std::string_view("mixtral"), std::string_view("MixtralForCausalLM")},
    std::pair{std::string_view("qwen3_moe"), std::string_view("Qwen3MoeForCausalLM")},
    std::pair{std::string_view("gpt_oss"), std::string_view("GptOssForCausalLM")},
};

Expected<std::string> read_architecture(const Config& config) {
  if (!config.has("architectures") && config.has("model_type")) {
    const std::string type = LUMEN_TRY(config.string("model_type"));
    for (const auto& [known, architecture] : kTypes) {
      if (known == type) return std::string(architecture);
    }
  }
  const std::vector<std::string> names = LUMEN_TRY(config.strings("architectures"));
  if (names.size() == 1) return names[0];
  return config.problem("architectures", fmt::format("must name one, got {}", names.size()));
}

// Positions that a model was made for; the limit is hard where each has an embedding.
struct Positions {
  int64_t most = 0;
  bool hard = false;
};

// The choices with what was left open, where they make sense.
Expected<ModelOptions> settle(ModelOptions options, const Positions& positions, DType dtype) {
  if (!options.dtype) options.dtype = dtype;
  if (*options.dtype != f32 && *options.dtype != bf16 && *options.dtype != f16) {
    return error(fmt::format("a model is computed in f32, bf16 or f16, not {}", name(*options.dtype)));
  }
  if (options.max_context == 0) options.max_context = positions.most;
  if (options.batch < 1) return error(fmt::format("a batch of {} sequences", options.batch));
  if (options.max_context < 1 || (positions.hard && options.max_context > positions.most)) {
    return error(fmt::format("max_context is {}; the model has {} positions", options.max_context, positions.most));
  }
  if (options.max_step < 1) return error(fmt::format("max_step is {}", options.max_step));
  options.max_step = std::min(options.max_step, options.max_context);
  if (options.candidates < 0) return error(fmt::format("candidates is {}", options.candidates));
  if (options.paging && (options.paging->page < 1 || options.paging->pages < options.batch)) {
    return error(fmt::format("{} pages of {} positions for {} sequences", options.paging->pages, options.paging->page,
                             options.batch));
  }
  return options;
}

void follow_file(CausalSettings& settings, const ModelOptions& options) {
  const auto whole = [&](nn::NormSettings& norm) {
    if (options.whole_norms && norm.kind == nn::NormKind::rms_from_one) norm.kind = nn::NormKind::rms;
  };
  whole(settings.norm);
  for (LayerSettings& layer : settings.layers) {
    if (layer.attention.qk_norm) whole(*layer.attention.qk_norm);
    if (options.paired_rows && layer.attention.rope) layer.attention.rope->layout = RopeLayout::interleaved;
  }
}

Expected<Model> build_causal_model(const Config& config, const CausalArchitecture& architecture,
                                   const ModelOptions& options) {
  CausalSettings settings = LUMEN_TRY(architecture.read(config));
  follow_file(settings, options);
  const DType dtype = LUMEN_TRY(read_dtype(config));
  const Positions positions{settings.max_positions, !settings.names.positions.empty()};
  ModelOptions settled = LUMEN_TRY(settle(options, positions, dtype));
  settled.candidates = std::min(settled.candidates, settings.vocabulary);
  Model model{std::make_shared<Graph>(), std::string(architecture.name), ModelKind::causal, settled,
              settings.vocabulary};
  build_causal(*model.graph, settings, model.options, *model.options.dtype);
  return model;
}

Expected<Model> build_encoder_model(const Config& config, const ModelOptions& options) {
  const BertSettings settings = LUMEN_TRY(read_bert(config));
  const DType dtype = LUMEN_TRY(read_dtype(config));
  const ModelOptions settled = LUMEN_TRY(settle(options, {settings.max_positions, true}, dtype));
  Model model{std::make_shared<Graph>(), std::string(kBert), ModelKind::encoder, settled, settings.vocabulary};
  build_bert(*model.graph, settings, model.options, *model.options.dtype);
  return model;
}

}  // namespace

std::vector<std::string_view> supported_architectures() {
  std::vector<std::string_view> names;
  for (const CausalArchitecture& each : kCausal) names.push_back(each.name);
  names.push_back(kBert);
  return names;
}

Expected<Model> build_model(std::string_view text, const ModelOptions& options) try {
  const Config config = LUMEN_TRY(Config::parse(text));
  const std::string name = LUMEN_TRY(read_architecture(config));
  for (const CausalArchitecture& each : kCausal) {
    if (each.name == name) return build_causal_model(config, each, options);
  }
  if (name == kBert) return build_encoder_model(config, options);
  return config.problem("architectures",
                        fmt::format("is \"{}\"; supported are {}", name, fmt::join(supported_architectures(), ", ")));
} catch (const Error& problem) {
  // What the frontend refuses: sizes that do not fit each other.
  return Diag(problem.diag()).note("while building the graph of config.json");
}

}  // namespace lumen::models
