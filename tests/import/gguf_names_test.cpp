#include "lumen/import/gguf_names.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lumen {
namespace {

using enum ModelFamily;

TEST(GgufNames, NothingForWhatAFamilyDoesNotHave) {
  for (const char* const unknown :
       {"", "model.layers.3", "model.layers..mlp.up_proj.weight", "model.layers.x.mlp.up_proj.weight",
        "model.layers.03.mlp.up_proj.weight", "model.layers.3.mlp.up_proj", "model.layers.3.mlp.up_proj.scale",
        "model.layers.3.self_attn.rotary_emb.inv_freq", "mlp.up_proj.weight", "model.layers.3.lm_head.weight",
        "model.layers.3.self_attn.q_norm.weight", "model.layers.3.pre_feedforward_layernorm.weight"}) {
    EXPECT_EQ(ggml_name(llama, unknown), std::nullopt) << unknown;
  }
  EXPECT_EQ(hugging_face_name(llama, "blk.0.post_ffw_norm.weight"), std::nullopt);
  EXPECT_EQ(hugging_face_name(llama, "rope_freqs.weight"), std::nullopt);
  EXPECT_EQ(family_of_model_type("mamba"), std::nullopt);
  EXPECT_EQ(parse_family("phi3"), std::nullopt);
}

TEST(GgufNames, AreThoseOfEachFamily) {
  EXPECT_EQ(ggml_name(llama, "model.embed_tokens.weight"), "token_embd.weight");
  EXPECT_EQ(ggml_name(llama, "lm_head.weight"), "output.weight");
  EXPECT_EQ(ggml_name(llama, "model.norm.weight"), "output_norm.weight");
  EXPECT_EQ(ggml_name(llama, "model.layers.12.mlp.down_proj.weight"), "blk.12.ffn_down.weight");
  EXPECT_EQ(ggml_name(qwen2, "model.layers.0.self_attn.k_proj.bias"), "blk.0.attn_k.bias");
  EXPECT_EQ(ggml_name(qwen3, "model.layers.0.self_attn.q_norm.weight"), "blk.0.attn_q_norm.weight");
  EXPECT_EQ(ggml_name(llama, "model.layers.0.post_attention_layernorm.weight"), "blk.0.ffn_norm.weight");
  EXPECT_EQ(ggml_name(gemma3, "model.layers.0.post_attention_layernorm.weight"), "blk.0.post_attention_norm.weight");
  EXPECT_EQ(ggml_name(gemma2, "model.layers.0.pre_feedforward_layernorm.weight"), "blk.0.ffn_norm.weight");
  EXPECT_EQ(hugging_face_name(gemma3, "blk.0.ffn_norm.weight"), "model.layers.0.pre_feedforward_layernorm.weight");
}

TEST(GgufNames, HaveExperts) {
  EXPECT_EQ(ggml_name(mixtral, "model.layers.3.block_sparse_moe.experts.w3.weight"), "blk.3.ffn_up_exps.weight");
  EXPECT_EQ(ggml_name(mixtral, "model.layers.3.block_sparse_moe.gate.weight"), "blk.3.ffn_gate_inp.weight");
  EXPECT_EQ(ggml_name(mixtral, "model.layers.3.mlp.up_proj.weight"), std::nullopt);
  EXPECT_EQ(ggml_name(llama, "model.layers.3.block_sparse_moe.gate.weight"), std::nullopt);
  EXPECT_EQ(ggml_name(qwen3_moe, "model.layers.3.mlp.gate.weight"), "blk.3.ffn_gate_inp.weight");
  EXPECT_EQ(ggml_name(qwen3_moe, "model.layers.3.mlp.experts.gate_proj.weight"), "blk.3.ffn_gate_exps.weight");
  EXPECT_EQ(ggml_name(gpt_oss, "model.layers.3.mlp.router.bias"), "blk.3.ffn_gate_inp.bias");
  EXPECT_EQ(ggml_name(gpt_oss, "model.layers.3.mlp.experts.down_proj.bias"), "blk.3.ffn_down_exps.bias");
  EXPECT_EQ(ggml_name(gpt_oss, "model.layers.3.post_attention_layernorm.weight"), "blk.3.post_attention_norm.weight");
  EXPECT_EQ(ggml_name(gpt_oss, "model.layers.3.self_attn.sinks"), "blk.3.attn_sinks.weight");
  EXPECT_EQ(ggml_name(qwen3, "model.layers.3.self_attn.sinks"), std::nullopt);
  EXPECT_EQ(head_rows(mixtral, "blk.0.attn_k.weight"), HeadRows::key);
  EXPECT_EQ(parse_family("gpt-oss"), gpt_oss);
  EXPECT_EQ(family_of_model_type("mixtral"), mixtral);
}

TEST(GgufNames, GoBothWays) {
  for (const ModelFamily family : {llama, qwen2, qwen3, gemma, gemma2, gemma3}) {
    EXPECT_EQ(parse_family(name(family)), family);
    EXPECT_EQ(family_of_model_type(model_type(family)), family);
    for (const char* const middle :
         {"attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down",
          "attn_q_norm", "attn_k_norm", "post_attention_norm", "post_ffw_norm"}) {
      for (const char* const suffix : {".weight", ".bias"}) {
        const std::string ggml = "blk.31." + std::string(middle) + suffix;
        const std::optional<std::string> there = hugging_face_name(family, ggml);
        if (there) {
          EXPECT_EQ(ggml_name(family, *there), ggml);
        }
      }
    }
  }
  EXPECT_EQ(family_of_model_type("mistral"), llama);
}

TEST(GgufNames, RowsOfAHeadArePairedForLlama) {
  EXPECT_EQ(head_rows(llama, "blk.0.attn_q.weight"), HeadRows::query);
  EXPECT_EQ(head_rows(llama, "blk.0.attn_k.bias"), HeadRows::key);
  EXPECT_EQ(head_rows(llama, "blk.0.attn_v.weight"), HeadRows::same);
  EXPECT_EQ(head_rows(llama, "attn_q.weight"), HeadRows::same);
  EXPECT_EQ(head_rows(qwen2, "blk.0.attn_q.weight"), HeadRows::same);
  EXPECT_EQ(paired_rows(8, 1), (std::vector<int64_t>{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(paired_rows(8, 2), (std::vector<int64_t>{0, 2, 1, 3, 4, 6, 5, 7}));
  const std::vector<int64_t> there = paired_rows(48, 3), back = halved_rows(48, 3);
  for (size_t row = 0; row < there.size(); ++row) {
    EXPECT_EQ(there[static_cast<size_t>(back[row])], static_cast<int64_t>(row));
  }
}

TEST(GgufNames, GemmasNormsAreShifted) {
  EXPECT_TRUE(is_shifted(gemma3, "blk.0.attn_q_norm.weight"));
  EXPECT_TRUE(is_shifted(gemma, "output_norm.weight"));
  EXPECT_FALSE(is_shifted(gemma, "blk.0.attn_q.weight"));
  EXPECT_FALSE(is_shifted(llama, "output_norm.weight"));
}

}  // namespace
}  // namespace lumen
