// Scope: where a module's parameters are declared. A parameter is an input of the graph whose name is the path of
// scopes it was declared in: `model.layers.0.self_attn.q_proj.weight`. The names are the contract with weight files.
//
//   Scope root(graph, DType::bf16);
//   Linear query(root / "model" / "layers" / 0 / "self_attn" / "q_proj", {.in = 64, .out = 64});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen::nn {

class Scope {
 public:
  // Parameters and activations are of `dtype`.
  Scope(Graph& graph, DType dtype) : graph_(&graph), dtype_(dtype) {}

  Scope operator/(std::string_view name) const;
  Scope operator/(int64_t number) const { return *this / std::string_view(std::to_string(number)); }

  Graph& graph() const { return *graph_; }
  DType dtype() const { return dtype_; }
  const std::string& path() const { return path_; }

  // Throws lumen::Error when the graph has an input of that name.
  Tensor parameter(std::string_view name, const Shape& shape) const { return parameter(name, shape, dtype_); }
  Tensor parameter(std::string_view name, const Shape& shape, DType dtype) const;
  Tensor state(std::string_view name, const Shape& shape) const;

 private:
  std::string name_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
  }

  Graph* graph_;
  std::string path_;
  DType dtype_;
};

struct Parameter {
  std::string name;
  TensorType type;
};

// Every parameter of a graph, in the order declared.
std::vector<Parameter> parameters(const Graph& graph);

}  // namespace lumen::nn
