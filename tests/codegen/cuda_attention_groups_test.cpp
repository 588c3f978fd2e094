// Attention by products of groups of warps against the reference, emulated.
#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "lumen/codegen/cuda_attention.h"
#include "tests/codegen/cuda_attention_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

const char* const kWide = "gpu-flash-wgmma rows=128 keys=128 threads=384 stages=3";
const char* const kNarrow = "gpu-flash-wgmma rows=64 keys=64 threads=256 stages=2";
const char* const kTall = "gpu-flash-wgmma rows=192 keys=64 threads=512 stages=3";

struct Wanted {
  DType dtype = bf16;
  int64_t rows = 130, keys = 300, depth = 64, features = 64, sharers = 1;
  bool masked = false, along_keys = false, turned_keys = false, turned_queries = false, computed = false;
};

void add(CudaAttentionCases& cases, const Wanted& w) {
  Graph graph;
  const Expr rows = w.turned_queries ? Expr(w.rows) : graph.dim("rows", 1, 4096);
  const Expr keys = w.keys % 8 == 0 ? Expr(w.keys) : graph.dim("keys", 1, 4096);
  const Expr heads = 2, all = 2 * w.sharers;
  const auto read = [&](const char* name, const Shape& shape) {
    const Tensor x = graph.input(name, shape, w.dtype);
    return cast(w.computed ? cast(cast(x, f32) + 0.25, w.dtype) : x, f32);
  };
  const Tensor q = read("a0", w.turned_queries ? Shape{1, all, w.depth, rows} : Shape{1, all, rows, w.depth});
  const Tensor k = read("a1", w.turned_keys ? Shape{1, heads, w.depth, keys} : Shape{1, heads, keys, w.depth});
  const Tensor v = read("a2", w.along_keys ? Shape{1, heads, w.features, keys} : Shape{1, heads, keys, w.features});
  const Tensor s = product(q, w.turned_queries ? "bhdq" : "bhqd", repeat_interleave(k, w.sharers, 1),
                           w.turned_keys ? "bhdk" : "bhkd", "bhqk") *
                   0.125;
  const Tensor y =
      weighed(w.masked ? causal(graph, s) : s, repeat_interleave(v, w.sharers, 1), w.along_keys ? "bhdk" : "bhkd");
  cast(y, w.dtype).output("r0");
  DimValues dims;
  if (!rows.is_constant()) dims.set("rows", w.rows);
  if (!keys.is_constant()) dims.set("keys", w.keys);
  cases.add(graph, fmt::format("{} rows, {} keys", w.rows, w.keys), dims);
}

// Fewer keys than are weighed at a time, as many, several times as many and some: each loop is entered, and left.
TEST(CudaAttentionGroups, attends_at_every_size) {
  CudaAttentionCases cases({kWide, kNarrow});
  for (const DType dtype : {bf16, f16}) {
    for (const bool masked : {false, true}) {
      add(cases, {.dtype = dtype, .rows = 65, .keys = 257, .masked = masked});
      add(cases, {.dtype = dtype, .rows = 129, .keys = 400, .depth = 128, .features = 128, .masked = masked});
    }
    add(cases, {.dtype = dtype, .rows = 7, .keys = 5, .masked = dtype == bf16});
    add(cases, {.dtype = dtype, .rows = 64, .keys = 128, .sharers = 3, .masked = dtype == f16});
  }
  EXPECT_GE(cases.size(), 20u);
  cases.run();
}

TEST(CudaAttentionGroups, reads_every_layout) {
  CudaAttentionCases cases({kWide, kNarrow, kTall});
  add(cases, {.keys = 200, .along_keys = true});
  add(cases, {.dtype = f16, .keys = 136, .depth = 128, .turned_keys = true});
  add(cases, {.rows = 72, .keys = 100, .depth = 128, .turned_queries = true});
  add(cases, {.rows = 70, .keys = 100, .depth = 20, .features = 40, .masked = true});
  add(cases, {.rows = 70, .keys = 150, .depth = 96, .features = 160, .masked = true});
  add(cases, {.dtype = f16, .rows = 70, .keys = 150, .depth = 256, .features = 256, .masked = true});
  add(cases, {.rows = 70, .keys = 150, .masked = true, .computed = true});
  add(cases, {.rows = 20, .keys = 70, .along_keys = true, .turned_keys = true, .computed = true});
  EXPECT_GE(cases.size(), 13u);
  cases.run();
}

// Sums need more room than the tiles whose place they take; gates are there when a block goes on with its next row.
TEST(CudaAttentionGroups, keep_gates_beside_wide_sums) {
  CudaAttentionCases cases({"gpu-flash-wgmma rows=128 keys=64 threads=384 stages=2"});
  add(cases, {.rows = 70, .keys = 150, .depth = 96, .features = 160, .masked = true});
  EXPECT_EQ(cases.size(), 2u);
  cases.run(1);
}

// Maps of scores that are more than a factor, and masks that are bounds of data.
TEST(CudaAttentionGroups, maps_scores) {
  CudaAttentionCases cases({kWide, kNarrow, kTall});
  for (const int64_t window : {0, 30}) {
    Graph graph;
    const Expr rows = graph.dim("rows", 1, 4096), keys = graph.dim("keys", 1, 4096);
    const auto read = [&](const char* name, Expr lines) {
      return cast(graph.input(name, {1, 2, lines, 64}, bf16), f32);
    };
    const Tensor q = read("a0", rows), k = read("a1", keys), v = read("a2", keys);
    const Tensor s = tanh(product(q, "bhqd", k, "bhkd", "bhqk") * 0.02) * 5.0 + graph.input("a3", {keys});
    const Tensor at = cast(unsqueeze(unsqueeze(graph.input("a4", {1, rows}, i32), 1), -1), i64);
    const Tensor key = iota(graph, {1, 1, 1, keys}, Expr::index(3, keys), i64);
    Tensor seen = le(key, at);
    if (window > 0) seen = logical_and(seen, gt(key + window, at));
    cast(weighed(where(seen, s, -INFINITY), v), bf16).output("r0");
    for (const int64_t lo : {-20, 0}) {
      cases.add(graph, fmt::format("window {}", window), {{"rows", 90}, {"keys", 270}}, {lo, 300 + lo});
    }
  }
  cases.run();
}

TEST(CudaAttentionGroups, are_of_one_generation) {
  Graph graph;
  const auto read = [&](const char* name) { return cast(graph.input(name, {1, 2, 512, 64}, bf16), f32); };
  const Tensor q = read("a0"), k = read("a1"), v = read("a2");
  cast(weighed(product(q, "bhqd", k, "bhkd", "bhqk") * 0.1, v), bf16).output("r0");
  Target target = tests::gpu_target();
  EXPECT_EQ(cuda_attention_schedules(graph, target).value()[0].str(), kWide);
  target.sm = 100;
  for (const CudaAttentionSchedule& each : cuda_attention_schedules(graph, target).value()) {
    EXPECT_NE(each.method, CudaAttentionMethod::groups);
  }
  EXPECT_FALSE(print_cuda_attention(graph, "k", CudaAttentionSchedule::parse(kWide).value(), target).ok());
}

// Every wait of a kernel is needed: without it, the emulator reports something or the results are others.
TEST(CudaAttentionGroups, wait_for_nothing_in_vain) {
  Graph graph;
  const auto read = [&](const char* name) { return cast(graph.input(name, {1, 1, 640, 64}, bf16), f32); };
  const Tensor q = read("a0"), k = read("a1"), v = read("a2");
  cast(weighed(causal(graph, product(q, "bhqd", k, "bhkd", "bhqk") * 0.1), v), bf16).output("r0");
  Case given{clone(graph), {}, {}, {}, ""};
  std::mt19937_64 random(1);
  for (const NodeId id : graph.inputs()) given.inputs.push_back(random_values(graph[id].type, {}, random));
  const auto schedule = CudaAttentionSchedule::parse("gpu-flash-wgmma rows=128 keys=64 threads=384 stages=2").value();
  const KernelText right = print_cuda_attention(graph, "k", schedule, tests::gpu_target()).value();
  const auto run = [&](const std::string& from, const std::string& to) {
    given.kernel = right;
    std::string& text = given.kernel.text;
    const bool found = text.find(from) != std::string::npos;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
    EXPECT_TRUE(found) << from;
    return reports_and_results(given, random);
  };
  const std::vector<double> wanted = run("lumen_pass", "lumen_pass");
  ASSERT_EQ(wanted[0], 0);
  for (const char* const gate : {"keys_there", "keys_used", "values_there", "values_used"}) {
    // Whether anyone is early is a matter of chance.
    std::vector<double> got = wanted;
    for (int tries = 0; tries < 8 && got == wanted; ++tries) {
      got = run(fmt::format("lumen_pass({}", gate), fmt::format("(void)({}", gate));
    }
    EXPECT_NE(got, wanted) << gate;
  }
  EXPECT_NE(run("lumen_show_products();", ""), wanted);
  EXPECT_NE(run("lumen_let_go(3, 256)", ""), wanted);
  EXPECT_NE(run("lumen_meet(2, 256)", ""), wanted);
}

// One product: element (row, k) of the left side is row + 3 * k, (k, column) of the right side 1 + column where
// k is 5, else 0. The places of pieces are spelled out here, and read by descriptors.
const char* const kProduct = R"C(
  LUMEN_SHARED_TILES(shared);
  uint16_t* const left = (uint16_t*)shared, *const right = left + 4096;
  for (int e = threadIdx.x; e < 1024; e += 128) {
    const int line = e / 16, k = e % 16;
    left[line * 64 + (k / 8 ^ line % 8) * 8 + k % 8] = lumen_store_bf16((float)(line + 3 * k));
    right[k * 64 + (line / 8 ^ k % 8) * 8 + line % 8] = lumen_store_bf16(k == 5 ? 1.0f + line : 0.0f);
  }
  SHOW
  __syncthreads();
  float c[32] = {};
  BEGIN
  lumen_group_multiply_bf16<64, 0, 1>(c, lumen_describe(left, 0, 16), lumen_describe(right, 0, 16), 1);
  lumen_commit_products();
  MEANWHILE
  lumen_wait_for_products<0>();
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int j = 0; j < 32; ++j) r0[(row + j / 2 % 2 * 8) * 64 + j / 4 * 8 + column + j % 2] = c[j];
)C";

std::vector<double> multiplied(const std::vector<std::pair<std::string, std::string>>& changes) {
  Graph graph;
  (graph.input("a0", {64, 64}) * 1.0).output("r0");
  Case given{clone(graph), {HostTensor::poisoned(f32, {64, 64})}, {}, {}, ""};
  std::string text = kProduct;
  for (const auto& [from, to] : changes) text.replace(text.find(from), from.size(), to);
  for (const char* const word : {"SHOW", "BEGIN", "MEANWHILE"}) {
    const size_t at = text.find(word);
    const std::string usual = std::string(word) == "SHOW"    ? "lumen_show_products();"
                              : std::string(word) == "BEGIN" ? "lumen_begin_products();"
                                                             : "";
    if (at != std::string::npos) text.replace(at, std::string(word).size(), usual);
  }
  given.kernel.text = kernel_head(graph, "k", 128) + text + "  LUMEN_RETURN;\n}\n";
  given.kernel.steps = {{"k", 1}};
  given.kernel.steps[0].threads = 128;
  given.kernel.steps[0].shared = 16384;
  std::mt19937_64 random(1);
  const auto [got, fault] = Emulated({given.kernel}).run(given, random);
  std::vector<double> all;
  for (const Lane& lane : got[0].lanes) all.push_back(lane.f);
  return all;
}

TEST(CudaAttentionGroups, products_are_emulated_as_defined) {
  const std::vector<double> right = multiplied({});
  for (size_t e = 0; e < 4096; ++e) {
    ASSERT_EQ(right[e], static_cast<double>((e / 64 + 15) * (1 + e % 64))) << e;
  }
  EXPECT_NE(multiplied({{"k / 8 ^ line % 8", "k / 8"}}), right);
  EXPECT_NE(multiplied({{"line / 8 ^ k % 8", "line / 8"}}), right);
  EXPECT_NE(multiplied({{"<64, 0, 1>", "<64, 0, 0>"}}), right);
  EXPECT_NE(multiplied({{"(left, 0", "(left, 32"}}), right);
  EXPECT_NE(multiplied({{"lumen_wait_for_products<0>", "lumen_wait_for_products<1>"}}), right);
}

TEST(CudaAttentionGroups, mistakes_are_reported) {
  EXPECT_NONFATAL_FAILURE(multiplied({{"BEGIN", ""}}), "not begun");
  EXPECT_NONFATAL_FAILURE(multiplied({{"SHOW",
                                       "lumen_copy_async(right + 2048, a0, 0); lumen_commit_copies(); "
                                       "lumen_wait_for_copies<0>();"}}),
                          "does not show");
  EXPECT_NONFATAL_FAILURE(multiplied({{"MEANWHILE", "if (threadIdx.x == 0) right[0] = 1;"}}), "written while");
  EXPECT_NONFATAL_FAILURE(multiplied({{"(right, 0", "(right, threadIdx.x % 32 * 32"}}), "different tiles");
}

}  // namespace
}  // namespace lumen
