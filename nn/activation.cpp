#include "nn/activation.h"

#include <array>
#include <utility>

#include "lumen/frontend/ops.h"

namespace lumen::nn {

namespace {

constexpr std::array kNames = {
    std::pair{std::string_view("silu"), Activation::silu},
    std::pair{std::string_view("swish"), Activation::silu},
    std::pair{std::string_view("gelu"), Activation::gelu},
    std::pair{std::string_view("gelu_new"), Activation::gelu_tanh},
    std::pair{std::string_view("gelu_fast"), Activation::gelu_tanh},
    std::pair{std::string_view("gelu_pytorch_tanh"), Activation::gelu_tanh},
    std::pair{std::string_view("relu"), Activation::relu},
    std::pair{std::string_view("tanh"), Activation::tanh},
};

}  // namespace

std::optional<Activation> find_activation(std::string_view name) {
  for (const auto& [known, activation] : kNames) {
    if (known == name) return activation;
  }
  return {};
}

std::string activation_names() {
  std::string names;
  for (const auto& [known, activation] : kNames) names += (names.empty() ? "" : ", ") + std::string(known);
  return names;
}

Tensor activate(Activation activation, Tensor x) {
  switch (activation) {
    case Activation::silu:
      return silu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::relu:
      return relu(x);
    case Activation::tanh:
      return tanh(x);
  }
  return x;
}

}  // namespace lumen::nn
