#include "lumen/backend/reference/executable.h"

#include "lumen/backend/reference/interpreter.h"

namespace lumen {

namespace {

HostTensor read(const TensorType& type, const DimValues& dims, const void* data) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value());
  const auto bytes = static_cast<size_t>(storage_bytes(type.dtype, tensor.numel()));
  unpack(type.dtype, {static_cast<const std::byte*>(data), bytes}, tensor.lanes);
  return tensor;
}

class ReferenceExecutable : public Executable {
 public:
  explicit ReferenceExecutable(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}

  Expected<void> prepare(std::span<const int64_t> dims) override {
    dims_.assign(dims.begin(), dims.end());
    return {};
  }
  Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    return interpret_stored(*graph_, dims_, inputs, outputs);
  }

 private:
  std::shared_ptr<const Graph> graph_;
  std::vector<int64_t> dims_;
};

}  // namespace

std::unique_ptr<Executable> reference_executable(std::shared_ptr<const Graph> graph) {
  return std::make_unique<ReferenceExecutable>(std::move(graph));
}

Expected<void> interpret_stored(const Graph& graph, std::span<const int64_t> dims, std::span<const void* const> inputs,
                                std::span<void* const> outputs) {
  DimValues values;
  for (size_t k = 0; k < dims.size(); ++k) values.set(graph.dims()[k].dim_name(), dims[k]);
  std::vector<HostTensor> tensors;
  for (size_t k = 0; k < inputs.size(); ++k) {
    tensors.push_back(read(graph[graph.inputs()[k]].type, values, inputs[k]));
  }
  std::vector<const HostTensor*> operands;
  for (const HostTensor& tensor : tensors) operands.push_back(&tensor);
  const std::vector<HostTensor> results = LUMEN_TRY(interpret(graph, operands, values));
  for (size_t k = 0; k < results.size(); ++k) {
    const auto bytes = static_cast<size_t>(storage_bytes(results[k].dtype, results[k].numel()));
    pack(results[k].dtype, results[k].lanes, {static_cast<std::byte*>(outputs[k]), bytes});
  }
  return {};
}

}  // namespace lumen
