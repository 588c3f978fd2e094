// Attention kernels against the reference: masks, maps of scores, layouts, shared heads, sizes, symbolic dims.
#include "lumen/codegen/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/target.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/ops.h"
#include "tests/codegen/kernel_harness.h"
#include "tests/support/graphs/products.h"

namespace lumen {
namespace {

using namespace lumen::testing;

constexpr double kLog2e = 1.4426950408889634;

// What the matrix unit has is all that AVX-512 has, and more.
std::vector<Target> targets() {
  std::vector<Target> all;
  const cpu::Level widest = cpu::cpu().level == cpu::Level::amx ? cpu::Level::amx : cpu::Level::avx512;
  for (const cpu::Level level : {cpu::Level::generic, cpu::Level::avx2, widest}) {
    if (level <= cpu::cpu().level) all.push_back(cpu::target_of(cpu::cpu().as_if(level).value()));
  }
  return all;
}

// Numbers of about 1; a fifth of the bools are false.
HostTensor random_values(TensorType type, const DimValues& dims, std::mt19937_64& random) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value());
  for (Lane& lane : tensor.lanes) {
    const double x = static_cast<double>(random() % 4001) / 1000.0 - 2.0;
    lane = is_float(type.dtype) ? Scalar::of(type.dtype, x).value : Scalar::of(type.dtype, random() % 5 != 0).value;
  }
  return tensor;
}

// The first schedule of each method, and one of blocks so small that there are many of them.
std::vector<std::string> schedules_to_try(const std::vector<std::string>& proposed) {
  std::vector<std::string> all{"attention vector mr=3 nr=16 rows=6 keys=32"};
  struct Method {
    std::string name, small;
  };
  const Method methods[] = {{"attention vector", ""},
                            {"attention amx", "attention amx mr=16 nr=32 rows=32 keys=32"},
                            {"attention direct", "attention direct keys=16"}};
  for (const Method& method : methods) {
    const auto found =
        std::ranges::find_if(proposed, [&](const std::string& each) { return each.starts_with(method.name); });
    if (found == proposed.end()) continue;
    all.push_back(*found);
    if (!method.small.empty()) all.push_back(method.small);
  }
  return all;
}

// Cases that are compiled together: each body with schedules for every target.
class AttentionCases {
 public:
  void add(const Graph& graph, std::string about, const DimValues& dims = {}) {
    const std::shared_ptr<const Graph> body = clone(graph);
    std::vector<HostTensor> inputs;
    for (const NodeId id : body->inputs()) inputs.push_back(random_values((*body)[id].type, dims, random_));
    for (const Target& target : targets()) {
      const auto proposed = kernel_schedules(*body, target);
      ASSERT_TRUE(proposed.ok()) << about << ": " << proposed.diag().str() << print(*body);
      for (const std::string& schedule : schedules_to_try(*proposed)) {
        const auto kernel = print_kernel(*body, "k" + std::to_string(cases_.size()), schedule, target);
        ASSERT_TRUE(kernel.ok()) << kernel.diag().str() << print(*body);
        cases_.push_back({body, inputs, dims, *kernel,
                          about + ", " + schedule + ", vectors of " + std::to_string(target.vector_bytes)});
      }
    }
  }

  void run() {
    std::string source = kernel_prelude(Syntax::c);
    for (const Case& each : cases_) source += each.kernel.text;
    std::string flags = "-O1 -w -march=native";
    for (const std::string& flag : kernel_c_flags()) flags += " " + flag;
    const Compiled compiled(source, flags);
    for (const Case& each : cases_) {
      const auto [got, fault] = testing::run(each, compiled, random_);
      std::vector<const HostTensor*> in;
      for (const HostTensor& input : each.inputs) in.push_back(&input);
      const auto wanted = interpret(*expand(*each.body), in, each.dims).value();
      ASSERT_EQ(fault, 0);
      for (size_t k = 0; k < wanted.size(); ++k) {
        expect_same(got[k], wanted[k], wanted[k].dtype == f32 ? 64 : 4, each, 1);
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  std::vector<Case> cases_;
  std::mt19937_64 random_{std::random_device{}()};
};

// Softmax of scores [b,h,q,k] and their product with values [b,h,k,d].
Tensor weighed(Tensor scores, Tensor v, std::string_view v_dims = "bhkd", std::string_view result = "bhqd") {
  const Tensor e = exp2((scores - max(scores, {-1}, true)) * kLog2e);
  const Tensor o = product(e, "bhqk", v, v_dims, result);
  const Tensor total = reciprocal(sum(e, {-1}, true));
  return o * (result == "bhqd" ? total : transpose(total, 1, 2));
}

struct Sizes {
  Expr batch = 2, heads = 3, rows = 5, keys = 9, depth = 6, features = 7;
};

Tensor scores_of(Graph& graph, const Sizes& n) {
  const Tensor q = graph.input("a0", {n.batch, n.heads, n.rows, n.depth});
  const Tensor k = graph.input("a1", {n.batch, n.heads, n.keys, n.depth});
  return product(q, "bhqd", k, "bhkd", "bhqk") * 0.4;
}

Tensor values_of(Graph& graph, const Sizes& n) { return graph.input("a2", {n.batch, n.heads, n.keys, n.features}); }

template <class Adjust>
void add_adjusted(AttentionCases& cases, std::string about, const Sizes& n, Adjust adjust) {
  Graph graph;
  const Tensor scores = scores_of(graph, n);
  const Tensor v = values_of(graph, n);
  weighed(adjust(graph, scores), v).output("r0");
  cases.add(graph, std::move(about));
}

Tensor plain(Graph&, Tensor scores) { return scores; }

Tensor where_iota(Tensor scores, Expr condition) {
  const Shape square{scores.dim(-2), scores.dim(-1)};
  return where(iota(*scores.graph, square, condition, bool_), scores, -INFINITY);
}

Tensor causal(Graph&, Tensor scores) {
  return where_iota(scores, le(Expr::index(1, scores.dim(-1)), Expr::index(0, scores.dim(-2))));
}

TEST(Attention, attends_at_every_size) {
  AttentionCases cases;
  for (const int64_t rows : {1, 33, 130}) {
    for (const int64_t keys : {1, 31, 300}) {  // a maximum of nothing is refused
      Sizes n;
      n.rows = rows, n.keys = keys;
      add_adjusted(cases, "plain", n, plain);
    }
  }
  Sizes large;
  large.depth = 64, large.features = 64, large.rows = 70, large.keys = 150;
  add_adjusted(cases, "large heads", large, plain);
  Sizes small;
  small.batch = 1, small.heads = 1, small.depth = 1, small.features = 1;
  add_adjusted(cases, "small heads", small, plain);
  cases.run();
}

TEST(Attention, maps_scores) {
  AttentionCases cases;
  const Sizes n{.batch = 1, .rows = 40, .keys = 270};
  add_adjusted(cases, "added mask", n, [&](Graph& g, Tensor s) { return s + g.input("a3", {n.rows, n.keys}); });
  add_adjusted(cases, "bool mask", n, [&](Graph& g, Tensor s) {
    return where(g.input("a3", {n.batch, 1, n.rows, n.keys}, bool_), s, -INFINITY);
  });
  add_adjusted(cases, "finite mask", n, [&](Graph& g, Tensor s) {
    return where(g.input("a3", {n.rows, n.keys}, bool_), s, -1e30);
  });
  add_adjusted(cases, "soft cap", n, [](Graph&, Tensor s) { return tanh(s / 3.0) * 3.0; });
  add_adjusted(cases, "slopes", n, [&](Graph& g, Tensor s) {
    const Tensor distance = iota(g, {n.rows, n.keys}, Expr::index(1, n.keys) - Expr::index(0, n.rows), f32);
    return s + distance * g.input("a3", {n.heads, 1, 1});
  });
  cases.run();
}

TEST(Attention, skips_blocks_of_keys) {
  AttentionCases cases;
  for (const int64_t keys : {40, 300}) {
    const Sizes n{.batch = 1, .heads = 2, .rows = 130, .keys = keys};
    const Expr row = Expr::index(0, n.rows), key = Expr::index(1, n.keys);
    add_adjusted(cases, "causal", n, causal);
    add_adjusted(cases, "window", n,
                 [&](Graph&, Tensor s) { return where_iota(s, logical_and(le(key, row + 90), ge(key, row - 20))); });
    add_adjusted(cases, "window of two conditions", n, [&](Graph&, Tensor s) {
      return where_iota(where_iota(s, lt(key, row + 3)), ge(key, row - 20)) * 0.5;
    });
    add_adjusted(cases, "rows of nothing", n, [&](Graph&, Tensor s) { return where_iota(s, le(key + 50, row)); });
  }
  cases.run();
}

TEST(Attention, skipped_blocks_are_in_the_text) {
  Graph graph;
  const Sizes n{.rows = 300, .keys = 300};
  weighed(causal(graph, scores_of(graph, n)), values_of(graph, n)).output("r0");
  const Target target;
  const auto schedule = AttentionSchedule::parse("attention vector mr=4 nr=8 rows=8 keys=16").value();
  EXPECT_NE(print_attention(graph, "k", schedule, target).value().text.find("return 0 || (-k0 + m1 - 1) < 0;"),
            std::string::npos);
}

TEST(Attention, gives_zeros_for_rows_of_nothing_where_the_body_does) {
  AttentionCases cases;
  Graph graph;
  const Sizes n{.rows = 20, .keys = 40};
  const Expr row = Expr::index(0, n.rows), key = Expr::index(1, n.keys);
  const Tensor s = where_iota(scores_of(graph, n), le(key + 5, row));
  const Tensor y = weighed(s, values_of(graph, n));
  where(eq(max(s, {-1}, true), -INFINITY), 0.0, y).output("r0");
  cases.add(graph, "zeros");
  cases.run();
}

TEST(Attention, takes_other_spellings_of_the_exponent) {
  AttentionCases cases;
  const Sizes n{.batch = 1, .rows = 40, .keys = 270};
  Graph graph;
  const Tensor q = graph.input("a0", {1, 3, n.rows, 6}), k = graph.input("a1", {1, 3, n.keys, 6});
  const Tensor s = product(q, "bhqd", k, "bhkd", "bhqk");
  const Tensor e = exp2(s * 0.6 + max(s, {-1}, true) * -0.6);
  (product(e, "bhqk", values_of(graph, n), "bhkd", "bhqd") / sum(e, {-1}, true)).output("r0");
  cases.add(graph, "scaled after the maximum");
  Graph biased;
  const Tensor t = scores_of(biased, n);
  const Tensor v = values_of(biased, n);
  const Tensor f = exp2((t - max(t, {-1}, true)) * 1.5 + biased.input("a3", {n.keys}));
  (product(f, "bhqk", v, "bhkd", "bhqd") / sum(f, {-1}, true)).output("r0");
  cases.add(biased, "something added to the exponent");
  cases.run();
}

TEST(Attention, takes_weights_that_are_divided_before_they_are_summed) {
  AttentionCases cases;
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
    cases.add(graph, "divided first");
  }
  cases.run();
}

TEST(Attention, shares_heads_and_reads_every_layout) {
  AttentionCases cases;
  Graph repeated;
  const Tensor q = repeated.input("a0", {2, 6, 35, 8});
  const Tensor k = repeat_interleave(repeated.input("a1", {2, 2, 50, 8}), 3, 1);
  const Tensor v = repeat_interleave(repeated.input("a2", {2, 2, 50, 9}), 3, 1);
  weighed(product(q, "bhqd", k, "bhkd", "bhqk"), v).output("r0");
  cases.add(repeated, "heads repeated");
  Graph broadcast;  // [batch, key head, query heads to one, …]
  const Tensor q5 = broadcast.input("a0", {2, 2, 3, 35, 8});
  const Tensor k4 = broadcast.input("a1", {2, 2, 50, 8}), v4 = broadcast.input("a2", {2, 2, 50, 9});
  const Tensor s = product(q5, "bhgqd", k4, "bhkd", "bhgqk");
  const Tensor e = exp2((s - max(s, {-1}, true)) * kLog2e);
  (product(e, "bhgqk", v4, "bhkd", "bhgqd") / sum(e, {-1}, true)).output("r0");
  cases.add(broadcast, "heads broadcast");
  Graph layout;  // [batch, sequence, heads, size]; values transposed; the result too
  const Tensor q3 = layout.input("a0", {2, 35, 3, 8}), k3 = layout.input("a1", {2, 50, 3, 8});
  const Tensor scores = product(q3, "bqhd", k3, "bkhd", "bhqk");
  weighed(scores, layout.input("a2", {2, 3, 9, 50}), "bhdk", "bqhd").output("r0");
  cases.add(layout, "sequence before heads");
  cases.run();
}

TEST(Attention, serves_dims_of_every_size) {
  AttentionCases cases;
  for (const int64_t rows : {1, 60}) {
    for (const int64_t keys : {1, 400}) {
      Graph graph;
      Sizes n;
      n.rows = graph.dim("rows", 1, 4096), n.keys = graph.dim("keys", 1, 4096);
      weighed(causal(graph, scores_of(graph, n)), values_of(graph, n)).output("r0");
      cases.add(graph, "symbolic", {{"rows", rows}, {"keys", keys}});
    }
  }
  cases.run();
}

TEST(Attention, widens_operands_and_computes_what_follows) {
  AttentionCases cases;
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
        cases.add(graph, "narrow");
      }
    }
  }
  Graph transposed;  // values along the keys
  const Tensor q = cast(transposed.input("a0", {1, 3, 20, 40}, bf16), f32);
  const Tensor k = cast(transposed.input("a1", {1, 3, 70, 40}, bf16), f32);
  const Tensor v = cast(transposed.input("a2", {1, 3, 24, 70}, bf16), f32);
  cast(weighed(product(q, "bhqd", k, "bhkd", "bhqk") * 0.2, v, "bhdk"), bf16).output("r0");
  cases.add(transposed, "narrow, values transposed");
  cases.run();
}

TEST(Attention, says_what_it_cannot_do) {
  const Target target;
  Graph weights;  // as an output
  const Tensor s = scores_of(weights, {});
  const Tensor e = exp2((s - max(s, {-1}, true)) * kLog2e);
  e.output("r0");
  product(e, "bhqk", values_of(weights, {}), "bhkd", "bhqd").output("r1");
  EXPECT_FALSE(attention_schedules(weights, target).ok());
  Graph falling;  // weights that grow with the maximum
  const Tensor t = scores_of(falling, {});
  const Tensor f = exp2(t + max(t, {-1}, true));
  product(f, "bhqk", values_of(falling, {}), "bhkd", "bhqd").output("r0");
  const auto schedules = attention_schedules(falling, target);
  ASSERT_FALSE(schedules.ok());
  EXPECT_EQ(schedules.diag().message,
            "the weights of attention are not Exp2 of a multiple of the scores less their maximum");
}

TEST(Attention, schedules_are_lines_of_text) {
  const std::string line = "attention vector mr=14 nr=32 rows=56 keys=128";
  EXPECT_EQ(AttentionSchedule::parse(line).value().str(), line);
  for (const char* wrong : {"", "gemm mr=1", "attention", "attention vector mr=", "attention vector zr=1"}) {
    EXPECT_FALSE(AttentionSchedule::parse(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace lumen
