// Graphs with values for their inputs, and what equal programs must give for them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "lumen/frontend/ops.h"
#include "lumen/ir/graph.h"
#include "lumen/search/extract.h"

namespace lumen::testing {

struct Sample {
  std::string name;
  std::shared_ptr<Graph> graph;
  DimValues dims;
};

// Fresh values for the inputs: floats between -2 and 2, some of them -0, integers below 3, bools.
std::vector<HostTensor> random_inputs(const Graph& graph, const DimValues& dims, uint64_t seed);

// The outputs of a graph of llir_stage().
std::vector<HostTensor> run_expanded(const Graph& graph, const std::vector<HostTensor>& inputs, const DimValues& dims);

// Bit for bit, but for NaNs; with `rounding`, within some units in the last place of the largest element.
::testing::AssertionResult agree(const std::vector<HostTensor>& got, const std::vector<HostTensor>& wanted,
                                 bool rounding);

// Functions of the frontend and compositions of them, small and with odd sizes.
std::vector<Sample> function_samples();
std::vector<Sample> elementwise_samples();
// Attention in its spellings.
std::vector<Sample> attention_samples();
// One block of a transformer: norm, q/k/v, rope, causal attention, projection, residual, norm, swiglu.
struct BlockSize {
  int64_t heads = 4, kv_heads = 2, head = 8, hidden = 24;
  int64_t seq = 5;
  int64_t max_seq = 0;  // the number of tokens is a dim up to this; 0: it is `seq`
  int64_t layers = 1;   // blocks one after the other
};
Sample transformer_block(const BlockSize& size, DType dtype);

}  // namespace lumen::testing
