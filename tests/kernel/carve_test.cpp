#include "lumen/kernel/carve.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/frontend/ops.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"
#include "lumen/ir/verify.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/graphs/values.h"

namespace lumen {
namespace {

using testing::dims_of;
using testing::make_random_graph;
using testing::RandomGraph;
using testing::same;

std::vector<HostTensor> interpret_all(const Graph& graph, const std::vector<const HostTensor*>& inputs,
                                      const DimValues& dims) {
  return interpret(graph, inputs, dims).value();
}

// The outputs of the whole, computed kernel by kernel.
std::vector<HostTensor> run_parts(const RandomGraph& given, const std::vector<Carved>& kernels) {
  const Graph& graph = *given.graph;
  std::map<NodeId, HostTensor> values;
  for (size_t k = 0; k < given.inputs.size(); ++k) values[graph.inputs()[k]] = given.inputs[k];
  for (const Carved& kernel : kernels) {
    EXPECT_TRUE(verify(*kernel.body, hlir_stage()).ok());
    std::vector<const HostTensor*> operands;
    for (const NodeId id : kernel.operands) operands.push_back(&values.at(id));  // there already
    const std::vector<HostTensor> results = interpret_all(*kernel.body, operands, dims_of(*kernel.body, given.dims));
    for (size_t k = 0; k < results.size(); ++k) values[kernel.results[k]] = results[k];
  }
  std::vector<HostTensor> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(values.at(output.value));
  return outputs;
}

// Consecutive pieces of the graph's order, so that no two need each other; some nodes are in later parts again.
std::vector<std::vector<NodeId>> random_parts(const Graph& graph, std::mt19937_64& random) {
  std::vector<std::vector<NodeId>> parts;
  std::vector<NodeId> seen;
  for (const NodeId id : graph.order()) {
    if (graph[id].is<Input>()) continue;
    if (parts.empty() || random() % 4 == 0) parts.emplace_back();
    parts.back().push_back(id);
    if (!seen.empty() && random() % 5 == 0) parts.back().push_back(seen[random() % seen.size()]);
    seen.push_back(id);
  }
  if (random() % 2 == 0) std::reverse(parts.begin(), parts.end());
  return parts;
}

TEST(Carve, says_which_value_no_part_has) {
  Graph graph;
  const Tensor x = graph.input("x", {4});
  const Tensor y = exp2(x);
  const Tensor z = (y + x).output("z");
  const std::vector<std::vector<NodeId>> only_z{{z.id}};
  const auto missing = carve_all(graph, only_z);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.diag().message, "a value that is needed is in no part: Exp2 of type f32[4]");
  const auto nothing = carve_all(graph, {});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.diag().message, "a value that is needed is in no part: Add of type f32[4]");
}

TEST(Carve, refuses_parts_that_need_each_other) {
  Graph graph;
  const Tensor x = graph.input("x", {4});
  const Tensor a = exp2(x);
  const Tensor b = sqrt(a);
  const Tensor c = (b * a).output("c");
  const std::vector<std::vector<NodeId>> circle{{a.id, c.id}, {b.id}};
  const auto result = carve_all(graph, circle);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diag().message, "part 0 of 2 needs itself: the parts depend on each other in a circle");
}

TEST(Carve, names_nothing_of_the_graph_but_its_dims) {
  Graph graph;
  const Expr n = graph.dim("n", 1, 100);
  graph.dim("unused", 1, 7);
  const Tensor w = graph.input("layers.0.weight", {n}, DType::f32, InputKind::weight);
  const Tensor x = graph.input("x", {n});
  const Tensor s = x * w;
  const Tensor y = s + w;
  exp2(y).output("z");
  const std::vector<NodeId> part{s.id, y.id};
  const Carved kernel = carve(graph, part, std::vector<NodeId>{y.id});
  EXPECT_EQ(kernel.operands.size(), 2u);
  EXPECT_EQ(kernel.results, std::vector<NodeId>{y.id});
  ASSERT_EQ(kernel.body->dims().size(), 1u);
  EXPECT_EQ(kernel.body->dims()[0], n);
  const std::string text = print(*kernel.body);
  EXPECT_EQ(text.find("weight"), std::string::npos) << text;
  EXPECT_EQ(text.find("unused"), std::string::npos) << text;

  ASSERT_EQ(kernel.nodes.size(), kernel.body->size());
  for (const NodeId id : kernel.body->order()) {
    EXPECT_EQ((*kernel.body)[id].type, graph[kernel.nodes[static_cast<size_t>(id)]].type);
  }
  EXPECT_EQ(kernel.nodes.back(), y.id);
  EXPECT_EQ(kernel.operands, (std::vector<NodeId>(graph[s.id].operands.begin(), graph[s.id].operands.end())));
}

TEST(Carve, equal_parts_of_different_graphs_are_one_kernel) {
  Graph graph;
  const Tensor x = graph.input("x", {graph.dim("n", 1, 100)});
  const Tensor early = exp2(x);
  const Tensor late = sqrt(early).output("late");
  Graph other;
  const Tensor noise = sin(other.input("noise", {3})).output("noise.sin");
  const Tensor y = other.input("y", {other.dim("n", 1, 100)});
  const Tensor other_late = exp2(sqrt(exp2(sin(y)))).output("z");
  const NodeId root = other[other_late.id].operands[0];
  const NodeId middle = other[root].operands[0];
  const Carved a = carve(graph, std::vector<NodeId>{early.id, late.id}, std::vector<NodeId>{late.id});
  const Carved b = carve(other, std::vector<NodeId>{root, middle, noise.id}, std::vector<NodeId>{root});
  EXPECT_EQ(print(*a.body), print(*b.body));
  EXPECT_EQ(a.body->hash(), b.body->hash());
}

TEST(Carve, parts_compute_what_the_whole_computes) {
  size_t kernels_run = 0;
  const uint64_t first = std::random_device{}();
  for (uint64_t seed = first; seed < first + 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomGraph given = make_random_graph(seed);
    std::mt19937_64 random(seed);
    const auto kernels = carve_all(*given.graph, random_parts(*given.graph, random));
    if (!kernels.ok()) {  // a node that is computed again may make two parts need each other
      ASSERT_NE(kernels.diag().message.find("in a circle"), std::string::npos) << kernels.diag().message;
      continue;
    }
    std::vector<const HostTensor*> inputs;
    for (const HostTensor& input : given.inputs) inputs.push_back(&input);
    const std::vector<HostTensor> expected = interpret_all(*given.graph, inputs, given.dims);
    const std::vector<HostTensor> found = run_parts(given, *kernels);
    kernels_run += kernels->size();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t k = 0; k < found.size(); ++k) {
      EXPECT_TRUE(same(found[k], expected[k])) << "output " << k << "\n" << print(*given.graph);
    }
  }
  EXPECT_GT(kernels_run, 300u);
}

}  // namespace
}  // namespace lumen
