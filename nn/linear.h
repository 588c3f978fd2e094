// Linear and Embedding.
#pragma once

#include <optional>

#include "nn/scope.h"

namespace lumen::nn {

enum class WeightOrder : uint8_t {
  out_in,  // [out, in]: torch.nn.Linear
  in_out,  // [in, out]: GPT-2's Conv1D
};

struct LinearSettings {
  int64_t in = 0;
  int64_t out = 0;
  bool bias = false;
  WeightOrder order = WeightOrder::out_in;
};

// Parameters: weight, and bias [out].
struct Linear {
  Linear(const Scope& scope, const LinearSettings& settings);
  Tensor operator()(Tensor x) const;

  Tensor weight;
  std::optional<Tensor> bias;
  WeightOrder order;
};

// Parameter: weight [count, size].
struct Embedding {
  Embedding(const Scope& scope, int64_t count, int64_t size);
  Tensor operator()(Tensor indices) const;

  StoredParameter table;
  Tensor weight;  // its values
};

}  // namespace lumen::nn
