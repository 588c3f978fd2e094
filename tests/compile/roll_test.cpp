// Rolling: what repeats is found, compiled once, and computes the same.
#include "lumen/search/roll.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "lumen/compile.h"
#include "lumen/frontend/ops.h"
#include "lumen/ir/random_tensor.h"
#include "lumen/ir/text.h"

namespace lumen {
namespace {

constexpr int64_t kWidth = 16;

Tensor weight(Graph& graph, const std::string& name, Shape shape) {
  return graph.input(name, std::move(shape), f32, InputKind::weight);
}

Tensor norm(Graph& graph, Tensor x, const std::string& name) {
  return rms_norm(x, weight(graph, name + ".norm", {kWidth}), 1e-5);
}

// A layer with a norm, a gate and a residual; odd ones can have another activation.
Tensor layer(Graph& graph, Tensor x, const std::string& name, bool other) {
  const Tensor h = norm(graph, x, name);
  const Tensor gate = matmul(h, weight(graph, name + ".gate", {kWidth, 24}));
  const Tensor up = matmul(h, weight(graph, name + ".up", {kWidth, 24}));
  const Tensor inner = (other ? tanh(gate) : silu(gate)) * up;
  return x + matmul(inner, weight(graph, name + ".down", {24, kWidth}));
}

std::shared_ptr<Graph> model(int layers, int kinds) {
  auto graph = std::make_shared<Graph>();
  const Expr rows = graph->dim("rows", 1, 64);
  Tensor x = graph->input("x", {rows, kWidth});
  x = matmul(x, weight(*graph, "first", {kWidth, kWidth}));
  for (int k = 0; k < layers; ++k)
    x = layer(*graph, x, fmt::format("layers.{}", k), k % kinds == kinds - 1 && kinds > 1);
  transpose(norm(*graph, x, "last")).output("y");
  return graph;
}

struct Count {
  size_t parts = 0, distinct = 0;
};
Count count(const Graph& graph) {
  const std::vector<Carved> parts = search::roll(graph).value();
  std::set<std::string> texts;
  for (const Carved& part : parts) texts.insert(print(*part.body));
  return {parts.size(), texts.size()};
}

// What all layers are masked by is compared in each of them, of positions.
TEST(Roll, gives_masks_to_every_part) {
  auto graph = std::make_shared<Graph>();
  const Expr rows = graph->dim("rows", 1, 64);
  Tensor x = matmul(graph->input("x", {rows, kWidth}), weight(*graph, "first", {kWidth, kWidth}));
  const Tensor at = unsqueeze(graph->input("positions", {rows}, i64), 1);
  const Tensor visible = le(iota(*graph, {1, kWidth}, Expr::index(1, kWidth), i64), at);
  const Tensor given = graph->input("given", {rows, kWidth}, bool_);
  for (int k = 0; k < 6; ++k) {
    x = where(given, where(visible, layer(*graph, x, fmt::format("layers.{}", k), false), 0.5), 0.25);
  }
  transpose(norm(*graph, x, "last")).output("y");
  size_t with_positions = 0, with_masks = 0;
  const std::vector<Carved> parts = search::roll(*graph).value();
  for (const Carved& part : parts) {
    const std::string text = print(*part.body);
    with_positions += text.find(":dtype i64 :shape [rows]") != std::string::npos;
    with_masks += text.find(":dtype bool :shape [rows,16]") != std::string::npos;
  }
  EXPECT_GE(with_positions, 6u);
  EXPECT_EQ(with_masks, with_positions);  // one is an input of the graph and stays one, the other is none
}

TEST(Roll, leaves_alone_what_does_not_repeat) {
  EXPECT_EQ(count(*model(1, 1)).parts, 0u);
  EXPECT_EQ(count(*model(2, 1)).parts, 0u);
  auto chain = std::make_shared<Graph>();  // short repetitions fuse
  Tensor x = chain->input("x", {8});
  for (int k = 0; k < 40; ++k) x = sin(x) + 1.0;
  x.output("y");
  EXPECT_EQ(count(*chain).parts, 0u);
}

TEST(Roll, finds_layers_however_many_and_of_several_kinds) {
  for (const int layers : {6, 12, 32}) {
    const Count one = count(*model(layers, 1));
    EXPECT_GE(one.parts, static_cast<size_t>(layers)) << layers;
    EXPECT_LE(one.distinct, 3u) << layers;
  }
  for (const int kinds : {2, 3, 6}) {
    const Count several = count(*model(36, kinds));
    EXPECT_GE(several.parts, 36u / static_cast<size_t>(kinds)) << kinds;
    EXPECT_LE(several.distinct, 5u) << kinds;
  }
}

TEST(Roll, cuts_where_nothing_would_be_one_kernel) {
  // A residual and the norm after it stay together: what leaves a layer is no sum that only a norm reads.
  const std::shared_ptr<Graph> graph = model(8, 1);
  const std::vector<Carved> parts = search::roll(*graph).value();
  const Carved& middle = parts[parts.size() / 2];
  EXPECT_EQ(print(*parts[parts.size() / 2 - 1].body), print(*middle.body));
  EXPECT_EQ(middle.results.size(), 2u) << print(*middle.body);  // the residual, and what a matrix product reads
}

TEST(Roll, computes_the_same) {
  std::mt19937_64 random(std::random_device{}());
  for (const int kinds : {1, 2, 6}) {
    const std::shared_ptr<Graph> graph = model(24, kinds);
    CompileOptions options;
    options.measure = false;
    options.c_flags = {"-O1", "-w"};
    const Compiled compiled = compile_program(*graph, options);
    EXPECT_LT(compiled.report.distinct, compiled.report.parts);
    Session session = make_session(compiled), reference(graph);
    for (const int64_t rows : {1, 7}) {
      DimValues dims;
      dims.set("rows", rows);
      for (const NodeId id : graph->inputs()) {
        const Input& input = (*graph)[id].as<Input>();
        const HostTensor value = random_tensor(input.dtype, input.shape.evaluate(dims).value(), input.name.str(),
                                               static_cast<int64_t>(random() >> 1), ValueRange{-0.5, 0.5});
        session.set(input.name.str(), value);
        reference.set(input.name.str(), value);
      }
      session.execute();
      reference.execute();
      const std::vector<float> got = session.get<float>("y"), wanted = reference.get<float>("y");
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], wanted[k], 1e-3) << k;
    }
  }
}

}  // namespace
}  // namespace lumen
