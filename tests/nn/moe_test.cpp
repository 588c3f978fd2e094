// Mixtures of experts against loops over tokens and experts.
#include "nn/moe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lumen/ir/random_tensor.h"
#include "lumen/runtime/session.h"
#include "tests/frontend/rig.h"

namespace lumen::nn {
namespace {

constexpr size_t kTokens = 4, kHidden = 3, kInner = 2, kExperts = 5, kChosen = 2;

using Values = std::vector<double>;

TEST(ChooseExperts, softmax_before_and_after) {
  Rig rig;
  const Tensor logits = rig.input({1, 3}, {std::log(1.0), std::log(5.0), std::log(2.0)});
  const Routes first = choose_experts(logits, {.per_token = 2});
  expect_close(rig.run(first.experts), {1, 2});
  expect_close(rig.run(first.weights), {5.0 / 8, 2.0 / 8}, 1e-6);
  expect_close(rig.run(choose_experts(logits, {.per_token = 2, .normalise = true}).weights), {5.0 / 7, 2.0 / 7}, 1e-6);
  expect_close(rig.run(choose_experts(logits, {.per_token = 2, .softmax_first = false}).weights), {5.0 / 7, 2.0 / 7},
               1e-6);
}

// y[out] of one expert, from weights [experts, out, in] or [experts, in, out].
Values apply(const Values& weights, const Values& bias, size_t expert, const Values& x, size_t out, bool rows) {
  Values y(out);
  for (size_t o = 0; o < out; ++o) {
    for (size_t i = 0; i < x.size(); ++i) {
      y[o] += x[i] * weights[expert * out * x.size() + (rows ? o * x.size() + i : i * out + o)];
    }
    if (!bias.empty()) y[o] += bias[expert * out + o];
  }
  return y;
}

struct Mixture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::map<std::string, Values> values;
  Values result;

  explicit Mixture(const ExpertSettings& settings) {
    const Tensor x = graph->input("x", {int64_t{kTokens}, int64_t{kHidden}});
    const Routes routes{graph->input("experts", {int64_t{kTokens}, int64_t{kChosen}}, i64),
                        graph->input("weights", {int64_t{kTokens}, int64_t{kChosen}})};
    Experts(Scope(*graph, f32), settings)(x, routes).output("y");
    Session session(graph);
    for (const NodeId id : graph->inputs()) {
      const std::string name(graph->operator[](id).as<Input>().name.str());
      HostTensor value =
          random_tensor(graph->operator[](id).type.dtype, graph->operator[](id).type.shape.evaluate({}).value(), name,
                        7, name == "experts" ? std::optional(ValueRange{0, 4}) : std::nullopt);
      values[name] = doubles(value);
      session.set(name, std::move(value));
    }
    session.execute();
    result = doubles(session.tensor("y"));
  }

  void expect_like(const std::function<Values(size_t expert, const Values& x)>& expert_of) const {
    for (size_t t = 0; t < kTokens; ++t) {
      const Values& all = values.at("x");
      const Values x(all.begin() + static_cast<ptrdiff_t>(t * kHidden),
                     all.begin() + static_cast<ptrdiff_t>((t + 1) * kHidden));
      Values wanted(kHidden);
      for (size_t k = 0; k < kChosen; ++k) {
        const Values y = expert_of(static_cast<size_t>(values.at("experts")[t * kChosen + k]), x);
        for (size_t h = 0; h < kHidden; ++h) wanted[h] += values.at("weights")[t * kChosen + k] * y[h];
      }
      for (size_t h = 0; h < kHidden; ++h) EXPECT_NEAR(result[t * kHidden + h], wanted[h], 1e-5);
    }
  }
};

double silu_of(double x) { return x / (1 + std::exp(-x)); }

TEST(Experts, three_projections) {
  const Mixture m({.hidden = kHidden, .inner = kInner, .experts = kExperts});
  m.expect_like([&](size_t e, const Values& x) {
    const Values gate = apply(m.values.at("gate_proj.weight"), {}, e, x, kInner, true);
    Values inner = apply(m.values.at("up_proj.weight"), {}, e, x, kInner, true);
    for (size_t k = 0; k < kInner; ++k) inner[k] *= silu_of(gate[k]);
    return apply(m.values.at("down_proj.weight"), {}, e, inner, kHidden, true);
  });
}

TEST(Experts, clamped_interleaved_with_biases) {
  ExpertSettings settings{.hidden = kHidden, .inner = kInner, .experts = kExperts, .order = WeightOrder::in_out};
  settings.names = {.down = "down_proj", .gate_up = "gate_up_proj"};
  settings.interleaved = settings.bias = true;
  settings.clamped = ClampedGate{.limit = 0.5, .alpha = 1.702};
  const Mixture m(settings);
  m.expect_like([&](size_t e, const Values& x) {
    const Values both = apply(m.values.at("gate_up_proj"), m.values.at("gate_up_proj_bias"), e, x, 2 * kInner, false);
    Values inner(kInner);
    for (size_t k = 0; k < kInner; ++k) {
      const double gate = std::min(both[2 * k], 0.5), up = std::clamp(both[2 * k + 1], -0.5, 0.5);
      inner[k] = (up + 1) * gate / (1 + std::exp(-1.702 * gate));
    }
    return apply(m.values.at("down_proj"), m.values.at("down_proj_bias"), e, inner, kHidden, false);
  });
}

// 32 elements of one row: half a byte each, the first in the low half, times 2^(scale - 127).
TEST(Experts, mxfp4_elements) {
  const auto graph = std::make_shared<Graph>();
  const Scope scope(*graph, f32);
  ExpertSettings settings{.hidden = 32, .inner = 32, .experts = 2, .storage = ExpertStorage::mxfp4};
  settings.names = {.down = "down", .gate_up = "gate_up"};
  settings.clamped = ClampedGate{.limit = 1e30, .alpha = 0};  // (up + 1) * gate / 2
  const Tensor x = graph->input("x", {1, 32});
  const Routes routes{graph->input("experts", {1, 1}, i64), graph->input("weights", {1, 1})};
  Experts(scope, settings)(x, routes).output("y");
  Session session(graph);
  std::vector<float> ones(32, 0);
  ones[0] = 1;
  ones[3] = 10;
  session.set("x", ones);
  session.set("experts", {1});
  session.set("weights", {1});
  std::vector<uint8_t> gate_up(2 * 64 * 16), scales(2 * 64, 127), down(2 * 32 * 16), down_scales(2 * 32, 127);
  gate_up[64 * 16] = 0x0b;      // gate 0 of expert 1: element 0 is -1.5
  gate_up[64 * 16 + 1] = 0x70;  // element 3 is 6
  scales[64] = 129;             // times 4
  down[32 * 16 + 16] = 0x02;    // y[1] is inner 0
  session.set("gate_up_blocks", gate_up);
  session.set("gate_up_scales", scales);
  session.set("down_blocks", down);
  session.set("down_scales", down_scales);
  session.execute();
  std::vector<float> wanted(32, 0);
  wanted[1] = (10 * 6 - 1.5F) * 4 / 2;
  EXPECT_EQ(session.get<float>("y"), wanted);
}

}  // namespace
}  // namespace lumen::nn
