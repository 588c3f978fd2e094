// Attention by products of groups of warps against the reference, emulated.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/codegen/cuda_attention.h"
#include "tests/codegen/cuda_attention_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

const char* const kWide = "gpu-flash-wgmma rows=128 keys=128 threads=256";
const char* const kNarrow = "gpu-flash-wgmma rows=64 keys=64 threads=128";

struct Wanted {
  DType dtype = bf16;
  int64_t rows = 130, keys = 300, depth = 64, features = 64, sharers = 1;
  bool masked = false, along_keys = false, turned_keys = false;
};

void add(CudaAttentionCases& cases, const Wanted& w) {
  Graph graph;
  const Expr rows = graph.dim("rows", 1, 4096);
  const Expr length = w.keys % 16 == 0 ? Expr(w.keys) : graph.dim("keys", 1, 4096);
  const int64_t heads = 2;
  const Tensor q = cast(graph.input("a0", {1, heads * w.sharers, rows, w.depth}, w.dtype), f32);
  Tensor k = w.turned_keys ? graph.input("a1", {1, heads, w.depth, length}, w.dtype)
                           : graph.input("a1", {1, heads, length, w.depth}, w.dtype);
  Tensor v = w.along_keys ? graph.input("a2", {1, heads, w.features, length}, w.dtype)
                          : graph.input("a2", {1, heads, length, w.features}, w.dtype);
  k = repeat_interleave(cast(k, f32), w.sharers, 1), v = repeat_interleave(cast(v, f32), w.sharers, 1);
  const Tensor s = product(q, "bhqd", k, w.turned_keys ? "bhdk" : "bhkd", "bhqk") * 0.125;
  cast(weighed(w.masked ? causal(graph, s) : s, v, w.along_keys ? "bhdk" : "bhkd"), w.dtype).output("r0");
  DimValues dims{{"rows", w.rows}};
  if (!length.is_constant()) dims.set("keys", w.keys);
  cases.add(graph, fmt::format("{} rows, {} keys", w.rows, w.keys), dims);
}

TEST(CudaAttentionGroups, attends_at_every_size) {
  CudaAttentionCases cases({kWide, kNarrow});
  for (const DType dtype : {bf16, f16}) {
    for (const bool masked : {false, true}) {
      add(cases, {.dtype = dtype, .masked = masked});
      add(cases, {.dtype = dtype, .rows = 129, .keys = 259, .depth = 128, .features = 128, .masked = masked});
      add(cases, {.dtype = dtype, .rows = 7, .keys = 5, .masked = masked});
      add(cases, {.dtype = dtype, .rows = 64, .keys = 128, .sharers = 3, .masked = masked});
    }
  }
  cases.run();
}

}  // namespace
}  // namespace lumen
