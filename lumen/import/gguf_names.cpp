#include "lumen/import/gguf_names.h"

#include <algorithm>
#include <array>

namespace lumen {

namespace {

struct FamilyRow {
  ModelFamily family;
  std::string_view name;
  std::string_view model_type;
};

// The first row of a family is its own; the others are model types that have the same weights.
constexpr std::array kFamilies = {
    FamilyRow{ModelFamily::llama, "llama", "llama"},         FamilyRow{ModelFamily::llama, "llama", "mistral"},
    FamilyRow{ModelFamily::qwen2, "qwen2", "qwen2"},         FamilyRow{ModelFamily::qwen3, "qwen3", "qwen3"},
    FamilyRow{ModelFamily::gemma, "gemma", "gemma"},         FamilyRow{ModelFamily::gemma2, "gemma2", "gemma2"},
    FamilyRow{ModelFamily::gemma3, "gemma3", "gemma3_text"}, FamilyRow{ModelFamily::gemma3, "gemma3", "gemma3"},
    FamilyRow{ModelFamily::mixtral, "llama", "mixtral"},     FamilyRow{ModelFamily::qwen3_moe, "qwen3moe", "qwen3_moe"},
    FamilyRow{ModelFamily::gpt_oss, "gpt-oss", "gpt_oss"},
};

// Which families have a weight.
enum class In : uint8_t {
  all,
  without_post_norms,
  with_post_norms,
  with_head_norms,
  dense,
  mixtral,
  qwen3_moe,
  gpt_oss,
  mlp_experts,
};

struct NameRow {
  std::string_view hugging_face;
  std::string_view ggml;
  In in;
};

constexpr std::array kOutside = {
    NameRow{"model.embed_tokens", "token_embd", In::all},
    NameRow{"model.norm", "output_norm", In::all},
    NameRow{"lm_head", "output", In::all},
};

constexpr std::array kOfLayer = {
    NameRow{"input_layernorm", "attn_norm", In::all},
    NameRow{"self_attn.q_proj", "attn_q", In::all},
    NameRow{"self_attn.k_proj", "attn_k", In::all},
    NameRow{"self_attn.v_proj", "attn_v", In::all},
    NameRow{"self_attn.o_proj", "attn_output", In::all},
    NameRow{"self_attn.q_norm", "attn_q_norm", In::with_head_norms},
    NameRow{"self_attn.k_norm", "attn_k_norm", In::with_head_norms},
    NameRow{"post_attention_layernorm", "ffn_norm", In::without_post_norms},
    NameRow{"post_attention_layernorm", "post_attention_norm", In::with_post_norms},
    NameRow{"pre_feedforward_layernorm", "ffn_norm", In::with_post_norms},
    NameRow{"post_feedforward_layernorm", "post_ffw_norm", In::with_post_norms},
    NameRow{"mlp.gate_proj", "ffn_gate", In::dense},
    NameRow{"mlp.up_proj", "ffn_up", In::dense},
    NameRow{"mlp.down_proj", "ffn_down", In::dense},
    NameRow{"post_attention_layernorm", "post_attention_norm", In::gpt_oss},
    NameRow{"mlp.router", "ffn_gate_inp", In::gpt_oss},
    NameRow{"mlp.gate", "ffn_gate_inp", In::qwen3_moe},
    NameRow{"mlp.experts.gate_proj", "ffn_gate_exps", In::mlp_experts},
    NameRow{"mlp.experts.up_proj", "ffn_up_exps", In::mlp_experts},
    NameRow{"mlp.experts.down_proj", "ffn_down_exps", In::mlp_experts},
    NameRow{"block_sparse_moe.gate", "ffn_gate_inp", In::mixtral},
    NameRow{"block_sparse_moe.experts.w1", "ffn_gate_exps", In::mixtral},
    NameRow{"block_sparse_moe.experts.w3", "ffn_up_exps", In::mixtral},
    NameRow{"block_sparse_moe.experts.w2", "ffn_down_exps", In::mixtral},
};

bool has(ModelFamily family, In in) {
  const bool post_norms = family == ModelFamily::gemma2 || family == ModelFamily::gemma3;
  switch (in) {
    case In::all:
      return true;
    case In::without_post_norms:
      return !post_norms && family != ModelFamily::gpt_oss;
    case In::with_post_norms:
      return post_norms;
    case In::with_head_norms:
      return family == ModelFamily::qwen3 || family == ModelFamily::gemma3 || family == ModelFamily::qwen3_moe;
    case In::dense:
      return family != ModelFamily::mixtral && family != ModelFamily::gpt_oss;
    case In::mixtral:
      return family == ModelFamily::mixtral;
    case In::qwen3_moe:
      return family == ModelFamily::qwen3_moe;
    case In::gpt_oss:
      return family == ModelFamily::gpt_oss;
    case In::mlp_experts:
      return family == ModelFamily::qwen3_moe || family == ModelFamily::gpt_oss;
  }
  return false;
}

// A name in its parts: "blk.3.ffn_up.weight" is "3", "ffn_up" and ".weight".
struct Parts {
  std::string_view layer;  // empty outside layers
  std::string_view middle;
  std::string_view suffix;
};

std::optional<Parts> parts_of(std::string_view name, std::string_view layers) {
  Parts parts;
  for (const std::string_view suffix : {".weight", ".bias"}) {
    if (name.ends_with(suffix)) parts.suffix = suffix;
  }
  if (parts.suffix.empty()) return std::nullopt;
  name.remove_suffix(parts.suffix.size());
  if (name.starts_with(layers)) {
    name.remove_prefix(layers.size());
    const size_t end = name.find('.');
    parts.layer = name.substr(0, end);
    const bool is_number =
        !parts.layer.empty() && std::ranges::all_of(parts.layer, [](char c) { return c >= '0' && c <= '9'; });
    if (end == name.npos || !is_number || (parts.layer.size() > 1 && parts.layer[0] == '0')) return std::nullopt;
    name.remove_prefix(end + 1);
  }
  parts.middle = name;
  return parts;
}

constexpr std::string_view kHuggingFaceLayers = "model.layers.", kGgmlLayers = "blk.";

std::optional<std::string> translated(ModelFamily family, std::string_view name, std::string_view from_layers,
                                      std::string_view to_layers, std::string_view NameRow::*from,
                                      std::string_view NameRow::*to) {
  const std::optional<Parts> parts = parts_of(name, from_layers);
  if (!parts) return std::nullopt;
  const auto search = [&](const auto& rows) -> std::optional<std::string> {
    for (const NameRow& row : rows) {
      if (row.*from != parts->middle || !has(family, row.in)) continue;
      std::string result;
      if (!parts->layer.empty()) result.append(to_layers).append(parts->layer).append(".");
      return result.append(row.*to).append(parts->suffix);
    }
    return std::nullopt;
  };
  return parts->layer.empty() ? search(kOutside) : search(kOfLayer);
}

const FamilyRow& row_of(ModelFamily family) { return *std::ranges::find(kFamilies, family, &FamilyRow::family); }

}  // namespace

std::string_view name(ModelFamily family) { return row_of(family).name; }

std::string_view model_type(ModelFamily family) { return row_of(family).model_type; }

std::optional<ModelFamily> parse_family(std::string_view architecture) {
  const auto found = std::ranges::find(kFamilies, architecture, &FamilyRow::name);
  return found == kFamilies.end() ? std::nullopt : std::optional(found->family);
}

std::optional<ModelFamily> family_of_model_type(std::string_view model_type) {
  const auto found = std::ranges::find(kFamilies, model_type, &FamilyRow::model_type);
  return found == kFamilies.end() ? std::nullopt : std::optional(found->family);
}

bool is_gemma(ModelFamily family) {
  return family == ModelFamily::gemma || family == ModelFamily::gemma2 || family == ModelFamily::gemma3;
}

bool has_experts(ModelFamily family) {
  return family == ModelFamily::mixtral || family == ModelFamily::qwen3_moe || family == ModelFamily::gpt_oss;
}

// Hugging Face's name of a head's sinks has no suffix.
constexpr std::string_view kSinks = ".self_attn.sinks", kGgmlSinks = ".attn_sinks.weight";

std::optional<std::string> ggml_name(ModelFamily family, std::string_view hugging_face) {
  if (family == ModelFamily::gpt_oss && hugging_face.starts_with(kHuggingFaceLayers) &&
      hugging_face.ends_with(kSinks)) {
    hugging_face.remove_prefix(kHuggingFaceLayers.size());
    hugging_face.remove_suffix(kSinks.size());
    return std::string(kGgmlLayers).append(hugging_face).append(kGgmlSinks);
  }
  return translated(family, hugging_face, kHuggingFaceLayers, kGgmlLayers, &NameRow::hugging_face, &NameRow::ggml);
}

std::optional<std::string> hugging_face_name(ModelFamily family, std::string_view ggml) {
  return translated(family, ggml, kGgmlLayers, kHuggingFaceLayers, &NameRow::ggml, &NameRow::hugging_face);
}

HeadRows head_rows(ModelFamily family, std::string_view ggml) {
  const std::optional<Parts> parts = parts_of(ggml, kGgmlLayers);
  if ((family != ModelFamily::llama && family != ModelFamily::mixtral) || !parts || parts->layer.empty())
    return HeadRows::same;
  if (parts->middle == "attn_q") return HeadRows::query;
  return parts->middle == "attn_k" ? HeadRows::key : HeadRows::same;
}

std::vector<int64_t> paired_rows(int64_t rows, int64_t heads) {
  const int64_t head = rows / heads;
  std::vector<int64_t> result;
  for (int64_t row = 0; row < rows; ++row) {
    result.push_back(row / head * head + row % 2 * (head / 2) + row % head / 2);
  }
  return result;
}

std::vector<int64_t> halved_rows(int64_t rows, int64_t heads) {
  const std::vector<int64_t> paired = paired_rows(rows, heads);
  std::vector<int64_t> result(paired.size());
  for (size_t row = 0; row < paired.size(); ++row) result[static_cast<size_t>(paired[row])] = static_cast<int64_t>(row);
  return result;
}

bool is_shifted(ModelFamily family, std::string_view ggml) { return is_gemma(family) && ggml.ends_with("norm.weight"); }

}  // namespace lumen
