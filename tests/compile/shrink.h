// A random graph that fails, made as small as it can be: the text to keep in tests/regress.
#pragma once

#include <functional>
#include <random>
#include <string>

#include "lumen/ir/text.h"
#include "lumen/kernel/reduce_graph.h"
#include "tests/support/graphs/random_graph.h"

namespace lumen::testing {

// What is wrong when a graph runs on these inputs; empty when nothing is.
using Failure = std::function<std::string(const RandomGraph&)>;

// Inputs for a graph that was made of another by reduce_graph: its own where they fit, small whole numbers else.
inline RandomGraph with_inputs(const std::shared_ptr<const Graph>& graph, const RandomGraph& from) {
  RandomGraph result{clone(*graph), {}, {}};
  for (const Expr& dim : graph->dims()) {
    const auto [lo, hi] = dim.dim_bounds();
    result.dims.set(dim.dim_name(), std::clamp(from.dims.get(dim.dim_name()).value_or(lo), lo, hi));
  }
  std::mt19937_64 random(1);
  for (const NodeId id : result.graph->inputs()) {
    const TensorType type = (*result.graph)[id].type;
    HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(result.dims).value());
    for (Lane& lane : tensor.lanes) lane = Scalar::of(type.dtype, static_cast<int64_t>(random() % 20) - 8).value;
    const auto old = from.graph->find_input((*result.graph)[id].as<Input>().name.str());
    for (size_t k = 0; old && k < from.inputs.size(); ++k) {
      if (from.graph->inputs()[k] == *old && from.inputs[k].dims == tensor.dims) tensor = from.inputs[k];
    }
    result.inputs.push_back(std::move(tensor));
  }
  return result;
}

inline std::string shrunk(const RandomGraph& given, const Failure& failure, double seconds = 60) {
  const Interesting fails = [&](const std::shared_ptr<const Graph>& graph) -> Expected<bool> {
    return !failure(with_inputs(graph, given)).empty();
  };
  ReduceOptions options;
  options.seconds = seconds;
  const Expected<Reduced> reduced = reduce_graph(given.graph, fails, options);
  if (!reduced.ok()) return print(*given.graph);
  return print(*reduced->graph) + "# " + failure(with_inputs(reduced->graph, given)) + "\n";
}

}  // namespace lumen::testing
