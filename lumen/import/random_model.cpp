#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "lumen/base/hash.h"
#include "lumen/import/convert_plan.h"
#include "lumen/import/values.h"
#include "lumen/ir/random_tensor.h"

namespace lumen {

namespace {

struct NamedDims {
  std::string name;
  std::vector<int64_t> dims;
};

std::vector<NamedDims> layer_weights(const ModelConfig& c, int64_t layer) {
  const int64_t queries = c.heads * c.head, keys = c.key_value_heads * c.head;
  std::vector<NamedDims> result{{"attn_norm.weight", {c.width}},
                                {"attn_q.weight", {queries, c.width}},
                                {"attn_k.weight", {keys, c.width}},
                                {"attn_v.weight", {keys, c.width}},
                                {"attn_output.weight", {c.width, queries}},
                                {"ffn_norm.weight", {c.width}},
                                {"ffn_gate.weight", {c.hidden, c.width}},
                                {"ffn_up.weight", {c.hidden, c.width}},
                                {"ffn_down.weight", {c.width, c.hidden}}};
  if (c.family == ModelFamily::qwen2) {
    for (const char* const each : {"q", "k", "v"}) {
      result.push_back({fmt::format("attn_{}.bias", each), {each[0] == 'q' ? queries : keys}});
    }
  }
  if (c.family == ModelFamily::qwen3 || c.family == ModelFamily::gemma3) {
    result.push_back({"attn_q_norm.weight", {c.head}});
    result.push_back({"attn_k_norm.weight", {c.head}});
  }
  if (c.family == ModelFamily::gemma2 || c.family == ModelFamily::gemma3) {
    result.push_back({"post_attention_norm.weight", {c.width}});
    result.push_back({"post_ffw_norm.weight", {c.width}});
  }
  for (NamedDims& each : result) each.name = fmt::format("blk.{}.{}", layer, each.name);
  return result;
}

std::vector<NamedDims> model_weights(const ModelConfig& c) {
  std::vector<NamedDims> result{{"token_embd.weight", {c.vocabulary, c.width}}, {"output_norm.weight", {c.width}}};
  if (!c.tied) result.push_back({"output.weight", {c.vocabulary, c.width}});
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    for (NamedDims& each : layer_weights(c, layer)) result.push_back(std::move(each));
  }
  return result;
}

// Matrices whose products keep the size of what they multiply; norms of 1.
Expected<std::vector<std::byte>> random_bytes(const NamedDims& about, const StorageType& type, int64_t seed) {
  const auto count = static_cast<size_t>(count_elements(about.dims).value_or(0));
  std::vector<float> values(count, 1.0f);
  if (about.dims.size() > 1) {
    const auto own = static_cast<int64_t>(Hasher().add(seed).add(about.name).value());
    fill_random(DType::f32, std::as_writable_bytes(std::span(values)), own,
                1 / std::sqrt(static_cast<double>(about.dims.back())));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(stored_bytes(type, about.dims).value_or(0)));
  LUMEN_TRY(store_values(type, values, bytes));
  return bytes;
}

// Unknown, begin, end, the 256 bytes, and then words that are numbers in letters.
std::string made_up_token(int64_t id) {
  if (id < 3) return id == 0 ? "<unk>" : id == 1 ? "<s>" : "</s>";
  if (id < 259) return fmt::format("<0x{:02X}>", id - 3);
  std::string word = "\xe2\x96\x81";  // U+2581, a space
  for (int64_t rest = id - 259; rest >= 0; rest = rest / 26 - 1) word += static_cast<char>('a' + rest % 26);
  return word;
}

void add_vocabulary(int64_t size, GgufMetadata& metadata) {
  GgufValue::Strings tokens;
  GgufValue::Floats scores;
  GgufValue::Integers types;
  for (int64_t id = 0; id < size; ++id) {
    tokens.push_back(made_up_token(id));
    scores.push_back(id < 259 ? 0.0 : static_cast<double>(259 - id));
    types.push_back(id == 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 1);
  }
  metadata["tokenizer.ggml.model"] = GgufValue::of_string("llama");
  metadata["tokenizer.ggml.tokens"] = GgufValue::of_array(GgufType::string, std::move(tokens));
  metadata["tokenizer.ggml.scores"] = GgufValue::of_array(GgufType::f32, std::move(scores));
  metadata["tokenizer.ggml.token_type"] = GgufValue::of_array(GgufType::i32, std::move(types));
  metadata["tokenizer.ggml.bos_token_id"] = GgufValue::of_u32(1);
  metadata["tokenizer.ggml.eos_token_id"] = GgufValue::of_u32(2);
  metadata["tokenizer.ggml.unknown_token_id"] = GgufValue::of_u32(0);
}

}  // namespace

Expected<ConvertReport> write_random_model(const ModelConfig& config, const std::string& out,
                                           const ConvertOptions& options, int64_t seed) {
  const std::vector<std::regex> keep = LUMEN_TRY(compile_expressions(options.keep));
  std::vector<TensorToWrite> tensors;
  size_t total = 0, done = 0;
  for (const NamedDims& about : model_weights(config)) {
    const StorageType type = target_type(DType::f32, about.dims, about.name, true, options, keep);
    tensors.push_back({about.name, type, about.dims, [about, type, seed] { return random_bytes(about, type, seed); }});
    total += static_cast<size_t>(stored_bytes(type, about.dims).value_or(0));
  }
  GgufMetadata metadata = metadata_of(config);
  metadata["general.name"] = GgufValue::of_string(fmt::format("random weights, seed {}", seed));
  add_vocabulary(config.vocabulary, metadata);
  describe_types(tensors, metadata);
  const size_t count = tensors.size();
  LUMEN_TRY(write_gguf(out, metadata, std::move(tensors), [&](size_t bytes) {
    done += bytes;
    if (options.progress) options.progress(done, total);
  }));
  return ConvertReport{count, total};
}

}  // namespace lumen
