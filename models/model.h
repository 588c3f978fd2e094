// From a config.json to the graph of one step of a model.
//
//   const Model model = build_model(config_text, {.batch = 1, .max_context = 4096}).value();
//   Session session = compile(*model.graph);
//   Decoder decoder(std::move(session), model);
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/ir/graph.h"
#include "models/options.h"

namespace lumen::models {

enum class ModelKind : uint8_t {
  causal,   // tokens in, logits out, with caches: for Decoder
  encoder,  // a text in, its embedding out (bert.h)
};

struct Model {
  std::shared_ptr<Graph> graph;
  std::string architecture;
  ModelKind kind = ModelKind::causal;
  ModelOptions options;  // with what was left open filled in
  int64_t vocabulary = 0;
};

// An error names the key that is missing, of another type, or not supported.
Expected<Model> build_model(std::string_view config, const ModelOptions& options = {});

// Every name of `architectures` that build_model takes.
std::vector<std::string_view> supported_architectures();

}  // namespace lumen::models
