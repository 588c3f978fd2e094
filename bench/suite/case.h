// The benchmark's cases: one table for `lumen bench` and for bench/compare.
//
// A case is named group/size/dtype: "matmul/512x512x512/bf16". Its graph is built when it is needed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/ir/graph.h"
#include "lumen/ir/random_tensor.h"

namespace lumen::bench {

// What bounds a case's flops: the vector units, or the matrix unit where the machine has one for the dtype.
enum class Unit : uint8_t { vector, matrix };

struct Case {
  std::string group = {};
  std::string size = {};
  DType dtype = DType::f32;
  Unit unit = Unit::vector;
  bool fused = false;  // several ops that one kernel, or a few, can do
  bool quick = false;  // one of those that --quick runs
  // Of the arithmetic as it is written: a multiplication, an addition, an exponential and a division count 1 each.
  double flops = 0;
  // What the peers need to know beside the inputs' shapes, as "causal" = 1.
  std::vector<std::pair<std::string, int64_t>> parameters = {};
  // Values of inputs by name; others lie in -1..1, and integers in -8..7.
  std::vector<std::pair<std::string, ValueRange>> ranges = {};
  std::function<void(Graph&)> build = {};

  std::string name() const { return group + "/" + size + "/" + std::string(lumen::name(dtype)); }
  std::shared_ptr<Graph> graph() const;
  ValueRange range_of(std::string_view input, DType input_dtype) const;
};

// Inputs and outputs once each.
double least_bytes(const Graph& graph);
// Of a tensor without symbolic dims.
int64_t count_bytes(const TensorType& type);

// Single primitives at 1k to 10M elements.
std::vector<Case> micro_cases();
// What models are made of.
std::vector<Case> pattern_cases();
// The same at sizes that keep a GPU busy.
std::vector<Case> large_pattern_cases();

struct CaseChoice {
  std::string only = {};   // a regular expression searched in names; empty for all
  std::string dtype = {};  // a dtype's name; empty for all
  bool quick = false;
};
// An error when the expression or the dtype is wrong, or nothing is left.
Expected<std::vector<Case>> choose(std::vector<Case> cases, const CaseChoice& choice);

}  // namespace lumen::bench
