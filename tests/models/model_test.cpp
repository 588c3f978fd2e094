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
  expect_round_trip(
      *build_model(tiny_config(), {.batch = 2, .all_logits = true, .paging = nn::Paging{4, 9}}).value().graph,
      hlir_ops());
}

// Old files say the same as new ones.
TEST(Model, rope_of_old_and_new_files) {
  const Model old =
      build_model(tiny_config(R"({"rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 2}})")).value();
  const Model now =
      build_model(tiny_config(R"({"rope_parameters": {"rope_type": "linear", "factor": 2, "rope_theta": 500.0}})"))
          .value();
  EXPECT_TRUE(old.graph->equals(*now.graph));
  EXPECT_FALSE(old.graph->equals(*build_model(tiny_config()).value().graph));
}

int attention_kernels(const std::string& config, const ModelOptions& options) {
  CompileOptions compiling;
  compiling.fusion = FusionPolicy::always;
  compiling.measure = compiling.verify = false;
  const Compiled compiled = compile_for_cpu(*build_model(config, options).value().graph, compiling);
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
}

}  // namespace
}  // namespace lumen::models
