#include <cmath>

#include "lumen/frontend/build.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/view.h"
#include "lumen/kernel/contract.h"
#include "tests/rules/samples.h"

namespace lumen::testing {

namespace {

using Write = std::function<Tensor(Graph&)>;

struct Samples {
  std::vector<Sample> all;

  void add(std::string name, const Write& write, DimValues dims = {}) {
    auto graph = std::make_shared<Graph>();
    write(*graph).output("y");
    all.push_back({std::move(name), graph, std::move(dims)});
  }
};

void add_products(Samples& samples) {
  samples.add("matmul", [](Graph& g) { return matmul(g.input("a", {3, 5}), g.input("b", {5, 7})); });
  samples.add("matmul of transposed", [](Graph& g) {
    return transpose(matmul(transpose(g.input("a", {5, 3})), transpose(g.input("b", {7, 5}))));
  });
  samples.add("matmul, batched", [](Graph& g) {
    return matmul(g.input("a", {2, 1, 3, 5}), g.input("b", {4, 5, 7})) * 0.5;
  });
  samples.add("matmul over nothing", [](Graph& g) { return matmul(g.input("a", {3, 0}), g.input("b", {0, 2})); });
  samples.add("matmul over one", [](Graph& g) { return matmul(g.input("a", {3, 1}), g.input("b", {1, 2})); });
  samples.add("matmul of any size",
              [](Graph& g) {
                const Expr n = g.dim("n", 0, 64);
                return matmul(g.input("a", {n, 5}), g.input("b", {5, n}));
              },
              {{"n", 3}});
  samples.add("matmul in bf16", [](Graph& g) {
    return matmul(g.input("a", {3, 5}, bf16), g.input("b", {5, 7}, bf16));
  });
  samples.add("matmul in i32", [](Graph& g) { return matmul(g.input("a", {3, 5}, i32), g.input("b", {5, 7}, i32)); });
  samples.add("linear with bias", [](Graph& g) {
    return gelu(linear(g.input("x", {2, 3, 5}), g.input("w", {7, 5}), g.input("b", {7})));
  });
  samples.add("dequantised linear", [](Graph& g) {
    const Tensor w = cast(g.input("w", {7, 6}, i8), f32) * unsqueeze(g.input("scales", {7}), 1);
    return linear(g.input("x", {3, 6}), w);
  });
  samples.add("sums of three factors", [](Graph& g) {
    return einsum("ab,bc,cd->da", {g.input("a", {2, 3}), g.input("b", {3, 4}), g.input("c", {4, 5})});
  });
  samples.add("scaled on both sides", [](Graph& g) {
    const Tensor a = g.input("a", {3, 5}) * unsqueeze(g.input("r", {3}), 1) * 2;
    const Tensor b = g.input("b", {5, 4}) * g.input("c", {4});
    return matmul(a, b);
  });
  samples.add("masked rows and columns", [](Graph& g) {
    const Tensor a = where(unsqueeze(g.input("rows", {3}, bool_), 1), 0.0, g.input("a", {3, 5}));
    const Tensor b = where(g.input("columns", {4}, bool_), 0.0, g.input("b", {5, 4}));
    return matmul(a, b);
  });
  samples.add("rows of ones", [](Graph& g) {
    const Tensor a = where(unsqueeze(g.input("rows", {3}, bool_), 1), 1.0, g.input("a", {3, 5}));
    const Tensor b = where(g.input("columns", {4}, bool_), -1.0, g.input("b", {5, 4}));
    return matmul(a, b);
  });
  samples.add("conv2d", [](Graph& g) {
    return conv2d(g.input("x", {1, 3, 6, 5}), g.input("w", {4, 3, 3, 3}), g.input("b", {4}));
  });
  samples.add("conv2d, padded and in groups", [](Graph& g) {
    const ConvOptions options{.stride = {2, 1}, .padding = {1, 2}, .groups = 2};
    return conv2d(g.input("x", {2, 4, 5, 4}), g.input("w", {6, 2, 3, 3}), {}, options);
  });
  samples.add("conv1d over one", [](Graph& g) { return conv1d(g.input("x", {2, 3, 4}), g.input("w", {5, 3, 1})); });
  samples.add("conv1d in bf16", [](Graph& g) {
    return conv1d(g.input("x", {2, 3, 9}, bf16), g.input("w", {4, 3, 3}, bf16));
  });
  samples.add("sum of a slice of a product", [](Graph& g) {
    return sum(slice(matmul(g.input("a", {4, 5}), g.input("b", {5, 6})), 1, 2, 5), {0});
  });
}

void add_reductions(Samples& samples) {
  samples.add("softmax", [](Graph& g) { return softmax(g.input("x", {3, 7})); });
  samples.add("softmax of scaled and shifted", [](Graph& g) {
    return softmax(g.input("x", {3, 7}) * 0.3 + unsqueeze(g.input("s", {3}), 1));
  });
  samples.add("maxima of scaled and shifted", [](Graph& g) {
    const Tensor x = g.input("x", {3, 7});
    const Tensor shift = unsqueeze(g.input("s", {3}), 1);
    return concat({max(x * 0.3 + shift, {1}), max(x * -2.0, {1}), max(x * 0.0, {1})}, 0);
  });
  samples.add("log softmax", [](Graph& g) { return log_softmax(g.input("x", {2, 4, 3}), 1); });
  samples.add("layer norm",
              [](Graph& g) {
                const Expr n = g.dim("n", 1, 100);
                return layer_norm(g.input("x", {n, 6}), 1, g.input("w", {6}), g.input("b", {6}));
              },
              {{"n", 2}});
  samples.add("rms norm and linear", [](Graph& g) {
    return linear(rms_norm(g.input("x", {3, 6}), g.input("w", {6})), g.input("p", {4, 6}));
  });
  samples.add("group norm", [](Graph& g) { return group_norm(g.input("x", {2, 4, 3}), 2); });
  samples.add("variance", [](Graph& g) { return var(g.input("x", {3, 4, 5}), {0, 2}); });
  samples.add("sums of sums", [](Graph& g) { return sum(sum(g.input("x", {3, 4, 5}), {0}), {1}); });
  samples.add("products of products", [](Graph& g) { return prod(prod(g.input("x", {2, 3, 4}), {0}), {1}); });
  samples.add("maxima of maxima", [](Graph& g) { return max(max(g.input("x", {3, 4, 5}), {0}), {1}); });
  samples.add("reduced over one", [](Graph& g) {
    const Tensor x = g.input("x", {3, 1, 4});
    return concat({sum(x, {1}), max(x, {1}), prod(x, {1})}, 0);
  });
  samples.add("reduced over repeats", [](Graph& g) {
    const Tensor x = expand(unsqueeze(g.input("x", {3}), 1), {3, 5});
    return concat({sum(x, {1}), max(x, {1}), sum(x * g.input("y", {5}), {1})}, 0);
  });
  samples.add("argmax of transposed", [](Graph& g) { return argmax(transpose(g.input("x", {4, 3})), 1); });
  samples.add("reduced transposes", [](Graph& g) {
    const Tensor x = transpose(g.input("x", {4, 3}));
    return concat({flip(sum(x, {1}), {0}), max(x, {1}), prod(x, {1})}, 0);
  });
  samples.add("slices of reduced", [](Graph& g) {
    const Tensor x = g.input("x", {6, 4});
    return slice(concat({sum(x, {1}), flip(max(x, {1}), {0})}, 0), 0, 1, 9);
  });
  samples.add("standard deviations", [](Graph& g) { return stddev(g.input("x", {4, 5}), {1}, 0) / 3; });
}

void add_elementwise(Samples& samples) {
  samples.add("gelu by tanh", [](Graph& g) { return gelu_tanh(g.input("x", {3, 5})); });
  samples.add("silu in f16", [](Graph& g) { return silu(g.input("x", {3, 5}, f16)); });
  samples.add("functions that need care", [](Graph& g) {
    const Tensor x = g.input("x", {9});
    return concat({log1p(abs(x)), expm1(x), erfc(x), abs(x + 0.0)}, 0);
  });
  samples.add("identities", [](Graph& g) {
    const Tensor x = g.input("x", {5});
    const Tensor c = g.input("c", {5}, bool_);
    const Tensor same = where(c, x * 1.0, x) + -0.0;
    const Tensor chosen = where(full(g, {5}, 1, bool_), same, x) + where(full(g, {5}, 0, bool_), x, same / 4);
    return maximum(chosen, chosen) * 3 * 0.25;
  });
  samples.add("integer identities", [](Graph& g) { return (g.input("x", {5}, i32) * 1 + 0) * full(g, {5}, 3, i32); });
  samples.add("casts", [](Graph& g) {
    const Tensor x = cast(cast(g.input("x", {5}, bf16), f32), bf16);
    const Tensor y = cast(cast(g.input("y", {5}, i8), i32), i64);
    return cast(x, f64) * cast(y, f64);
  });
  samples.add("padded, then cast", [](Graph& g) {
    return cast(pad(g.input("x", {3, 4}, bf16), {{1, 0}, {0, 2}}, 0.5), f32) * 2;
  });
  samples.add("rope", [](Graph& g) {
    return rope(g.input("x", {2, 3, 6}), g.input("at", {3}, i64), 100.0, RopeLayout::interleaved);
  });
  samples.add("swiglu", [](Graph& g) {
    const Tensor both = linear(g.input("x", {2, 4}), g.input("w", {6, 4}));
    return silu(slice(both, 1, 0, 3)) * slice(both, 1, 3, 6);
  });
  samples.add("constants", [](Graph& g) {
    return g.input("x", {3}) * sqrt(full(g, {3}, 2.0) + full(g, {3}, 3.0)) + cast(arange(g, 3), f32);
  });
  samples.add("repeated beside a constant", [](Graph& g) {
    const Tensor x = expand(unsqueeze(g.input("x", {3}), 1), {3, 4});
    return (2 - x) * (x / 3) * g.input("y", {3, 4});
  });
}

void add_gathers(Samples& samples) {
  samples.add("embedding of stored bytes", [](Graph& g) {
    const Tensor table = cast(g.input("table", {3, 4}, i8), f32) * unsqueeze(g.input("scales", {3}), 1);
    return embedding(g.input("tokens", {2, 5}, i64), table);
  });
  samples.add("tied embedding", [](Graph& g) {
    return embedding(g.input("tokens", {2, 5}, i64), transpose(g.input("table", {4, 3})));
  });
  samples.add("gathered twice", [](Graph& g) {
    const Tensor x = index_select(g.input("x", {4, 3, 2}), 1, g.input("i", {3, 5}, i64));
    return index_select(x, 2, g.input("j", {4}, i64));
  });
  samples.add("gathered by an iota", [](Graph& g) {
    const Shape shape{2, 3};
    const Tensor at = iota(g, shape, 5 - Expr::index(0, 2) * 3 - Expr::index(1, 3), i64);
    return emit(hlir::Gather{1}, {g.input("x", {3, 6, 2}), at});
  });
  samples.add("what rules leave alone", [](Graph& g) {
    const Tensor x = g.input("x", {3, 4});
    topk(cumsum(transpose(x), 1) * 2, 2, 0).values.output("top");
    avg_pool(unsqueeze(x, 0), {.kernel = {2}, .padding = {1}}).output("mean");
    return max_pool(unsqueeze(x, 0), {.kernel = {2}});
  });
  samples.add("causal mask", [](Graph& g) { return tril(g.input("x", {4, 5})) * 2; });
}

}  // namespace

std::vector<Sample> function_samples() {
  Samples samples;
  add_products(samples);
  add_reductions(samples);
  add_elementwise(samples);
  add_gathers(samples);
  return std::move(samples.all);
}

// Every elementwise op below a view that reads nothing twice, above one that repeats, beside a constant, and gathered.
std::vector<Sample> elementwise_samples() {
  Samples samples;
  for (const OpDef* op : llir_ops().ops()) {
    if (!op->is_elementwise() || op->arity > 2) continue;
    const DType dtype = op->operands.floating ? f32 : i32;
    samples.add("every place of " + std::string(op->name), [&](Graph& g) {
      const auto apply = [&](Tensor x, Tensor y) {
        std::vector<std::max_align_t> fields(op->size / sizeof(std::max_align_t) + 1);
        op->construct(fields.data());
        const NodeId operands[] = {x.id, y.id};
        const NodeId node =
            g.add(*op, fields.data(), std::span(operands).first(static_cast<size_t>(op->arity))).value();
        return cast(Tensor{&g, node}, f32);
      };
      const Tensor x = abs(g.input("x", {3, 4}, dtype)) + 1;
      const Tensor y = abs(g.input("y", {3, 4}, dtype)) + 1;
      const auto twice = [](Tensor t) { return expand(unsqueeze(t, 1), {3, 2, 4}); };
      transpose(apply(x, y)).output("moved");
      apply(twice(x), twice(y)).output("repeated");
      apply(twice(x), full_like(twice(x), 2)).output("left");
      apply(full_like(twice(x), 3), twice(x)).output("right");
      return emit(hlir::Gather{0}, {apply(x, y), g.input("i", {5}, i64)});
    });
  }
  return std::move(samples.all);
}

}  // namespace lumen::testing
