// Scope: where a module's parameters are declared. A parameter is an input of the graph whose name is the path of
// scopes it was declared in: `model.layers.0.self_attn.q_proj.weight`. The names are the contract with weight files.
//
//   Scope root(graph, DType::bf16);
//   Linear query(root / "model" / "layers" / 0 / "self_attn" / "q_proj", {.in = 64, .out = 64});
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/import/storage_type.h"
#include "lumen/ir/graph.h"

namespace lumen::nn {

// How the elements of a parameter lie in the weight file, by its name; none: as the model computes.
using StorageOf = std::function<std::optional<StorageType>(std::string_view)>;

// A parameter as it is stored: an input, whose rows may be quantised blocks.
struct StoredParameter {
  Tensor stored;
  std::optional<BlockType> blocks;
  DType dtype;  // of the values
  // The values of `stored`, or of rows of it.
  Tensor values(Tensor rows) const;
  Tensor values() const { return values(stored); }
};

class Scope {
 public:
  // Activations are of `dtype`, and so are parameters unless `storage` says otherwise: their values are cast to it.
  Scope(Graph& graph, DType dtype, StorageOf storage = {})
      : graph_(&graph), dtype_(dtype), storage_(std::move(storage)) {}

  Scope operator/(std::string_view name) const;
  Scope operator/(int64_t number) const { return *this / std::string_view(std::to_string(number)); }

  Graph& graph() const { return *graph_; }
  DType dtype() const { return dtype_; }
  const std::string& path() const { return path_; }

  // Throws lumen::Error when the graph has an input of that name.
  Tensor parameter(std::string_view name, const Shape& shape) const { return stored(name, shape).values(); }
  StoredParameter stored(std::string_view name, const Shape& shape) const;
  // Stored as this dtype, whatever the scope's is.
  Tensor parameter(std::string_view name, const Shape& shape, DType dtype) const;
  Tensor state(std::string_view name, const Shape& shape) const;

 private:
  std::string name_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
  }

  Graph* graph_;
  std::string path_;
  DType dtype_;
  StorageOf storage_;
};

struct Parameter {
  std::string name;
  TensorType type;
};

// Every parameter of a graph, in the order declared.
std::vector<Parameter> parameters(const Graph& graph);

}  // namespace lumen::nn
