// Weights: the parameters of a model, from .safetensors files.
//
// A parameter is looked for by its name; without the first part of it (`transformer.wte.weight` is `wte.weight` in some
// files); and, when it is `….experts.<rest>`, as one tensor for each expert, `….experts.<n>.<rest>`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/backend/buffer.h"
#include "lumen/import/safetensors.h"
#include "lumen/ir/graph.h"
#include "lumen/runtime/session.h"

namespace lumen::models {

class Weights {
 public:
  // A file, or a folder with model.safetensors, or with model.safetensors.index.json and the files that it names.
  static Expected<Weights> open(const std::string& path);
  static Expected<Weights> of(std::vector<SafeTensors> files);

  // Gives a session all parameters of its graph: those that are stored as the graph wants them without a copy, so the
  // Weights must outlive the session; others are stacked, aligned and converted between floats first. An error names
  // every parameter that is missing, or the first that does not fit.
  Expected<void> bind(Session& session);

 private:
  using Entry = SafeTensors::Entry;
  explicit Weights(std::vector<SafeTensors> files) : files_(std::move(files)) {}
  const Entry* find(std::string_view name) const;
  struct Found {
    std::vector<const Entry*> parts;  // none when it is not there
    bool by_expert = false;           // one for each, else one for all
  };
  Found find_parts(const std::string& name, const std::vector<int64_t>& dims) const;
  Expected<const void*> stored_as(DType dtype, const std::vector<int64_t>& dims, const Found& found,
                                  std::string_view name);

  std::vector<SafeTensors> files_;
  std::vector<Buffer> converted_;
};

}  // namespace lumen::models
