#include "lumen/debug/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lumen/base/nearest.h"
#include "lumen/frontend/ops.h"

namespace lumen::debug {

namespace {

constexpr int64_t kMostColumns = 512;
constexpr int64_t kHead = 64;  // of attention

// `size` elements as rows that are not too long.
Tensor rows(Graph& g, int64_t size, std::string_view name = "x") {
  const int64_t columns = std::min(size, kMostColumns);
  return g.input(name, {size / columns, columns});
}
Tensor weight(Graph& g, std::string_view name, Shape shape) {
  return g.input(name, shape, DType::f32, InputKind::weight);
}

void build_attention(Graph& g, int64_t size) {
  const int64_t seq = std::max<int64_t>(1, size / kHead);
  const Tensor q = g.input("q", {1, seq, kHead}), k = g.input("k", {1, seq, kHead}), v = g.input("v", {1, seq, kHead});
  scaled_dot_product_attention(q, k, v).output("y");
}

void build_mul(Graph& g, int64_t size) {
  const Tensor a = g.input("a", {size}), b = g.input("b", {size});
  (a * b).output("y");
}

// What gelu_tanh takes the tanh of.
void build_gelu_inner(Graph& g, int64_t size) {
  const Tensor x = g.input("x", {size});
  (0.7978845608 * (x + 0.044715 * x * x * x)).output("y");
}

void build_layer_norm(Graph& g, int64_t size) {
  const Tensor x = rows(g, size);
  const Shape columns{x.dim(1)};
  layer_norm(x, 1, weight(g, "weight", columns), weight(g, "bias", columns)).output("y");
}

void build_swiglu(Graph& g, int64_t size) {
  const Tensor gate = rows(g, size, "gate"), up = rows(g, size, "up");
  (silu(gate) * up).output("y");
}

void build_rms_norm(Graph& g, int64_t size) {
  const Tensor x = rows(g, size);
  rms_norm(x, weight(g, "weight", {x.dim(1)})).output("y");
}

void build_linear(Graph& g, int64_t size) {
  const Tensor x = rows(g, size);
  linear(x, weight(g, "weight", {kHead, x.dim(1)}), weight(g, "bias", {kHead})).output("y");
}

void build_embedding(Graph& g, int64_t size) {
  embedding(g.input("ids", {16}, DType::i64), weight(g, "table", {std::max<int64_t>(1, size / kHead), kHead}))
      .output("y");
}

constexpr DebugCase kCases[] = {
    {"mul", "a product", build_mul},
    {"sigmoid", "1 / (1 + exp(-x))", [](Graph& g, int64_t n) { sigmoid(g.input("x", {n})).output("y"); }},
    {"tanh", "the hyperbolic tangent", [](Graph& g, int64_t n) { tanh(g.input("x", {n})).output("y"); }},
    {"gelu-inner", "the polynomial inside gelu", build_gelu_inner},
    {"gelu", "by tanh", [](Graph& g, int64_t n) { gelu_tanh(g.input("x", {n})).output("y"); }},
    {"gelu-erf", "by erf", [](Graph& g, int64_t n) { gelu(g.input("x", {n})).output("y"); }},
    {"swiglu", "silu(gate) * up", build_swiglu},
    {"softmax", "of rows", [](Graph& g, int64_t n) { softmax(rows(g, n)).output("y"); }},
    {"layer-norm", "with weight and bias", build_layer_norm},
    {"rms-norm", "with weight", build_rms_norm},
    {"matmul", "x @ w",
     [](Graph& g, int64_t n) {
       const Tensor x = rows(g, n);
       matmul(x, weight(g, "w", {x.dim(1), kHead})).output("y");
     }},
    {"linear", "x @ wT + bias", build_linear},
    {"attention", "one head, without a mask", build_attention},
    {"embedding", "rows of a table", build_embedding},
    {"argmax", "of rows", [](Graph& g, int64_t n) { argmax(rows(g, n), 1).output("y"); }},
    {"cumsum", "along rows", [](Graph& g, int64_t n) { cumsum(rows(g, n), 1).output("y"); }},
    {"argsort", "of rows", [](Graph& g, int64_t n) { argsort(rows(g, n)).output("y"); }},
};

}  // namespace

std::span<const DebugCase> debug_cases() { return kCases; }

Expected<std::shared_ptr<Graph>> make_case(std::string_view name, int64_t size) {
  std::vector<std::string_view> names;
  for (const DebugCase& each : kCases) {
    names.push_back(each.name);
    if (each.name != name) continue;
    auto graph = std::make_shared<Graph>();
    each.build(*graph, size);
    return graph;
  }
  const auto guess = nearest(name, names);
  return error(fmt::format("no case is called {}; {}", name,
                           guess ? fmt::format("did you mean {}?", *guess) : "`lumen debug --list` shows them"));
}

}  // namespace lumen::debug
