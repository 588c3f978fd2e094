// Scope, Linear, Embedding, Norm, Mlp, Conv, pooling: names, shapes and formulas.
#include <gtest/gtest.h>

#include <cmath>

#include "lumen/runtime/session.h"
#include "nn/conv.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "tests/frontend/rig.h"

namespace lumen::nn {
namespace {

std::vector<std::string> listed(const Graph& graph) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters(graph)) names.push_back(parameter.name + " " + parameter.type.str());
  return names;
}

TEST(Scope, a_name_is_taken_once) {
  Graph graph;
  const Scope scope = Scope(graph, bf16) / "model" / 3;
  scope.parameter("weight", {2});
  EXPECT_THROW(scope.parameter("weight", {2}), Error);
  EXPECT_EQ(listed(graph), std::vector<std::string>{"model.3.weight bf16[2]"});
}

TEST(Modules, list_their_parameters) {
  Graph graph;
  const Scope root(graph, f16);
  const Linear plain(root / "a", {.in = 3, .out = 5});
  const Linear turned(root / "b", {.in = 3, .out = 5, .bias = true, .order = WeightOrder::in_out});
  const Embedding words(root / "c", 7, 3);
  const Norm layer(root / "d", 3, {NormKind::layer});
  const Norm bare(root / "e", 3, {NormKind::rms_without_weight});
  const Conv conv(root / "f", {.in = 4, .out = 6, .kernel = {3, 2}, .options = {.groups = 2}});
  const Mlp fused(root / "g", {.hidden = 2, .inner = 4, .names = {.gate_up = "gate_up_proj"}});
  graph.input("not a parameter", {1});
  EXPECT_EQ(listed(graph),
            (std::vector<std::string>{"a.weight f16[5,3]", "b.weight f16[3,5]", "b.bias f16[5]", "c.weight f16[7,3]",
                                      "d.weight f16[3]", "d.bias f16[3]", "f.weight f16[6,2,3,2]", "f.bias f16[6]",
                                      "g.down_proj.weight f16[2,4]", "g.gate_up_proj.weight f16[8,2]"}));
}

// The output y of a graph whose parameters are all given by name.
struct Built {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Scope scope{*graph, f32};

  std::vector<float> run(Tensor y, const std::vector<std::pair<std::string, std::vector<float>>>& inputs) {
    y.output("y");
    Session session(graph);
    for (const auto& [name, values] : inputs) session.set(name, values);
    session.execute();
    return session.get<float>("y");
  }
};

TEST(Linear, both_orders_are_the_same_function) {
  for (const WeightOrder order : {WeightOrder::out_in, WeightOrder::in_out}) {
    Built built;
    const Linear linear(built.scope, {.in = 2, .out = 3, .bias = true, .order = order});
    const bool rows = order == WeightOrder::out_in;
    const std::vector<float> got =
        built.run(linear(built.graph->input("x", {1, 2})),
                  {{"x", {1, 10}},
                   {"weight", rows ? std::vector<float>{1, 2, 3, 4, 5, 6} : std::vector<float>{1, 3, 5, 2, 4, 6}},
                   {"bias", {100, 200, 300}}});
    EXPECT_EQ(got, (std::vector<float>{121, 243, 365}));
  }
}

TEST(Norm, from_one_adds_1_to_the_weight) {
  Built built;
  const Norm norm(built.scope, 2, {NormKind::rms_from_one, 0});
  const std::vector<float> got = built.run(norm(built.graph->input("x", {1, 2})), {{"x", {3, 4}}, {"weight", {0, 1}}});
  const double rms = std::sqrt(12.5);
  EXPECT_NEAR(got[0], 3 / rms, 1e-6);
  EXPECT_NEAR(got[1], 8 / rms, 1e-6);
}

TEST(Mlp, fused_and_apart_are_the_same_function) {
  const std::vector<float> gate{1, -1, 0.5, 2}, up{2, 1, -1, 3}, down{1, -2}, x{0.7F, -0.3F};
  std::vector<float> both = gate;
  both.insert(both.end(), up.begin(), up.end());
  Built apart, fused;
  const Mlp two(apart.scope, {.hidden = 2, .inner = 2});
  const Mlp one(fused.scope, {.hidden = 2, .inner = 2, .names = {.gate_up = "gate_up_proj"}});
  const std::vector<float> square{1, -2, 3, 0.25};
  EXPECT_EQ(apart.run(two(apart.graph->input("x", {1, 2})),
                      {{"x", x}, {"gate_proj.weight", gate}, {"up_proj.weight", up}, {"down_proj.weight", square}}),
            fused.run(one(fused.graph->input("x", {1, 2})),
                      {{"x", x}, {"gate_up_proj.weight", both}, {"down_proj.weight", square}}));
}

TEST(MeanPool, leaves_padding_out) {
  Rig rig;
  const Tensor x = rig.input({2, 3, 2}, {1, 2, 3, 4, 100, 100, 5, 6, 100, 100, 100, 100});
  const Tensor counts = rig.input({2, 3}, {1, 1, 0, 1, 0, 0}, i32);
  expect_close(rig.run(mean_pool(x, counts)), {2, 3, 5, 6}, 1e-6);
}

TEST(Pool, is_that_of_the_frontend) {
  Rig rig;
  const Tensor x = rig.input({1, 1, 4}, {1, 3, 2, 8});
  expect_close(rig.run(Pool{PoolKind::max, {.kernel = {2}}}(x)), {3, 8});
  expect_close(rig.run(Pool{PoolKind::average, {.kernel = {2}}}(x)), {2, 5});
}

TEST(Conv, one_dim) {
  Built built;
  const Conv conv(built.scope, {.in = 1, .out = 1, .kernel = {2}, .bias = false});
  EXPECT_EQ(built.run(conv(built.graph->input("x", {1, 1, 3})), {{"x", {1, 2, 4}}, {"weight", {10, 1}}}),
            (std::vector<float>{12, 24}));
}

TEST(Activation, names_are_hugging_faces) {
  EXPECT_FALSE(find_activation("quick_gelu").has_value());
  EXPECT_EQ(find_activation("gelu_pytorch_tanh"), Activation::gelu_tanh);
  EXPECT_EQ(find_activation("silu"), Activation::silu);
}

}  // namespace
}  // namespace lumen::nn
