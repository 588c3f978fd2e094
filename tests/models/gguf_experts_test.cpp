// Models with experts as GGUF has them, beside the same weights under Hugging Face's names.
#include <gtest/gtest.h>

#include <cstring>

#include "lumen/import/model_config.h"
#include "lumen/ir/random_tensor.h"
#include "models/model_files.h"
#include "nn/scope.h"
#include "tests/models/tiny.h"
#include "tests/support/scratch_dir.h"

namespace lumen::models {
namespace {

using tests::ScratchDir;

struct Family {
  ModelFamily family;
  const char* changes;  // of tiny_config()
};

const Family kFamilies[] = {
    {ModelFamily::mixtral,
     R"({"architectures": ["MixtralForCausalLM"], "num_local_experts": 3, "num_experts_per_tok": 2})"},
    {ModelFamily::qwen3_moe,
     R"({"architectures": ["Qwen3MoeForCausalLM"], "num_experts": 3, "num_experts_per_tok": 2, "head_dim": 4,
         "moe_intermediate_size": 6, "norm_topk_prob": true})"},
    {ModelFamily::gpt_oss,
     R"({"architectures": ["GptOssForCausalLM"], "num_local_experts": 3, "num_experts_per_tok": 2, "head_dim": 4,
         "sliding_window": 3, "rope_scaling": {"rope_type": "yarn", "factor": 4, "truncate": false,
         "original_max_position_embeddings": 64}})"},
};

// What metadata says of tiny_config() with those changes.
ModelConfig sizes(ModelFamily family) {
  ModelConfig config;
  config.family = family;
  config.vocabulary = 11;
  config.context = 256;
  config.width = 8;
  config.layers = 2;
  config.heads = 2;
  config.key_value_heads = 1;
  config.head = 4;
  config.hidden = 12;
  config.epsilon = 1e-6;
  config.experts = 3;
  config.experts_per_token = 2;
  config.expert_hidden = family == ModelFamily::qwen3_moe ? 6 : 12;
  if (family == ModelFamily::gpt_oss) {
    config.sliding_window = 3;
    config.rope_yarn = RopeYarn{4, 64};
  }
  return config;
}

HostTensor value_of(const nn::Parameter& parameter) {
  return random_tensor(f32, parameter.type.shape.evaluate({}).value(), parameter.name, 3, ValueRange{-0.5, 0.5});
}

TensorToWrite written(const std::string& name, const HostTensor& tensor) {
  std::vector<std::byte> bytes(tensor.lanes.size() * sizeof(float));
  pack(f32, tensor.lanes, bytes);
  return {name, f32, tensor.dims, [bytes] { return bytes; }};
}

// Of each line of `length` elements, line number order[k] as line k.
HostTensor reordered(const HostTensor& from, std::span<const int64_t> order, size_t length) {
  HostTensor to = from;
  for (size_t k = 0; k < order.size(); ++k) {
    const auto first = from.lanes.begin() + order[k] * static_cast<ptrdiff_t>(length);
    std::copy_n(first, length, to.lanes.begin() + static_cast<ptrdiff_t>(k * length));
  }
  return to;
}

// [experts, in, out] as [experts, out, in], every `step`-th column from `first` on.
HostTensor transposed(const HostTensor& from, int64_t first, int64_t step) {
  const int64_t experts = from.dims[0], in = from.dims[1], out = from.dims[2];
  HostTensor to = HostTensor::poisoned(f32, {experts, out / step, in});
  size_t next = 0;
  for (int64_t e = 0; e < experts; ++e) {
    for (int64_t column = first; column < out; column += step) {
      for (int64_t row = 0; row < in; ++row) {
        to.lanes[next++] = from.lanes[static_cast<size_t>((e * in + row) * out + column)];
      }
    }
  }
  return to;
}

// gpt-oss: gates and ups take turns in Hugging Face's files, and a weight has its inputs as rows.
bool add_gpt_oss(const nn::Parameter& parameter, std::vector<TensorToWrite>& tensors) {
  const size_t at = parameter.name.find(".mlp.experts.");
  if (at == std::string::npos) return false;
  const std::string blk = "blk." + parameter.name.substr(std::strlen("model.layers."), 1) + ".";
  const bool bias = parameter.name.ends_with("_bias");
  HostTensor value = value_of(parameter);
  if (bias) value.dims.insert(value.dims.begin() + 1, 1);
  const auto part = [&](const char* name, int64_t first, int64_t step) {
    HostTensor each = transposed(value, first, step);
    if (bias) each.dims.pop_back();
    tensors.push_back(written(blk + name + (bias ? ".bias" : ".weight"), each));
  };
  if (parameter.name.find("gate_up") != std::string::npos) {
    part("ffn_gate_exps", 0, 2);
    part("ffn_up_exps", 1, 2);
  } else {
    part("ffn_down_exps", 0, 1);
  }
  return true;
}

std::vector<TensorToWrite> tensors_of(const Model& model, ModelFamily family) {
  std::vector<TensorToWrite> tensors;
  for (const nn::Parameter& parameter : nn::parameters(*model.graph)) {
    if (family == ModelFamily::gpt_oss && add_gpt_oss(parameter, tensors)) continue;
    const std::string name = ggml_name(family, parameter.name).value_or("no name for " + parameter.name);
    HostTensor value = value_of(parameter);
    const HeadRows rows = head_rows(family, name);
    if (rows != HeadRows::same) {
      value = reordered(value, paired_rows(value.dims[0], rows == HeadRows::query ? 2 : 1), 8);
    }
    tensors.push_back(written(name, value));
  }
  return tensors;
}

std::vector<float> logits_of(Session session, const Model& model) {
  Decoder decoder(std::move(session), model);
  decoder.prefill({{1, 5, 3, 7, 2, 9}}, 8);
  decoder.step({4});
  const std::span<const float> row = decoder.logits(0);
  return {row.begin(), row.end()};
}

TEST(GgufExperts, compute_what_hugging_faces_files_do) {
  const ScratchDir dir;
  for (const Family& each : kFamilies) {
    const Model model = build_model(tiny_config(each.changes), {.max_context = 64}).value();
    const std::vector<float> wanted = logits_of(random_session(model), model);
    write_gguf(dir / "m.gguf", metadata_of(sizes(each.family)), tensors_of(model, each.family)).value();
    ModelFiles files = ModelFiles::open(dir / "m.gguf").value();
    const Model same = files.build({.max_context = 64}).value();
    Session session(same.graph);
    files.bind(session).value();
    const std::vector<float> got = logits_of(std::move(session), same);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], wanted[k], 1e-5) << each.changes;
  }
}

TEST(GgufExperts, says_which_are_missing) {
  const ScratchDir dir;
  const Model model = build_model(tiny_config(kFamilies[0].changes), {.max_context = 64}).value();
  std::vector<TensorToWrite> tensors = tensors_of(model, ModelFamily::mixtral);
  std::erase_if(tensors, [](const TensorToWrite& each) { return each.name == "blk.1.ffn_up_exps.weight"; });
  write_gguf(dir / "m.gguf", metadata_of(sizes(ModelFamily::mixtral)), tensors).value();
  ModelFiles files = ModelFiles::open(dir / "m.gguf").value();
  const Model same = files.build({.max_context = 64}).value();
  Session session(same.graph);
  const std::string text = files.bind(session).diag().str();
  EXPECT_NE(text.find("1 missing, 0 of another shape, 0 unexpected"), std::string::npos) << text;
  EXPECT_NE(text.find("missing: model.layers.1.block_sparse_moe.experts.w3.weight f32[3,12,8]"), std::string::npos)
      << text;
}

TEST(GgufExperts, refuses_counts_that_cannot_be) {
  const ScratchDir dir;
  GgufMetadata metadata = metadata_of(sizes(ModelFamily::qwen3_moe));
  const auto failure = [&] {
    write_gguf(dir / "m.gguf", metadata, {}).value();
    const Expected<ModelFiles> files = ModelFiles::open(dir / "m.gguf");
    return files.ok() ? "no error" : files.diag().str();
  };
  metadata["qwen3moe.expert_used_count"] = GgufValue::of_u32(4);
  EXPECT_EQ(failure(), dir / "m.gguf" + ": 4 experts of 3 for each token cannot be");
  metadata.erase("qwen3moe.expert_count");
  EXPECT_NE(failure().find("qwen3moe.expert_count"), std::string::npos);
  metadata["qwen3moe.rope.scaling.factor"] = GgufValue::of_f32(2);
  metadata["qwen3moe.rope.scaling.type"] = GgufValue::of_string("ntk");
  metadata["qwen3moe.expert_count"] = GgufValue::of_u32(5);
  EXPECT_EQ(failure(), dir / "m.gguf" + ": rope scaling \"ntk\" is not known");
}

}  // namespace
}  // namespace lumen::models
