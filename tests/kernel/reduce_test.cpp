// Reducing: the smallest graph that still has a property.
#include <gtest/gtest.h>

#include <algorithm>

#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/kernel/graph_edit.h"
#include "lumen/kernel/reduce_graph.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/round_trip.h"

namespace lumen {
namespace {

std::shared_ptr<const Graph> read(std::string_view text) { return parse(text, hlir_ops()).value(); }

size_t count(const Graph& graph, std::string_view op) {
  const std::vector<NodeId> order = graph.order();
  return static_cast<size_t>(std::ranges::count_if(order, [&](NodeId id) { return graph[id].op->name == op; }));
}

Interesting has(std::string_view op) {
  return [op](const std::shared_ptr<const Graph>& graph) -> Expected<bool> { return count(*graph, op) > 0; };
}

TEST(Reduce, refuses_what_is_not_interesting) {
  const auto graph = read("lumen 1\n%x = Input() :name \"x\" :shape [3]\noutput \"y\" = %x\n");
  EXPECT_EQ(reduce_graph(graph, has("Sort")).diag().message,
            "the graph is not interesting to begin with: there is nothing to keep while it shrinks");
}

TEST(Reduce, hands_on_what_asking_fails_with) {
  const auto graph = read("lumen 1\n%x = Input() :name \"x\" :shape [3]\noutput \"y\" = %x\n");
  const Interesting fails = [](const std::shared_ptr<const Graph>&) -> Expected<bool> { return error("no shell"); };
  EXPECT_EQ(reduce_graph(graph, fails).diag().message, "no shell");
}

TEST(Reduce, leaves_the_op_alone) {
  const auto graph = read(R"(lumen 1
dim n 1..64
%x = Input() :name "x" :shape [n,512]
%w = Input() :name "w" :shape [n,512]
%a = Mul(%x, %w)
%b = Exp2(%a)
%s = Sort(%b) :axis 1
%m = MaxReduce(%b) :axis 1
%r = Recip(%m)
output "y" = %s
output "z" = %r
output "b" = %b
)");
  const Reduced reduced = reduce_graph(graph, has("Exp2")).value();
  EXPECT_TRUE(reduced.complete);
  EXPECT_EQ(print(*reduced.graph), R"(lumen 1
%0 = Input() :name "v0" :kind data :dtype f32 :shape [1,1] -> f32[1,1]
%1 = Exp2(%0) -> f32[1,1]
output "b" = %1
)");
}

// Both ops must stay, one behind the other, with what is between them.
TEST(Reduce, keeps_what_lies_between) {
  const auto graph = read(R"(lumen 1
%x = Input() :name "x" :shape [64,32]
%a = Exp2(%x)
%b = Recip(%a)
%c = Sqrt(%b)
%s = SumReduce(%c) :axis 1
%e = Exp2(%s)
output "y" = %e
)");
  const Interesting both = [](const std::shared_ptr<const Graph>& each) -> Expected<bool> {
    return count(*each, "SumReduce") == 1 && count(*each, "Recip") == 1;
  };
  const Reduced reduced = reduce_graph(graph, both).value();
  EXPECT_EQ(reduced.graph->order().size(), 3u) << print(*reduced.graph);
  EXPECT_EQ(count(*reduced.graph, "Sqrt"), 0u);
}

TEST(Reduce, sizes_shrink_together) {
  const auto graph = read(R"(lumen 1
%x = Input() :name "x" :shape [64,32]
%v = View(%x) :view {[32,64] 32*i1 + i0}
%s = SumReduce(%v) :axis 1
output "y" = %s
)");
  const Interesting transposed = [](const std::shared_ptr<const Graph>& each) -> Expected<bool> {
    return count(*each, "SumReduce") == 1 && count(*each, "View") == 1;
  };
  const Reduced reduced = reduce_graph(graph, transposed).value();
  for (const NodeId id : reduced.graph->order()) {
    for (const Expr& dim : (*reduced.graph)[id].type.shape) EXPECT_LE(*dim.constant(), 1);
  }
}

TEST(Reduce, state_goes_with_its_output) {
  const auto graph = read(R"(lumen 1
%s = Input() :name "s" :kind state :shape [4]
%x = Input() :name "x" :shape [4]
%n = Add(%s, %x)
%e = Exp2(%n)
output "s2" = %n updates %s
output "y" = %e
)");
  const Interesting updates = [](const std::shared_ptr<const Graph>& each) -> Expected<bool> {
    return std::ranges::any_of(each->outputs(), [](const Output& output) { return output.alias.has_value(); });
  };
  const Reduced kept = reduce_graph(graph, updates).value();
  EXPECT_EQ(kept.graph->outputs().size(), 1u);
  EXPECT_TRUE(kept.graph->outputs()[0].alias.has_value());
  const Reduced gone = reduce_graph(graph, has("Exp2")).value();
  EXPECT_EQ(gone.graph->order().size(), 2u) << print(*gone.graph);
}

TEST(Reduce, stops_at_its_limit) {
  const auto graph = testing::make_random_graph(3).graph;
  ReduceOptions options;
  options.tries = 3;
  size_t asked = 0;
  const Interesting always = [&](const std::shared_ptr<const Graph>&) -> Expected<bool> { return ++asked > 0; };
  const Reduced reduced = reduce_graph(graph, always, options).value();
  EXPECT_EQ(asked, 3u);
  EXPECT_FALSE(reduced.complete);
}

// Whatever is asked for, only valid graphs are asked about, none of them twice, and one op is left with its inputs.
TEST(Reduce, random_graphs) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto graph = testing::make_random_graph(seed).graph;
    const std::string_view op = (*graph)[graph->order().back()].op->name;
    std::set<uint64_t> seen;
    const Interesting check = [&](const std::shared_ptr<const Graph>& each) -> Expected<bool> {
      EXPECT_TRUE(verify(*each, llir_stage()).ok());
      EXPECT_TRUE(parse(print(*each), llir_ops()).value()->equals(*each));
      EXPECT_TRUE(seen.insert(each->hash()).second);
      return count(*each, op) > 0;
    };
    const Reduced reduced = reduce_graph(graph, check).value();
    EXPECT_TRUE(reduced.complete);
    EXPECT_EQ(reduced.graph->outputs().size(), 1u);
    size_t inputs = reduced.graph->inputs().size();
    size_t leaves = 0;
    for (const NodeId id : reduced.graph->order()) leaves += (*reduced.graph)[id].op->family == OpFamily::leaf ? 1 : 0;
    EXPECT_LE(reduced.graph->order().size(), std::max(inputs, leaves) + 1) << print(*reduced.graph);
  }
}

}  // namespace
}  // namespace lumen
