// Attention on a GPU against the reference, emulated.
#include "lumen/codegen/cuda_attention.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/codegen/attention_bounds.h"
#include "tests/codegen/cuda_attention_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

const char* const kInParts = "gpu-decode rows=3 keys=32 parts=3 threads=64";

TEST(CudaAttention, attends_at_every_size) {
  CudaAttentionCases cases({kInParts});
  add_sizes_of_attention(cases.adder());
  cases.run();
}

TEST(CudaAttention, maps_scores) {
  CudaAttentionCases cases({kInParts});
  add_score_maps(cases.adder());
  add_exponents(cases.adder());
  add_divided(cases.adder());
  cases.run();
}

TEST(CudaAttention, skips_tiles_of_keys) {
  CudaAttentionCases cases({kInParts});
  add_skipping(cases.adder());
  add_rows_of_nothing(cases.adder());
  cases.run();
}

TEST(CudaAttention, shares_heads_and_reads_every_layout) {
  CudaAttentionCases cases({kInParts});
  add_shared_heads(cases.adder());
  cases.run();
}

TEST(CudaAttention, serves_dims_of_every_size) {
  CudaAttentionCases cases({kInParts});
  add_symbolic_attention(cases.adder());
  cases.run();
}

TEST(CudaAttention, widens_operands) {
  CudaAttentionCases cases({kInParts, "gpu-flash rows=32 keys=32 threads=64", "gpu-flash rows=32 keys=16 threads=32"});
  add_narrow_attention(cases.adder());
  cases.run();
}

TEST(CudaAttention, multiplies_with_tensor_cores) {
  CudaAttentionCases cases({"gpu-flash rows=32 keys=32 threads=64", "gpu-flash rows=64 keys=64 threads=64"});
  for (const int64_t length : {1, 100}) {
    for (const bool masked : {false, true}) {
      Graph graph;
      const Expr n = graph.dim("n", 1, 4096);
      const Tensor q = cast(graph.input("a0", {1, 4, n, 64}, bf16), f32);
      const Tensor k = repeat_interleave(cast(graph.input("a1", {1, 2, n, 64}, bf16), f32), 2, 1);
      const Tensor v = repeat_interleave(cast(graph.input("a2", {1, 2, n, 48}, bf16), f32), 2, 1);
      const Tensor s = product(q, "bhqd", k, "bhkd", "bhqk") * 0.125;
      cast(weighed(masked ? causal(graph, s) : s, v), bf16).output("r0");
      cases.add(graph, "prefill", {{"n", length}});
    }
  }
  EXPECT_GE(cases.size(), 12u);
  cases.run();
}

struct Positions {
  DType of = i64;
  int64_t rows = 70, keys = 200, window = 0, lo = 0, hi = 199;
  bool cap = false, unknown = false;
};

// As models mask: keys up to the position of the row, and not before its window. Positions are in any order, the last
// ones of a tile the smallest or not, and behind the keys or before them, so that rows see everything or nothing.
Tensor seen_from(Graph& graph, Tensor scores, Tensor positions, const Positions& p) {
  const Tensor at = cast(unsqueeze(unsqueeze(positions, 1), -1), i64);
  const Expr keys = scores.dim(-1);
  const Tensor key = iota(graph, {1, 1, 1, keys}, Expr::index(3, keys), i64);
  Tensor visible = le(key, at);
  if (p.window > 0) visible = logical_and(visible, gt(key + p.window, at));
  if (p.unknown) visible = logical_and(visible, graph.input("a4", {1, 1, 1, keys}, bool_));
  return where(visible, p.cap ? tanh(scores / 3.0) * 3.0 : scores, -INFINITY);
}

void add_positions(CudaAttentionCases& cases, const Positions& p, DType dtype) {
  Graph graph;
  const Expr rows = graph.dim("rows", 1, 4096), keys = graph.dim("keys", 1, 4096);
  const Tensor q = cast(graph.input("a0", {2, 4, rows, 32}, dtype), f32);
  const Tensor k = repeat_interleave(cast(graph.input("a1", {2, 2, keys, 32}, dtype), f32), 2, 1);
  const Tensor v = repeat_interleave(cast(graph.input("a2", {2, 2, keys, 24}, dtype), f32), 2, 1);
  const Tensor s = product(q, "bhqd", k, "bhkd", "bhqk") * 0.2;
  const Tensor positions = graph.input("a3", {2, rows}, p.of);
  cast(weighed(seen_from(graph, s, positions, p), v), dtype).output("r0");
  cases.add(graph, fmt::format("positions {}..{}, window {}", p.lo, p.hi, p.window),
            {{"rows", p.rows}, {"keys", p.keys}}, {p.lo, p.hi});
}

TEST(CudaAttention, leaves_out_keys_by_positions) {
  CudaAttentionCases cases({kInParts, "gpu-flash rows=32 keys=32 threads=64", "gpu-flash rows=64 keys=16 threads=64"});
  for (const DType dtype : {bf16, f32}) {
    add_positions(cases, {}, dtype);
    add_positions(cases, {.of = i32, .rows = 1, .keys = 1, .hi = 0}, dtype);
    add_positions(cases, {.of = i32, .rows = 33, .keys = 100, .window = 40, .hi = 99}, dtype);
    add_positions(cases, {.rows = 20, .keys = 130, .lo = 60, .hi = 70}, dtype);  // every row ends in a tile
    add_positions(cases, {.rows = 35, .keys = 90, .window = 7, .lo = -20, .hi = 150}, dtype);  // some see nothing
    add_positions(cases, {.rows = 3, .keys = 64, .lo = INT64_MAX - 1, .hi = INT64_MAX}, dtype);
    add_positions(cases, {.rows = 3, .keys = 64, .lo = INT64_MIN, .hi = INT64_MIN + 1}, dtype);
    add_positions(cases, {.rows = 40, .keys = 77, .hi = 76, .cap = true}, dtype);
    add_positions(cases, {.rows = 40, .keys = 77, .window = 30, .hi = 76, .unknown = true}, dtype);
  }
  EXPECT_GE(cases.size(), 36u);
  cases.run();
}

// Keys and values in pages, by a table; indices are within it, and the cache is longer than what is seen of it.
TEST(CudaAttention, reads_pages) {
  CudaAttentionCases cases({kInParts, "gpu-flash rows=32 keys=32 threads=64", "gpu-flash rows=64 keys=64 threads=128"});
  for (const int64_t length : {1, 50, 130}) {
    for (const int64_t rows : {1, 40}) {
      Graph graph;
      const Expr keys = graph.dim("keys", 1, 4096);
      const Tensor table = graph.input("a3", {1, 2, keys}, i64);
      const Tensor q = cast(graph.input("a0", {1, 4, rows, 40}, bf16), f32);
      const Tensor k = index_select(graph.input("a1", {300, 40}, bf16), 0, table);
      const Tensor v = index_select(graph.input("a2", {300, 32}, bf16), 0, table);
      const Tensor wide_k = repeat_interleave(cast(k, f32), 2, 1), wide_v = repeat_interleave(cast(v, f32), 2, 1);
      const Tensor s = product(q, "bhqd", wide_k, "bhkd", "bhqk") * 0.2;
      const Positions p;
      cast(weighed(seen_from(graph, s, graph.input("a5", {1, rows}, i32), p), wide_v), bf16).output("r0");
      cases.add(graph, "pages", {{"keys", length}}, {0, 299});
      const auto text = print_kernel(*clone(graph), "k", "gpu-flash rows=64 keys=64 threads=128", tests::gpu_target());
      EXPECT_NE(text.value().text.find("lumen_copy_async(stage + 4096"), std::string::npos) << text.value().text;
    }
  }
  EXPECT_GE(cases.size(), 18u);
  cases.run();
}

TEST(CudaAttention, finds_bounds_of_masks) {
  const auto found = [](const Positions& p) {
    Graph graph;
    const Expr rows = graph.dim("rows", 1, 4096), keys = graph.dim("keys", 1, 4096);
    const Tensor q = graph.input("a0", {1, 1, rows, 32}), k = graph.input("a1", {1, 1, keys, 32});
    const Tensor s = product(q, "bhqd", k, "bhkd", "bhqk") * 0.2;
    const Tensor seen = seen_from(graph, s, graph.input("a3", {1, rows}, p.of), p);
    weighed(seen, graph.input("a2", {1, 1, keys, 24})).output("r0");
    return key_bounds(attention_form(graph).value());
  };
  EXPECT_EQ(found({}).all.size(), 1u);
  EXPECT_TRUE(found({}).all[0].is_end);
  EXPECT_EQ(found({.window = 5}).all.size(), 2u);
  EXPECT_NEAR(found({.window = 5}).scale.value_or(0), 0.2, 1e-6);
  EXPECT_EQ(found({.cap = true}).masks.size(), 1u);
  EXPECT_FALSE(found({.cap = true}).scale);
  EXPECT_EQ(found({.window = 5, .unknown = true}).all.size(), 2u);  // tiles are skipped, and the mask is looked at
  EXPECT_TRUE(found({.unknown = true}).masks.empty());
  EXPECT_FALSE(found({.unknown = true}).scale);
}

// One new token of a model: heads that share keys, a cache that is longer than what is in it.
TEST(CudaAttention, decodes) {
  CudaAttentionCases cases({kInParts});
  for (const int64_t length : {1, 40, 300}) {
    Graph graph;
    const Expr n = graph.dim("n", 1, 4096);
    const Tensor q = cast(graph.input("a0", {2, 4, 64}, bf16), f32);
    const Tensor k = cast(graph.input("a1", {n, 2, 64}, bf16), f32);
    const Tensor v = cast(graph.input("a2", {n, 2, 64}, bf16), f32);
    const Tensor s = product(q, "hgd", k, "khd", "hgk") * 0.125;
    const Tensor e = exp2((s - max(s, {-1}, true)) * kLog2e);
    cast(product(e, "hgk", v, "khd", "hgd") / sum(e, {-1}, true), bf16).output("r0");
    cases.add(graph, "decode", {{"n", length}});
  }
  cases.run();
}

TEST(CudaAttention, schedules_are_lines_of_text) {
  const std::string line = "gpu-decode rows=4 keys=64 parts=32 threads=256";
  EXPECT_EQ(CudaAttentionSchedule::parse(line).value().str(), line);
  EXPECT_FALSE(CudaAttentionSchedule::parse("attention vector mr=1").ok());
}

}  // namespace
}  // namespace lumen
