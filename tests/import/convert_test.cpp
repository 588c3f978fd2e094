#include "lumen/import/convert.h"

#include <nlohmann/json.hpp>

#include "lumen/import/gguf_vocabulary.h"
#include "lumen/import/safetensors.h"
#include "tests/import/files.h"

namespace lumen::testing {
namespace {

using Tensors = std::map<std::string, HostTensor, std::less<>>;

constexpr const char* kConfig =
    R"({"model_type":"llama","vocab_size":8,"max_position_embeddings":32,"hidden_size":4,"num_hidden_layers":1,
        "num_attention_heads":1,"intermediate_size":6,"rms_norm_eps":1e-5})";

ConvertOptions raw(std::optional<StorageType> type = {}, std::vector<std::string> keep = {}) {
  return {type, std::move(keep), true, {}};
}
ConvertOptions typed(StorageType type) { return {type, {}, false, {}}; }

class Convert : public ImportTest {
 protected:
  static HostTensor counted(DType dtype, std::vector<int64_t> dims) {
    HostTensor result{dtype, std::move(dims), {}};
    const int64_t count = count_elements(result.dims).value();
    for (int64_t k = 0; k < count; ++k) result.lanes.push_back(Scalar::of(dtype, static_cast<double>(k)).value);
    return result;
  }
  void put_model(const Tensors& tensors, const char* config = kConfig) const {
    put("config.json", config);
    ASSERT_TRUE(write_safetensors(path("model.safetensors"), tensors).ok());
  }
  Expected<ConvertReport> convert(const char* in, const char* out, ConvertOptions options = {}) const {
    return convert_weights(Weights::open(path(in)).value(), path(out), options);
  }
  // Without the path at its start.
  std::string failure(const char* in, const char* out, ConvertOptions options = {}) const {
    const Expected<ConvertReport> result = convert(in, out, std::move(options));
    return result.ok() ? "no error" : result.diag().str().substr(path("").size());
  }
  std::vector<float> values(const char* file, const char* name) const {
    const Weights weights = Weights::open(path(file)).value();
    const Weight& weight = *weights.find(name).value();
    EXPECT_EQ(weight.type_name, "f32");
    std::vector<float> result(weight.bytes.size() / 4);
    std::memcpy(result.data(), weight.bytes.data(), weight.bytes.size());
    return result;
  }
};

TEST_F(Convert, RefusesWhatItCannotTranslate) {
  ASSERT_TRUE(write_safetensors(path("a.safetensors"), Tensors{{"w", counted(DType::f32, {2, 64})}}).ok());
  EXPECT_NE(failure("a.safetensors", "a.gguf").find("config.json is missing, which says what the weights are for"),
            std::string::npos);
  EXPECT_EQ(failure("a.safetensors", "a.gguf", raw()), "no error");
  EXPECT_EQ(failure("a.gguf", "b.safetensors"), "a.gguf: no metadata \"general.architecture\"");
  EXPECT_EQ(failure("a.safetensors", "q.gguf", raw(BlockType::q8_0)), "no error");
  EXPECT_EQ(failure("q.gguf", "q.safetensors", raw()),
            "q.gguf: tensor \"w\": .safetensors cannot hold q8_0; f32, f16 and bf16 it can");
  EXPECT_EQ(convert("a.gguf", "b.gguf", raw({}, {"("})).diag().str().rfind("\"(\" is no regular expression: ", 0), 0u);
  put_model({{"model.layers.0.mlp.experts.0.up_proj.weight", counted(DType::f32, {2, 2})}});
  EXPECT_EQ(failure("", "m.gguf"),
            ": tensor \"model.layers.0.mlp.experts.0.up_proj.weight\": not a weight of llama that can be converted");
  put_model({{"model.layers.0.self_attn.q_proj.weight", counted(DType::f32, {3, 4})}});
  EXPECT_EQ(failure("", "m.gguf"),
            ": tensor \"model.layers.0.self_attn.q_proj.weight\": 3 rows are no pairs in 1 heads");
  put_model({{"lm_head.weight", tensor(DType::f32, {1, 32}, std::vector<double>(32, std::nan("")))}});
  EXPECT_EQ(failure("", "m.gguf", typed(BlockType::q4_0)),
            ": tensor \"lm_head.weight\": element 0 is nan, which q4_0 cannot hold");
  put_model({{"lm_head.weight", tensor(DType::f32, {1, 1}, {1e9})}});
  EXPECT_EQ(failure("", "m.gguf", typed(DType::f16)),
            ": tensor \"lm_head.weight\": element 0 is 1000000000, which f16 has no room for");
}

TEST_F(Convert, RefusesConfigurationsThatCannotBe) {
  const auto with = [&](const char* text) { return parse_model_config(text, "c.json").diag().str(); };
  EXPECT_EQ(with("[]"), "c.json: the configuration is not a JSON object");
  EXPECT_EQ(with(R"({"model_type":"mamba"})").rfind("c.json: model type \"mamba\" is not known; llama, mistral", 0),
            0u);
  EXPECT_EQ(with(R"({"model_type":"llama"})"), "c.json: \"vocab_size\" is missing, a size is wanted");
  EXPECT_EQ(with(R"({"model_type":"llama","vocab_size":-3})"), "c.json: \"vocab_size\" is -3, a size is wanted");
  auto config = nlohmann::json::parse(kConfig);
  config["rope_scaling"] = {{"rope_type", "yarn"}};
  EXPECT_EQ(with(config.dump().c_str()), "c.json: rope scaling \"yarn\" is not known");
  config.erase("rope_scaling");
  config["num_key_value_heads"] = 3;
  EXPECT_EQ(with(config.dump().c_str()), "c.json: 1 heads over 3 of keys and values, of width 4, cannot be");
}

TEST_F(Convert, PairsTheRowsOfHeadsAndBack) {
  const Tensors tensors{{"model.layers.0.self_attn.q_proj.weight", counted(DType::f32, {4, 2})},
                        {"model.layers.0.self_attn.v_proj.weight", counted(DType::f32, {4, 2})},
                        {"model.layers.0.self_attn.rotary_emb.inv_freq", counted(DType::f32, {2})},
                        {"model.norm.weight", counted(DType::bf16, {4})}};
  put_model(tensors);
  EXPECT_EQ(convert("", "m.gguf").value().tensors, 3u);
  EXPECT_EQ(values("m.gguf", "blk.0.attn_q.weight"), (std::vector<float>{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(values("m.gguf", "blk.0.attn_v.weight"), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(values("m.gguf", "output_norm.weight"), (std::vector<float>{0, 1, 2, 3}));  // vectors are f32
  ASSERT_TRUE(convert("m.gguf", "back").ok());
  EXPECT_EQ(values("back", "model.layers.0.self_attn.q_proj.weight"), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
  const auto config = nlohmann::json::parse(contents(path("back") + "/config.json"));
  EXPECT_EQ(config["num_key_value_heads"], 1);
  EXPECT_EQ(config["tie_word_embeddings"], true);  // there is no output matrix
}

TEST_F(Convert, ShiftsGemmasNorms) {
  std::string config = kConfig;
  config.replace(config.find("llama"), 5, "gemma");
  put_model({{"model.norm.weight", counted(DType::bf16, {4})}, {"lm_head.weight", counted(DType::bf16, {8, 4})}},
            config.c_str());
  EXPECT_EQ(convert("", "m.gguf").value().tensors, 1u);  // the output matrix is the embedding
  EXPECT_EQ(values("m.gguf", "output_norm.weight"), (std::vector<float>{1, 2, 3, 4}));
  ASSERT_TRUE(convert("m.gguf", "back").ok());
  EXPECT_EQ(values("back", "model.norm.weight"), (std::vector<float>{0, 1, 2, 3}));
}

TEST_F(Convert, StretchedRotationsAreATensor) {
  auto config = nlohmann::json::parse(kConfig);
  config["head_dim"] = 128;
  config["rope_theta"] = 500000.0;
  config["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", 32.0},
                            {"low_freq_factor", 1.0},
                            {"high_freq_factor", 4.0},
                            {"original_max_position_embeddings", 8192}};
  put_model({{"model.norm.weight", counted(DType::f32, {4})}}, config.dump().c_str());
  ASSERT_TRUE(convert("", "m.gguf").ok());
  const std::vector<float> divisors = values("m.gguf", "rope_freqs.weight");
  ASSERT_EQ(divisors.size(), 64u);
  EXPECT_EQ(divisors.front(), 1.0f);
  EXPECT_EQ(divisors.back(), 32.0f);
  EXPECT_TRUE(std::ranges::is_sorted(divisors));
}

TEST_F(Convert, TypesAreForMatricesOfWholeBlocks) {
  const Tensors tensors{{"a", counted(DType::f32, {2, 64})},
                        {"b", counted(DType::f32, {2, 33})},
                        {"c", counted(DType::f32, {64})},
                        {"d", counted(DType::i32, {2, 64})},
                        {"kept", counted(DType::f32, {2, 64})}};
  ASSERT_TRUE(write_safetensors(path("a.safetensors"), tensors).ok());
  const auto types = [&](const char* file) {
    std::string result;
    const Weights weights = Weights::open(path(file)).value();
    for (const auto& [name, weight] : weights.entries()) result += " " + weight.type_name;
    return result;
  };
  const ConvertOptions options = raw(BlockType::q4_0, {"^kep"});
  ASSERT_TRUE(convert("a.safetensors", "q.gguf", options).ok());
  EXPECT_EQ(types("q.gguf"), " q4_0 f16 f32 i32 f32");
  EXPECT_EQ(Weights::open(path("q.gguf")).value().gguf()->integer("general.file_type").value(), 0);
  ASSERT_TRUE(convert("q.gguf", "h.safetensors", raw(DType::bf16)).ok());
  EXPECT_EQ(types("h.safetensors"), " bf16 bf16 bf16 i32 bf16");
  ASSERT_TRUE(convert("a.safetensors", "h.gguf", raw(DType::f16)).ok());
  EXPECT_EQ(Weights::open(path("h.gguf")).value().gguf()->integer("general.file_type").value(), 1);
}

TEST_F(Convert, RandomModelsHaveAVocabulary) {
  std::string text = kConfig;
  text.replace(text.find("\"vocab_size\":8"), 14, "\"vocab_size\":300");
  const ModelConfig config = parse_model_config(text, "c.json").value();
  size_t seen = 0;
  ConvertOptions options;
  options.progress = [&](size_t done, size_t total) {
    EXPECT_LE(done, total);
    seen = done;
  };
  const ConvertReport report = write_random_model(config, path("r.gguf"), options, 3).value();
  EXPECT_EQ(report.tensors, 3u + 9);
  EXPECT_EQ(report.bytes, seen);
  const Gguf file = Gguf::open(path("r.gguf")).value();
  EXPECT_EQ(vocabulary_of(file).value().tokens[259 + 26],
            "\xe2\x96\x81"
            "aa");
  EXPECT_EQ(model_config_of(file).value().hidden, 6);
  const std::string first = contents(path("r.gguf"));
  ASSERT_TRUE(write_random_model(config, path("r.gguf"), options, 4).ok());
  EXPECT_NE(contents(path("r.gguf")), first);
}

}  // namespace
}  // namespace lumen::testing
