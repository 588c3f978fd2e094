// ModelFiles: a model as people have it, a folder of Hugging Face's or one GGUF file.
//
//   const ModelFiles files = LUMEN_TRY(ModelFiles::open(path));
//   const Model model = LUMEN_TRY(files.build({.max_context = 4096}));
//   Session session = compile(*model.graph);
//   LUMEN_TRY(files.bind(session));                 // without copies; `files` must outlive the session
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lumen/backend/buffer.h"
#include "lumen/import/gguf_names.h"
#include "lumen/import/weights.h"
#include "lumen/runtime/session.h"
#include "lumen/text/tokenizer.h"
#include "models/model.h"

namespace lumen::models {

class ModelFiles {
 public:
  // A GGUF file; a folder with config.json and weights; or, with `random_weights`, a config.json or a folder that has
  // one. A tokenizer is read where there is one.
  static Expected<ModelFiles> open(const std::string& path, bool random_weights = false);

  const std::string& config() const { return config_; }  // as config.json says it
  const std::optional<Tokenizer>& tokenizer() const { return tokenizer_; }
  const Weights* weights() const { return weights_ ? &*weights_ : nullptr; }  // null: random

  // The graph of a step, with parameters of the types that are stored.
  Expected<Model> build(ModelOptions options = {}) const;
  // Gives a session all parameters of its graph: where they lie in the files, random, or copied where the file has one
  // tensor for each expert (`….experts.<n>.<rest>`) or elements that are not aligned. An error lists all that are
  // missing or do not fit.
  Expected<void> bind(Session& session);
  // Of all parameters, once bound.
  int64_t bytes() const { return bytes_; }

 private:
  Expected<void> open_gguf();
  Expected<void> open_folder(const std::string& folder);
  // The tensors of a parameter: one, or as many as there are experts; none when it is not there.
  std::vector<const Weight*> find(const std::string& name) const;
  const Weight* find_one(std::string_view name) const;
  std::optional<StorageType> storage_of(const std::string& name) const;
  Expected<void> bind_random(Session& session);
  const void* in_one_piece(const std::vector<const Weight*>& parts, DType dtype);

  std::string config_;
  std::optional<Weights> weights_;
  std::optional<ModelFamily> family_;  // of a GGUF file, whose names it says
  std::optional<Tokenizer> tokenizer_;
  std::deque<Buffer> made_;
  int64_t bytes_ = 0;
};

}  // namespace lumen::models
