// The activation functions that models name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lumen/ir/graph.h"

namespace lumen::nn {

enum class Activation : uint8_t { silu, gelu, gelu_tanh, relu, tanh };

// By Hugging Face's name: "silu", "gelu_pytorch_tanh", …
std::optional<Activation> find_activation(std::string_view name);
// Every such name, for messages.
std::string activation_names();

Tensor activate(Activation activation, Tensor x);

}  // namespace lumen::nn
