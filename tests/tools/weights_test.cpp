#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

constexpr const char* kConfig =
    R"({"model_type":"llama","vocab_size":320,"max_position_embeddings":64,"hidden_size":64,"num_hidden_layers":1,
        "num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":96,"rms_norm_eps":1e-5})";

struct Model {
  TemporaryFolder folder;
  Model() {
    folder.write("config.json", kConfig);
    const Finished made =
        run({"convert", "--random-weights", "config.json", "a.gguf", "--type", "q8_0", "--seed", "5"});
    EXPECT_EQ(made.out, "a.gguf: 12 tensors, 76928 bytes\n") << made.err;
  }
  Finished run(const std::vector<std::string>& arguments) const { return run_lumen(arguments, folder.path()); }
};

TEST(Inspect, ListsMetadataTensorsAndTypes) {
  const Model model;
  const Finished listed = model.run({"inspect", "a.gguf"});
  EXPECT_EQ(listed.status, 0) << listed.err;
  for (const char* const line :
       {"a.gguf: GGUF version 3\nmetadata\n", "\n  general.architecture                    string    \"llama\"\n",
        "\n  llama.attention.layer_norm_rms_epsilon  f32       1e-05\n",
        "\n  tokenizer.ggml.token_type               [i32]     [2,3,3,6,6,6,…] (320 values)\n",
        "\n  blk.0.attn_k.weight       q8_0     2.18 kB  [32,64]\n",
        "\n  f32           3 tensors             192 elements      768 B\n",
        "\ntotal: 12 tensors, 71872 elements, 76.9 kB\n"}) {
    EXPECT_NE(listed.out.find(line), std::string::npos) << line << listed.out;
  }
}

TEST(Inspect, ShowsValues) {
  const Model model;
  const Finished norm = model.run({"inspect", "a.gguf", "--tensor", "output_norm.weight", "--count", "3"});
  EXPECT_TRUE(norm.out.starts_with("output_norm.weight: f32[64], 256 B\n")) << norm.out << norm.err;
  EXPECT_TRUE(norm.out.ends_with("\n1 1 1\n… 61 more (--count)\n")) << norm.out;
  const Finished all = model.run({"inspect", "a.gguf", "--tensor", "token_embd.weight", "--count", "-1", "--json"});
  const auto shown = nlohmann::json::parse(all.out);
  EXPECT_EQ(shown["type"], "q8_0");
  EXPECT_EQ(shown["values"].size(), 320u * 64);
  const Finished wrong = model.run({"inspect", "a.gguf", "--tensor", "output_norm.wait"});
  EXPECT_EQ(wrong.err, "lumen: a.gguf: no tensor \"output_norm.wait\"; did you mean \"output_norm.weight\"?\n");
}

TEST(Inspect, JsonHasEverything) {
  const Model model;
  const auto shown = nlohmann::json::parse(model.run({"inspect", "a.gguf", "--json"}).out);
  EXPECT_EQ(shown["format"], "gguf");
  EXPECT_EQ(shown["metadata"]["llama.block_count"], 1);
  EXPECT_EQ(shown["metadata"]["tokenizer.ggml.tokens"].size(), 320u);
  EXPECT_EQ(shown["tensors"].size(), 12u);
  EXPECT_EQ(shown["tensors"][0]["name"], "blk.0.attn_k.weight");
  EXPECT_EQ(shown["tensors"][0]["dims"], (std::vector<int>{32, 64}));
  EXPECT_EQ(shown["bytes"], 76928);
}

TEST(Convert, ToAFolderAndBack) {
  const Model model;
  EXPECT_EQ(model.run({"convert", "a.gguf", "folder"}).err,
            "lumen: a.gguf: tensor \"blk.0.attn_k.weight\": .safetensors cannot hold q8_0; f32, f16 and bf16 it can\n");
  EXPECT_EQ(model.run({"convert", "a.gguf", "folder", "--type", "f32"}).out, "folder: 12 tensors, 287488 bytes\n");
  EXPECT_EQ(model.run({"convert", "folder", "b.gguf", "--type", "q8_0"}).out, "b.gguf: 12 tensors, 76928 bytes\n");
  const Finished before = model.run({"inspect", "a.gguf", "--tensor", "blk.0.attn_q.weight", "--count", "-1"});
  const Finished after = model.run({"inspect", "b.gguf", "--tensor", "blk.0.attn_q.weight", "--count", "-1"});
  EXPECT_EQ(before.out, after.out);
  const Finished kept = model.run({"convert", "folder", "c.gguf", "--type", "q4_0", "--keep", "token_embd|output"});
  EXPECT_EQ(kept.status, 0) << kept.err;
  const std::string listed = model.run({"inspect", "c.gguf"}).out;
  EXPECT_NE(listed.find("\n  token_embd.weight         f32 "), std::string::npos) << listed;
  EXPECT_NE(listed.find("\n  blk.0.ffn_up.weight       q4_0 "), std::string::npos) << listed;
}

}  // namespace
}  // namespace lumen::tests
