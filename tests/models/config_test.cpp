// What build_model refuses, with its exact words.
#include <gtest/gtest.h>

#include "models/model.h"
#include "tests/models/tiny.h"

namespace lumen::models {
namespace {

std::string refusal(const std::string& config, const ModelOptions& options = {}) {
  const Expected<Model> model = build_model(config, options);
  return model.ok() ? "" : model.diag().str();
}

TEST(BuildModel, refuses_what_is_no_config) {
  EXPECT_EQ(refusal(""), "config.json: not a JSON object");
  EXPECT_EQ(refusal("[1]"), "config.json: not a JSON object");
  EXPECT_EQ(refusal("{}"), "config.json: \"architectures\" is missing");
  EXPECT_EQ(refusal(R"({"architectures": []})"), "config.json: \"architectures\" must name one, got 0");
  EXPECT_EQ(refusal(R"({"architectures": [3]})"), "config.json: \"architectures\" must be a list of strings, got [3]");
}

TEST(BuildModel, lists_what_it_supports) {
  EXPECT_EQ(
      refusal(R"({"architectures": ["OPTForCausalLM"]})"),
      "config.json: \"architectures\" is \"OPTForCausalLM\"; supported are LlamaForCausalLM, MistralForCausalLM, "
      "Qwen2ForCausalLM, Qwen3ForCausalLM, Phi3ForCausalLM, Gemma2ForCausalLM, Gemma3ForCausalLM, "
      "Gemma4ForCausalLM, GPT2LMHeadModel, MixtralForCausalLM, Qwen3MoeForCausalLM, GptOssForCausalLM, BertModel");
}

TEST(BuildModel, names_the_key) {
  EXPECT_EQ(refusal(tiny_config(R"({"hidden_size": null})")), "config.json: \"hidden_size\" is missing");
  EXPECT_EQ(refusal(tiny_config(R"({"hidden_size": "8"})")),
            "config.json: \"hidden_size\" must be an integer, got \"8\"");
  EXPECT_EQ(refusal(tiny_config(R"({"hidden_size": 8.5})")),
            "config.json: \"hidden_size\" must be an integer, got 8.5");
  EXPECT_EQ(refusal(tiny_config(R"({"hidden_size": -8})")),
            "config.json: \"hidden_size\" must be from 1 to 1048576, got -8");
  EXPECT_EQ(refusal(tiny_config(R"({"num_hidden_layers": 5000})")),
            "config.json: \"num_hidden_layers\" must be from 1 to 1024, got 5000");
  EXPECT_EQ(refusal(tiny_config(R"({"num_key_value_heads": 3, "num_attention_heads": 4})")),
            "config.json: \"num_key_value_heads\" 3 does not divide num_attention_heads 4");
  EXPECT_EQ(refusal(tiny_config(R"({"tie_word_embeddings": 1})")),
            "config.json: \"tie_word_embeddings\" must be true or false, got 1");
  EXPECT_EQ(refusal(tiny_config(R"({"hidden_act": "quick_gelu"})")),
            "config.json: \"hidden_act\" is \"quick_gelu\"; supported are silu, swish, gelu, gelu_new, gelu_fast, "
            "gelu_pytorch_tanh, relu, tanh");
  EXPECT_EQ(refusal(tiny_config(R"({"torch_dtype": "float64"})")),
            "config.json: \"torch_dtype\" is \"float64\"; supported are float32, bfloat16, float16");
}

TEST(BuildModel, names_keys_of_rope) {
  EXPECT_EQ(refusal(tiny_config(R"({"rope_scaling": {"rope_type": "3d"}})")),
            "config.json: \"rope_scaling.rope_type\" is \"3d\"; supported are default, linear, dynamic, llama3, "
            "longrope, su, yarn, proportional");
  EXPECT_EQ(refusal(tiny_config(R"({"rope_parameters": {"rope_type": "llama3", "factor": 8}})")),
            "config.json: \"rope_parameters.low_freq_factor\" is missing");
  EXPECT_EQ(
      refusal(tiny_config(R"({"rope_scaling": {"type": "longrope", "short_factor": [1], "long_factor": [1, 2]}})")),
      "config.json: \"rope_scaling.short_factor\" must have 2 factors, one for each pair that is rotated, got 1");
  EXPECT_EQ(refusal(tiny_config(R"({"partial_rotary_factor": 0.3})")),
            "config.json: \"partial_rotary_factor\" 0.3 of a head of 4 is no even number of elements");
}

TEST(BuildModel, refuses_what_it_would_compute_wrongly) {
  EXPECT_EQ(refusal(tiny_config(R"({"architectures": ["Gemma4ForCausalLM"], "hidden_size_per_layer_input": 256})")),
            "config.json: \"hidden_size_per_layer_input\" other than 0 is not supported");
  EXPECT_EQ(refusal(tiny_config(R"({"architectures": ["Gemma4ForCausalLM"]})")),
            "config.json: \"rope_parameters\" is missing");
  const std::string oss = R"({"architectures": ["GptOssForCausalLM"], "num_local_experts": 4, "rope_scaling": {},
                             "quantization_config": )";
  EXPECT_EQ(refusal(tiny_config(oss + R"({"quant_method": "gptq"}})")),
            "config.json: \"quantization_config.quant_method\" is \"gptq\"; supported is mxfp4");
  EXPECT_EQ(refusal(tiny_config(oss + R"({"quant_method": "mxfp4"}})")),
            "config.json: \"quantization_config\" needs blocks of 32: hidden_size is 8, intermediate_size 12");
  EXPECT_EQ(refusal(tiny_config(R"({"architectures": ["Gemma3ForCausalLM"], "layer_types": ["linear_attention"]})")),
            "config.json: \"layer_types\" has \"linear_attention\"; supported are full_attention, sliding_attention");
}

TEST(BuildModel, refuses_options) {
  EXPECT_EQ(refusal(tiny_config(), {.batch = 0}), "a batch of 0 sequences");
  EXPECT_EQ(refusal(tiny_config(), {.dtype = f64}), "a model is computed in f32, bf16 or f16, not f64");
  EXPECT_EQ(refusal(tiny_config(), {.max_context = -1}), "max_context is -1; the model has 256 positions");
  EXPECT_EQ(refusal(tiny_config(), {.batch = 3, .paging = nn::Paging{16, 2}}),
            "2 pages of 16 positions for 3 sequences");
}

}  // namespace
}  // namespace lumen::models
