// Weights from one kind of file to another, with the names, row orders and constants that each kind has.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/import/model_config.h"
#include "lumen/import/weights.h"

namespace lumen {

struct ConvertOptions {
  // What floats become; nothing: they stay as they are. In GGUF, vectors are always f32; a block type is for matrices
  // whose rows are whole blocks, the others become f16.
  std::optional<StorageType> type;
  std::vector<std::string> keep;  // regular expressions searched in new names: those tensors keep their type
  bool raw = false;               // names, rows and values stay as they are; no configuration is needed or written
  // Called with the bytes that are done and all there are to be.
  std::function<void(size_t, size_t)> progress;
};

struct ConvertReport {
  size_t tensors = 0;
  size_t bytes = 0;  // of elements
};

// `out` ends with .gguf or .safetensors, or is a folder, which gets model.safetensors and config.json. From
// .safetensors, the sizes of a model come from config.json beside the weights. A GGUF file's metadata is kept in
// another; what it says of tokens has no place in the other kinds of file.
Expected<ConvertReport> convert_weights(const Weights& in, const std::string& out, const ConvertOptions& options);

// A GGUF file of random weights for the model that a config.json describes, with a vocabulary that makes sense of
// nothing: for measuring speed. The same seed gives the same file.
Expected<ConvertReport> write_random_model(const ModelConfig& config, const std::string& out,
                                           const ConvertOptions& options, int64_t seed);

}  // namespace lumen
