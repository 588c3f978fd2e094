#include "tests/models/tiny.h"

#include <nlohmann/json.hpp>

#include "lumen/ir/random_tensor.h"
#include "nn/scope.h"

namespace lumen::models {

std::string tiny_config(const std::string& changes) {
  nlohmann::json config = nlohmann::json::parse(R"({
    "architectures": ["LlamaForCausalLM"], "vocab_size": 11, "hidden_size": 8, "intermediate_size": 12,
    "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 256,
    "rms_norm_eps": 1e-6, "torch_dtype": "float32"})");
  config.merge_patch(nlohmann::json::parse(changes));
  return config.dump();
}

Session with_random_parameters(Session session) {
  for (const nn::Parameter& parameter : nn::parameters(session.graph())) {
    session.set(parameter.name, random_tensor(parameter.type.dtype, parameter.type.shape.evaluate({}).value(),
                                              parameter.name, 3, ValueRange{-0.5, 0.5}));
  }
  return session;
}

Session random_session(const Model& model) { return with_random_parameters(Session(model.graph)); }

}  // namespace lumen::models
