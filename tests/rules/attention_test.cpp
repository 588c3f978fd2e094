// However attention is written, the search finds one form: scores that are a map over a contraction, their exponentials
// e, and  (e contracted with the values) / (sum of e). That is what a streaming kernel computes in one pass.
#include <gtest/gtest.h>

#include "lumen/frontend/ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/unary.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/rewrite.h"
#include "tests/rules/samples.h"

namespace lumen {
namespace {

using testing::Sample;

NodeId through_views(const Graph& graph, NodeId id) {
  while (graph[id].is<hlir::View>()) id = graph[id].operands[0];
  return id;
}

bool depends_on_contraction(const Graph& graph, NodeId id) {
  if (graph[id].is<llir::Contract>()) return true;
  for (const NodeId operand : graph[id].operands) {
    if (depends_on_contraction(graph, operand)) return true;
  }
  return false;
}

// 1 / sum of e, read through views.
bool is_inverse_sum(const Graph& graph, NodeId id, NodeId e) {
  id = through_views(graph, id);
  if (!graph[id].is<hlir::Recip>()) return false;
  id = through_views(graph, graph[id].operands[0]);
  return graph[id].is<hlir::SumReduce>() && graph[id].operands[0] == e;
}

// The exponentials, when the node is a contraction of them with something.
std::optional<NodeId> weights_of(const Graph& graph, NodeId id) {
  id = through_views(graph, id);
  if (!graph[id].is<llir::Contract>()) return std::nullopt;
  for (const NodeId operand : graph[id].operands) {
    if (graph[operand].is<hlir::Exp2>() && depends_on_contraction(graph, operand)) return operand;
  }
  return std::nullopt;
}

bool is_streaming(const Graph& graph) {
  for (const NodeId id : graph.order()) {
    if (!graph[id].is<hlir::Mul>()) continue;
    for (const size_t k : {size_t{0}, size_t{1}}) {
      const std::optional<NodeId> e = weights_of(graph, graph[id].operands[k]);
      if (e && is_inverse_sum(graph, graph[id].operands[1 - k], *e)) return true;
    }
  }
  return false;
}

int64_t count(const Graph& graph, const OpDef& op) {
  int64_t found = 0;
  for (const NodeId id : graph.order()) found += graph[id].op == &op ? 1 : 0;
  return found;
}

TEST(Attention, every_spelling_becomes_the_streaming_form) {
  for (const Sample& sample : testing::attention_samples()) {
    EXPECT_FALSE(is_streaming(*sample.graph)) << sample.name;
    const Rewritten result = rewrite(*sample.graph).value();
    const Graph& best = *result.candidates[0].graph;
    EXPECT_TRUE(is_streaming(best)) << sample.name << "\n" << print(best);
    EXPECT_EQ(count(best, op_def<llir::Contract>()), 2) << sample.name << "\n" << print(best);
    EXPECT_EQ(count(best, op_def<hlir::SumReduce>()), 1) << sample.name;
    EXPECT_EQ(count(best, op_def<hlir::MaxReduce>()), 1) << sample.name;
  }
}

TEST(Attention, needs_the_rules_that_move_factors) {
  const Sample sample = testing::attention_samples()[0];
  RewriteOptions options;
  options.saturate.without = {"factor-leaves-left"};
  EXPECT_FALSE(is_streaming(*rewrite(*sample.graph, options).value().candidates[0].graph));
  options.saturate = {};
  options.saturate.rounding = false;
  EXPECT_FALSE(is_streaming(*rewrite(*sample.graph, options).value().candidates[0].graph));
}

TEST(Attention, is_found_in_a_transformer_block) {
  for (const DType dtype : {f32, bf16}) {
    const Sample block = testing::transformer_block({32, 8, 64, 5632, 64, 4096}, dtype);
    const Rewritten result = rewrite(*block.graph).value();
    EXPECT_EQ(result.report.limit, "");
    EXPECT_LT(result.report.rows, 3000u);
    const Graph& best = *result.candidates[0].graph;
    EXPECT_TRUE(is_streaming(best)) << print(best);
    EXPECT_EQ(count(best, op_def<llir::Contract>()), 9) << print(best);
  }
}

// A token reads the part of a cache that is there, not the cast of the whole.
TEST(Attention, of_one_token_reads_the_part_of_a_cache_that_is_there) {
  Graph graph;
  constexpr int64_t kHeads = 12, kRoom = 8448, kWidth = 64;
  const Expr context = graph.dim("context", 1, kRoom);
  const Shape part{kHeads, context, kWidth};
  const auto at = [&](int k) { return Expr::index(k, part[k]); };
  const View there(part, (at(0) * kRoom + at(1)) * kWidth + at(2));
  const auto cached = [&](const char* name) {
    const Tensor cache = cast(graph.input(name, {kHeads * kRoom, kWidth}, bf16, InputKind::state), f32);
    return Tensor{&graph, graph.add(hlir::View{there}, std::span(&cache.id, 1)).value()};
  };
  const Tensor q = cast(graph.input("q", {kHeads, kWidth}, bf16), f32);
  const Tensor scores = sum(unsqueeze(q, 1) * cached("keys"), {2});
  sum(unsqueeze(softmax(scores), 2) * cached("values"), {1}).output("y");
  for (const int64_t tokens : {128, 512, 2048}) {
    RewriteOptions options;
    options.dims = {{"context", tokens}};
    const std::shared_ptr<Graph> best = rewrite(graph, options).value().candidates[0].graph;
    EXPECT_TRUE(is_streaming(*best)) << tokens << "\n" << print(*best);
  }
}

// What the kernels for narrow floats look for: operands that are cast right where they are multiplied.
TEST(Attention, contractions_of_bf16_multiply_casts) {
  const Sample block = testing::transformer_block({32, 8, 64, 5632, 64, 4096}, bf16);
  const std::shared_ptr<Graph> program = rewrite(*block.graph).value().candidates[0].graph;
  const Graph& best = *program;
  int64_t of_casts = 0;
  for (const NodeId id : best.order()) {
    if (!best[id].is<llir::Contract>()) continue;
    const auto is_cast = [&](NodeId operand) {
      return best[operand].is<hlir::Cast>() && best[best[operand].operands[0]].type.dtype == bf16;
    };
    of_casts += is_cast(best[id].operands[0]) && is_cast(best[id].operands[1]) ? 1 : 0;
  }
  EXPECT_EQ(of_casts, 8) << print(best);  // all but weights times values
}

}  // namespace
}  // namespace lumen
