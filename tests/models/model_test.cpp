#include "models/model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lumen/codegen/attention.h"
#include "lumen/compile.h"
#include "lumen/hlir/ops.h"
#include "nn/scope.h"
#include "tests/models/tiny.h"
#include "tests/support/round_trip.h"

namespace lumen::models {
namespace {

TEST(Model, parameters_have_the_names_of_weight_files) {
  const Model model = build_model(tiny_config(R"({"num_hidden_layers": 1})"), {.dtype = bf16}).value();
  std::vector<std::string> listed;
  for (const nn::Parameter& each : nn::parameters(*model.graph)) listed.push_back(each.name + " " + each.type.str());
  std::sort(listed.begin(), listed.end());
  EXPECT_EQ(
      listed,
      (std::vector<std::string>{
          "lm_head.weight bf16[11,8]", "model.embed_tokens.weight bf16[11,8]",
          "model.layers.0.input_layernorm.weight bf16[8]", "model.layers.0.mlp.down_proj.weight bf16[8,12]",
          "model.layers.0.mlp.gate_proj.weight bf16[12,8]", "model.layers.0.mlp.up_proj.weight bf16[12,8]",
          "model.layers.0.post_attention_layernorm.weight bf16[8]", "model.layers.0.self_attn.k_proj.weight bf16[4,8]",
          "model.layers.0.self_attn.o_proj.weight bf16[8,8]", "model.layers.0.self_attn.q_proj.weight bf16[8,8]",
          "model.layers.0.self_attn.v_proj.weight bf16[4,8]", "model.norm.weight bf16[8]"}));
}

TEST(Model, a_tied_head_has_no_parameter) {
  const Model model = build_model(tiny_config(R"({"tie_word_embeddings": true})")).value();
  EXPECT_FALSE(model.graph->find_input("lm_head.weight").has_value());
}

TEST(Model, options_are_filled_in) {
  const Model model = build_model(tiny_config(R"({"torch_dtype": "bfloat16"})")).value();
  EXPECT_EQ(model.options.dtype, bf16);
  EXPECT_EQ(model.options.max_context, 256);
  EXPECT_EQ(model.options.max_step, 256);
  EXPECT_EQ(model.vocabulary, 11);
}

TEST(Model, graphs_round_trip) {
  expect_round_trip(*build_model(tiny_config()).value().graph, hlir_ops());
  expect_round_trip(*build_model(tiny_config(R"({"vocab_size": 2000})"), {.candidates = 64}).value().graph, hlir_ops());
  expect_round_trip(
      *build_model(tiny_config(), {.batch = 2, .all_logits = true, .paging = nn::Paging{4, 9}}).value().graph,
      hlir_ops());
}

// Two spellings of one configuration.
struct Spellings {
  const char* older;
  const char* newer;
};

TEST(Model, older_files_say_the_same_as_newer_ones) {
  const Spellings all[] = {
      {R"({"rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 2}})",
       R"({"rope_parameters": {"rope_type": "linear", "factor": 2, "rope_theta": 500.0}})"},
      {R"({"architectures": ["Phi3ForCausalLM"], "original_max_position_embeddings": 64,
           "rope_scaling": {"type": "su", "short_factor": [1, 2], "long_factor": [3, 4]}})",
       R"({"architectures": ["Phi3ForCausalLM"],
           "rope_parameters": {"rope_type": "longrope", "short_factor": [1, 2], "long_factor": [3, 4], "factor": 4,
                               "original_max_position_embeddings": 64}})"},
      {R"({"architectures": ["Gemma3ForCausalLM"], "head_dim": 4, "sliding_window": 3, "sliding_window_pattern": 2,
           "rope_theta": 5000.0, "rope_local_base_freq": 70.0, "rope_scaling": {"rope_type": "linear", "factor": 8}})",
       R"({"architectures": ["Gemma3ForCausalLM"], "head_dim": 4, "sliding_window": 3,
           "layer_types": ["sliding_attention", "full_attention"],
           "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 70.0},
                               "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 5000.0}}})"},
      {R"({"architectures": ["Gemma4ForCausalLM"], "head_dim": 4, "sliding_window": 3, "global_head_dim": 8,
           "rope_parameters": {"full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25}},
           "layer_types": ["sliding_attention", "full_attention"]})",
       R"({"architectures": ["Gemma4ForCausalLM"], "head_dim": 4, "sliding_window": 3,
           "layer_types": ["sliding_attention", "full_attention"], "per_layer_config": {"1": {"head_dim": 8}},
           "rope_parameters": {"full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25}}})"},
      {R"({"architectures": ["Qwen3MoeForCausalLM"], "num_experts": 3, "num_experts_per_tok": 2,
           "moe_intermediate_size": 4})",
       R"({"architectures": ["Qwen3MoeForCausalLM"], "num_local_experts": 3, "num_experts_per_tok": 2,
           "moe_intermediate_size": 4})"}};
  for (const Spellings& each : all) {
    const Model older = build_model(tiny_config(each.older)).value();
    const Model newer = build_model(tiny_config(each.newer)).value();
    EXPECT_TRUE(older.graph->equals(*newer.graph)) << each.older;
    expect_round_trip(*older.graph, hlir_ops());
  }
}

int attention_kernels(const std::string& config, const ModelOptions& options) {
  CompileOptions compiling;
  compiling.fusion = FusionPolicy::always;
  compiling.measure = compiling.verify = false;
  const Compiled compiled = compile_program(*build_model(config, options).value().graph, compiling);
  const Program& program = compiled.variants[0].binary.program;
  int found = 0;
  for (const ProgramCall& call : program.calls) {
    found += is_attention_schedule(program.kernels[static_cast<size_t>(call.kernel)].schedule);
  }
  return found;
}

TEST(Model, attention_is_one_streaming_kernel_of_each_layer) {
  EXPECT_EQ(attention_kernels(tiny_config(), {.max_context = 64}), 2);
  EXPECT_EQ(attention_kernels(tiny_config(), {.max_context = 64, .paging = nn::Paging{16, 4}}), 2);
  EXPECT_EQ(attention_kernels(tiny_config(R"({"architectures": ["MistralForCausalLM"], "sliding_window": 5})"),
                              {.max_context = 64, .dtype = bf16}),
            2);
  EXPECT_EQ(attention_kernels(tiny_config(R"({"architectures": ["Gemma2ForCausalLM"], "head_dim": 4,
                                              "attn_logit_softcapping": 50.0})"),
                              {.max_context = 64}),
            2);
  EXPECT_EQ(attention_kernels(tiny_config(R"({"architectures": ["GptOssForCausalLM"], "head_dim": 4,
                                              "num_local_experts": 3, "num_experts_per_tok": 2,
                                              "rope_parameters": {"rope_type": "default"}})"),
                              {.max_context = 64}),
            2);
}

}  // namespace
}  // namespace lumen::models
