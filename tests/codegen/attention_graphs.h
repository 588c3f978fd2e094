// Bodies of attention kernels for tests: masks, maps of scores, layouts, shared heads, sizes, symbolic dims.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "lumen/frontend/ops.h"
#include "tests/codegen/kernel_harness.h"
#include "tests/support/graphs/products.h"

namespace lumen::testing {

inline constexpr double kLog2e = 1.4426950408889634;

// Numbers of about 1; a fifth of the bools are false.
inline HostTensor random_values(TensorType type, const DimValues& dims, std::mt19937_64& random) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value());
  for (Lane& lane : tensor.lanes) {
    const double x = static_cast<double>(random() % 4001) / 1000.0 - 2.0;
    lane = is_float(type.dtype) ? Scalar::of(type.dtype, x).value : Scalar::of(type.dtype, random() % 5 != 0).value;
  }
  return tensor;
}

// Takes a body, what is special about it, and the values of its dims.
using AddAttention = std::function<void(const Graph&, std::string, const DimValues&)>;

// Softmax of scores [b,h,q,k] and their product with values [b,h,k,d].
inline Tensor weighed(Tensor scores, Tensor v, std::string_view v_dims = "bhkd", std::string_view result = "bhqd") {
  const Tensor e = exp2((scores - max(scores, {-1}, true)) * kLog2e);
  const Tensor o = product(e, "bhqk", v, v_dims, result);
  const Tensor total = reciprocal(sum(e, {-1}, true));
  return o * (result == "bhqd" ? total : transpose(total, 1, 2));
}

struct Sizes {
  Expr batch = 2, heads = 3, rows = 5, keys = 9, depth = 6, features = 7;
};

inline Tensor scores_of(Graph& graph, const Sizes& n) {
  const Tensor q = graph.input("a0", {n.batch, n.heads, n.rows, n.depth});
  const Tensor k = graph.input("a1", {n.batch, n.heads, n.keys, n.depth});
  return product(q, "bhqd", k, "bhkd", "bhqk") * 0.4;
}

inline Tensor values_of(Graph& graph, const Sizes& n) {
  return graph.input("a2", {n.batch, n.heads, n.keys, n.features});
}

template <class Adjust>
void add_adjusted(const AddAttention& add, std::string about, const Sizes& n, Adjust adjust) {
  Graph graph;
  const Tensor scores = scores_of(graph, n);
  const Tensor v = values_of(graph, n);
  weighed(adjust(graph, scores), v).output("r0");
  add(graph, std::move(about), {});
}

inline Tensor plain(Graph&, Tensor scores) { return scores; }

inline Tensor where_iota(Tensor scores, Expr condition) {
  const Shape square{scores.dim(-2), scores.dim(-1)};
  return where(iota(*scores.graph, square, condition, bool_), scores, -INFINITY);
}

inline Tensor causal(Graph&, Tensor scores) {
  return where_iota(scores, le(Expr::index(1, scores.dim(-1)), Expr::index(0, scores.dim(-2))));
}

inline void add_sizes_of_attention(const AddAttention& add) {
  for (const int64_t rows : {1, 33, 130}) {
    for (const int64_t keys : {1, 31, 300}) {  // a maximum of nothing is refused
      Sizes n;
      n.rows = rows, n.keys = keys;
      add_adjusted(add, "plain", n, plain);
    }
  }
  Sizes large;
  large.depth = 64, large.features = 64, large.rows = 70, large.keys = 150;
  add_adjusted(add, "large heads", large, plain);
  Sizes small;
  small.batch = 1, small.heads = 1, small.depth = 1, small.features = 1;
  add_adjusted(add, "small heads", small, plain);
}

inline void add_score_maps(const AddAttention& add) {
  const Sizes n{.batch = 1, .rows = 40, .keys = 270};
  add_adjusted(add, "added mask", n, [&](Graph& g, Tensor s) { return s + g.input("a3", {n.rows, n.keys}); });
  add_adjusted(add, "bool mask", n, [&](Graph& g, Tensor s) {
    return where(g.input("a3", {n.batch, 1, n.rows, n.keys}, bool_), s, -INFINITY);
  });
  add_adjusted(add, "finite mask", n, [&](Graph& g, Tensor s) {
    return where(g.input("a3", {n.rows, n.keys}, bool_), s, -1e30);
  });
  add_adjusted(add, "soft cap", n, [](Graph&, Tensor s) { return tanh(s / 3.0) * 3.0; });
  add_adjusted(add, "slopes", n, [&](Graph& g, Tensor s) {
    const Tensor distance = iota(g, {n.rows, n.keys}, Expr::index(1, n.keys) - Expr::index(0, n.rows), f32);
    return s + distance * 0.1 * g.input("a3", {n.heads, 1, 1});  // large scores have large errors
  });
}

inline void add_skipping(const AddAttention& add) {
  for (const int64_t keys : {40, 300}) {
    const Sizes n{.batch = 1, .heads = 2, .rows = 130, .keys = keys};
    const Expr row = Expr::index(0, n.rows), key = Expr::index(1, n.keys);
    add_adjusted(add, "causal", n, causal);
    add_adjusted(add, "window", n,
                 [&](Graph&, Tensor s) { return where_iota(s, logical_and(le(key, row + 90), ge(key, row - 20))); });
    add_adjusted(add, "window of two conditions", n, [&](Graph&, Tensor s) {
      return where_iota(where_iota(s, lt(key, row + 3)), ge(key, row - 20)) * 0.5;
    });
    add_adjusted(add, "rows of nothing", n, [&](Graph&, Tensor s) { return where_iota(s, le(key + 50, row)); });
  }
}

inline void add_rows_of_nothing(const AddAttention& add) {
  Graph graph;
  const Sizes n{.rows = 20, .keys = 40};
  const Expr row = Expr::index(0, n.rows), key = Expr::index(1, n.keys);
  const Tensor s = where_iota(scores_of(graph, n), le(key + 5, row));
  const Tensor y = weighed(s, values_of(graph, n));
  where(eq(max(s, {-1}, true), -INFINITY), 0.0, y).output("r0");
  add(graph, "zeros", {});
}

inline void add_exponents(const AddAttention& add) {
  const Sizes n{.batch = 1, .rows = 40, .keys = 270};
  Graph graph;
  const Tensor q = graph.input("a0", {1, 3, n.rows, 6}), k = graph.input("a1", {1, 3, n.keys, 6});
  const Tensor s = product(q, "bhqd", k, "bhkd", "bhqk");
  const Tensor e = exp2(s * 0.6 + max(s, {-1}, true) * -0.6);
  (product(e, "bhqk", values_of(graph, n), "bhkd", "bhqd") / sum(e, {-1}, true)).output("r0");
  add(graph, "scaled after the maximum", {});
  Graph biased;
  const Tensor t = scores_of(biased, n);
  const Tensor v = values_of(biased, n);
  const Tensor f = exp2((t - max(t, {-1}, true)) * 1.5 + biased.input("a3", {n.keys}));
  (product(f, "bhqk", v, "bhkd", "bhqd") / sum(f, {-1}, true)).output("r0");
  add(biased, "something added to the exponent", {});
}

inline void add_divided(const AddAttention& add) {
  const Sizes n{.batch = 1, .rows = 40, .keys = 70};
  for (const bool zeros : {false, true}) {
    Graph graph;
    const Expr row = Expr::index(0, n.rows), key = Expr::index(1, n.keys);
    const Tensor s = where_iota(scores_of(graph, n), le(key + 5, row));
    const Tensor top = max(s, {-1}, true);
    const Tensor e = exp2((s - top) * kLog2e);
    const Tensor weights = e / sum(e, {-1}, true);
    const Tensor v = values_of(graph, n);
    product(zeros ? where(eq(top, -INFINITY), 0.0, weights) : weights, "bhqk", v, "bhkd", "bhqd").output("r0");
    add(graph, "divided first", {});
  }
}

inline void add_shared_heads(const AddAttention& add) {
  Graph repeated;
  const Tensor q = repeated.input("a0", {2, 6, 35, 8});
  const Tensor k = repeat_interleave(repeated.input("a1", {2, 2, 50, 8}), 3, 1);
  const Tensor v = repeat_interleave(repeated.input("a2", {2, 2, 50, 9}), 3, 1);
  weighed(product(q, "bhqd", k, "bhkd", "bhqk"), v).output("r0");
  add(repeated, "heads repeated", {});
  Graph broadcast;  // [batch, key head, query heads to one, …]
  const Tensor q5 = broadcast.input("a0", {2, 2, 3, 35, 8});
  const Tensor k4 = broadcast.input("a1", {2, 2, 50, 8}), v4 = broadcast.input("a2", {2, 2, 50, 9});
  const Tensor s = product(q5, "bhgqd", k4, "bhkd", "bhgqk");
  const Tensor e = exp2((s - max(s, {-1}, true)) * kLog2e);
  (product(e, "bhgqk", v4, "bhkd", "bhgqd") / sum(e, {-1}, true)).output("r0");
  add(broadcast, "heads broadcast", {});
  Graph layout;  // [batch, sequence, heads, size]; values transposed; the result too
  const Tensor q3 = layout.input("a0", {2, 35, 3, 8}), k3 = layout.input("a1", {2, 50, 3, 8});
  const Tensor scores = product(q3, "bqhd", k3, "bkhd", "bhqk");
  weighed(scores, layout.input("a2", {2, 3, 9, 50}), "bhdk", "bqhd").output("r0");
  add(layout, "sequence before heads", {});
}

inline void add_symbolic_attention(const AddAttention& add) {
  for (const int64_t rows : {1, 60}) {
    for (const int64_t keys : {1, 400}) {
      Graph graph;
      Sizes n;
      n.rows = graph.dim("rows", 1, 4096), n.keys = graph.dim("keys", 1, 4096);
      weighed(causal(graph, scores_of(graph, n)), values_of(graph, n)).output("r0");
      add(graph, "symbolic", {{"rows", rows}, {"keys", keys}});
    }
  }
}

inline void add_narrow_attention(const AddAttention& add) {
  for (const DType dtype : {bf16, f16}) {
    for (const int64_t rows : {1, 35}) {
      for (const bool masked : {false, true}) {
        Graph graph;
        const Tensor q = cast(graph.input("a0", {1, 3, rows, 40}, dtype), f32);
        const Tensor k = cast(graph.input("a1", {1, 3, 149, 40}, dtype), f32);
        const Tensor v = cast(graph.input("a2", {1, 3, 149, 24}, dtype), f32);
        const Tensor s = product(q, "bhqd", k, "bhkd", "bhqk") * 0.2;
        const Tensor y = weighed(masked ? causal(graph, s) : s, v);
        cast(y * graph.input("a3", {rows, 1}), dtype).output("r0");
        add(graph, "narrow", {});
      }
    }
  }
  Graph transposed;  // values along the keys
  const Tensor q = cast(transposed.input("a0", {1, 3, 20, 40}, bf16), f32);
  const Tensor k = cast(transposed.input("a1", {1, 3, 70, 40}, bf16), f32);
  const Tensor v = cast(transposed.input("a2", {1, 3, 24, 70}, bf16), f32);
  cast(weighed(product(q, "bhqd", k, "bhkd", "bhqk") * 0.2, v, "bhdk"), bf16).output("r0");
  add(transposed, "narrow, values transposed", {});
}

}  // namespace lumen::testing
