// However attention is written, it compiles to one streaming kernel, and computes what the reference computes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/codegen/attention.h"
#include "lumen/compile.h"
#include "lumen/frontend/ops.h"
#include "lumen/ir/text.h"

namespace lumen {
namespace {

constexpr int64_t kSequences = 2, kHeads = 4, kQueries = 20, kKeys = 70, kSize = 16;

struct Heads {
  Tensor q, k, v;
};

Heads heads(Graph& graph, int64_t kv_heads = kHeads, DType dtype = f32) {
  return {graph.input("q", {kSequences, kHeads, kQueries, kSize}, dtype),
          graph.input("k", {kSequences, kv_heads, kKeys, kSize}, dtype),
          graph.input("v", {kSequences, kv_heads, kKeys, kSize}, dtype)};
}

template <class Adjust>
Tensor spelled_out(const Heads& h, Adjust adjust) {
  const Tensor scores = matmul(h.q, transpose(h.k)) / std::sqrt(static_cast<double>(kSize));
  return matmul(softmax(adjust(scores), -1), h.v);
}

Tensor plain(Tensor scores) { return scores; }

Tensor repeated(Tensor x) { return repeat_interleave(x, 2, 1); }

Tensor broadcast_heads(Tensor x) {
  const Shape s = x.shape();
  return reshape(expand(unsqueeze(x, 2), {s[0], s[1], 2, s[2], s[3]}), {s[0], s[1] * 2, s[2], s[3]});
}

struct Spelling {
  const char* name;
  std::function<Tensor(Graph&)> write;
};

std::vector<Spelling> spellings() {
  return {
      {"the function",
       [](Graph& g) {
         const Heads h = heads(g);
         return scaled_dot_product_attention(h.q, h.k, h.v);
       }},
      {"the function, causal",
       [](Graph& g) {
         const Heads h = heads(g);
         return scaled_dot_product_attention(h.q, h.k, h.v, {.causal = true});
       }},
      {"the function, bool mask",
       [](Graph& g) {
         const Heads h = heads(g);
         const Tensor mask = g.input("mask", {kQueries, kKeys}, bool_);
         return scaled_dot_product_attention(h.q, h.k, h.v, {.mask = Operand(mask)});
       }},
      {"the function, shared heads, bf16",
       [](Graph& g) {
         const Heads h = heads(g, 2, bf16);
         return scaled_dot_product_attention(h.q, h.k, h.v, {.causal = true, .enable_gqa = true});
       }},
      {"matmul, softmax, matmul", [](Graph& g) { return spelled_out(heads(g), plain); }},
      {"mask added",
       [](Graph& g) {
         const Tensor mask = g.input("mask", {kQueries, kKeys});
         return spelled_out(heads(g), [&](Tensor s) { return s + mask; });
       }},
      {"mask by where",
       [](Graph& g) {
         const Tensor mask = g.input("mask", {kQueries, kKeys}, bool_);
         return spelled_out(heads(g), [&](Tensor s) { return where(mask, s, -1e30); });
       }},
      {"soft cap", [](Graph& g) { return spelled_out(heads(g), [](Tensor s) { return tanh(s / 30.0) * 30.0; }); }},
      {"heads repeated",
       [](Graph& g) {
         const Heads h = heads(g, 2);
         return spelled_out({h.q, repeated(h.k), repeated(h.v)}, plain);
       }},
      {"heads broadcast",
       [](Graph& g) {
         const Heads h = heads(g, 2);
         return spelled_out({h.q, broadcast_heads(h.k), broadcast_heads(h.v)}, plain);
       }},
      {"einsum, another layout",
       [](Graph& g) {
         const Heads h = heads(g);
         const Tensor s = einsum("bhqd,bhkd->bhqk", {h.q, h.k}) * 0.4;
         return einsum("bhqk,bhkd->bqhd", {softmax(s, -1), h.v});
       }},
  };
}

HostTensor random_values(const TensorType& type, std::mt19937_64& random) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate({}).value());
  for (Lane& lane : tensor.lanes) {
    const double x = static_cast<double>(random() % 4001) / 1000.0 - 2.0;
    lane = is_float(type.dtype) ? Scalar::of(type.dtype, x).value : Scalar::of(type.dtype, random() % 5 != 0).value;
  }
  return tensor;
}

void expect_like_reference(const Graph& graph, Session& session, const char* name) {
  std::mt19937_64 random{std::random_device{}()};
  std::vector<HostTensor> inputs;
  for (const NodeId id : graph.inputs()) inputs.push_back(random_values(graph[id].type, random));
  std::vector<const HostTensor*> in;
  for (size_t k = 0; k < inputs.size(); ++k) {
    session.set(graph[graph.inputs()[k]].as<Input>().name.str(), inputs[k]);
    in.push_back(&inputs[k]);
  }
  const HostTensor wanted = interpret(graph, in, {}).value()[0];
  session.execute();
  const HostTensor got = session.tensor("y");
  const double close = wanted.dtype == bf16 ? 0.03 : 2e-5;
  for (size_t k = 0; k < wanted.lanes.size(); ++k) {
    ASSERT_NEAR(got.lanes[k].f, wanted.lanes[k].f, close) << name << ", element " << k;
  }
}

TEST(CompileAttention, every_spelling_is_one_streaming_kernel) {
  CompileOptions options;
  options.fusion = FusionPolicy::always;
  options.measure = options.verify = false;
  for (const Spelling& spelling : spellings()) {
    const auto graph = std::make_shared<Graph>();
    spelling.write(*graph).output("y");
    Compiled compiled = compile_program(*graph, options);
    const Program& program = compiled.variants[0].binary.program;
    ASSERT_EQ(program.calls.size(), 1) << spelling.name << "\n" << print(*program.graph);
    ASSERT_TRUE(is_attention_schedule(program.kernels[0].schedule)) << spelling.name;
    Session session = make_session(std::move(compiled));
    expect_like_reference(*graph, session, spelling.name);
  }
}

}  // namespace
}  // namespace lumen
