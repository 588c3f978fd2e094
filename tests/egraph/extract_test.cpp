#include <gtest/gtest.h>

#include <limits>

#include "lumen/egraph/extract/dag.h"
#include "lumen/egraph/extract/k_best.h"
#include "lumen/egraph/extract/term.h"
#include "lumen/egraph/extract/tree.h"

namespace lumen::egraph {
namespace {

// x = a(2) | b(y)(1);  y = c(1) | d(x)(0);  z = e(z)(1);  top = f(x, x)(1) | g(y)(3)
struct Sample {
  FlatGraph graph;
  ClassId x = graph.add_class();
  ClassId y = graph.add_class();
  ClassId z = graph.add_class();
  ClassId top = graph.add_class();
  NodeId a = graph.add_node(x, {}, 2);
  NodeId b = graph.add_node(x, {y}, 1);
  NodeId c = graph.add_node(y, {}, 1);
  NodeId d = graph.add_node(y, {x}, 0);
  NodeId e = graph.add_node(z, {z}, 1);
  NodeId f = graph.add_node(top, {x, x}, 1);
  NodeId g = graph.add_node(top, {y}, 3);
  Sample() { graph.finish(); }
};

TEST(TreeExtract, TakesTheFirstOfTheCheapest) {
  const Sample s;
  const TreeExtraction tree = tree_extract(s.graph);
  EXPECT_EQ(tree.cost, (std::vector<Cost>{2, 1, kInfinite, 4}));
  EXPECT_EQ(tree.choice, (std::vector<NodeId>{s.a, s.c, kNone, s.g}));
}

TEST(TreeExtract, ClassWithoutNodesHasNoTerm) {
  FlatGraph graph;
  const ClassId empty = graph.add_class();
  const ClassId user = graph.add_class();
  graph.add_node(user, {empty}, 1);
  graph.finish();
  EXPECT_EQ(tree_extract(graph).choice, (std::vector<NodeId>{kNone, kNone}));
}

TEST(TreeExtract, CyclesOfCostZero) {
  FlatGraph graph;
  const ClassId x = graph.add_class();
  const ClassId y = graph.add_class();
  graph.add_node(x, {y}, 0);
  graph.add_node(y, {x}, 0);
  const NodeId leaf = graph.add_node(y, {}, 0);
  graph.finish();
  const TreeExtraction tree = tree_extract(graph);
  EXPECT_EQ(tree.cost, (std::vector<Cost>{0, 0}));
  EXPECT_EQ(tree.choice, (std::vector<NodeId>{0, leaf}));
}

TEST(TreeExtract, SumsSaturate) {
  FlatGraph graph;
  ClassId below = graph.add_class();
  graph.add_node(below, {}, 1);
  for (int i = 0; i < 3000; ++i) {
    const ClassId c = graph.add_class();
    graph.add_node(c, {below, below}, 1);
    below = c;
  }
  graph.finish();
  const TreeExtraction tree = tree_extract(graph);
  EXPECT_EQ(tree.cost[10], 2047);
  EXPECT_EQ(tree.cost[3000], kSaturated);
  EXPECT_NE(tree.choice[3000], kNone);
  const ClassId roots[] = {below};
  EXPECT_EQ(dag_extract(graph, roots).cost, 3001);
}

TEST(TreeExtract, BadCosts) {
  FlatGraph graph;
  const ClassId x = graph.add_class();
  graph.add_node(x, {}, std::numeric_limits<double>::quiet_NaN());
  graph.add_node(x, {}, kInfinite);
  const NodeId negative = graph.add_node(x, {}, -5);
  graph.finish();
  EXPECT_EQ(tree_extract(graph).cost[x], 0);
  EXPECT_EQ(tree_extract(graph).choice[x], negative);
}

TEST(TreeExtract, UserCost) {
  const Sample s;
  TreeOptions depth;
  depth.cost = [](const FlatGraph&, NodeId, std::span<const Cost> children) {
    Cost deepest = 0;
    for (const Cost c : children) deepest = std::max(deepest, c);
    return deepest + 1;
  };
  EXPECT_EQ(tree_extract(s.graph, depth).cost, (std::vector<Cost>{1, 1, kInfinite, 2}));
  // A maximum does not rise with every child; choices must be there all the same, and acyclic.
  TreeOptions widest;
  widest.cost = [](const FlatGraph& g, NodeId n, std::span<const Cost> children) {
    Cost most = g.cost[n];
    for (const Cost c : children) most = std::max(most, c);
    return most;
  };
  const TreeExtraction tree = tree_extract(s.graph, widest);
  EXPECT_EQ(tree.cost, (std::vector<Cost>{1, 1, kInfinite, 1}));
  const ClassId roots[] = {s.top};
  EXPECT_FALSE(needed_classes(s.graph, roots, tree.choice).empty());
  // What falls below its children, or is no number, is put right.
  TreeOptions broken;
  broken.cost = [](const FlatGraph&, NodeId n, std::span<const Cost> children) {
    return n == 0 ? std::numeric_limits<double>::quiet_NaN() : children.empty() ? 3 : -1;
  };
  EXPECT_EQ(tree_extract(s.graph, broken).cost, (std::vector<Cost>{3, 3, kInfinite, 3}));
}

TEST(TreeExtract, DeepChainInReverseOrder) {
  constexpr uint32_t kDepth = 200'000;
  FlatGraph graph;
  for (uint32_t c = 0; c <= kDepth; ++c) graph.add_class();
  for (uint32_t c = kDepth; c > 0; --c) graph.add_node(c, {c - 1}, 1);
  graph.add_node(0, {}, 1);
  graph.finish();
  const TreeExtraction tree = tree_extract(graph);
  EXPECT_EQ(tree.cost[kDepth], kDepth + 1);
  Terms terms;
  TermBuilder builder(terms, graph, tree.choice, numbered_nodes());
  EXPECT_EQ(terms.text(builder.of_class(kDepth), 20), "(n0 (n1 (n2 (n3 (n4 ...");
  const ClassId roots[] = {kDepth};
  EXPECT_EQ(greedy_dag(graph, roots, 1'000'000).cost, kDepth + 1);
}

TEST(DagExtract, PaysSharedNodesOnce) {
  const Sample s;
  const ClassId roots[] = {s.top};
  // f(x, x) with x = a: 1 + 2; as a tree it would cost 5.
  for (const Selection& found :
       {greedy_dag(s.graph, roots), dag_extract(s.graph, roots), exact_extract(s.graph, roots)}) {
    EXPECT_EQ(found.cost, 3);
    EXPECT_EQ(found.choice, (std::vector<NodeId>{s.a, kNone, kNone, s.f}));
  }
  EXPECT_TRUE(exact_extract(s.graph, roots).optimal);
}

TEST(DagExtract, SeveralRoots) {
  const Sample s;
  const ClassId roots[] = {s.x, s.y, s.x};
  // b(y), c is as cheap as a, d(x); both need 2.
  EXPECT_EQ(exact_extract(s.graph, roots).cost, 2);
  EXPECT_EQ(dag_extract(s.graph, {}).cost, 0);
}

TEST(DagExtract, RootWithoutTerm) {
  const Sample s;
  const ClassId roots[] = {s.x, s.z};
  for (const Selection& found :
       {greedy_dag(s.graph, roots), dag_extract(s.graph, roots), exact_extract(s.graph, roots)}) {
    EXPECT_EQ(found.cost, kInfinite);
    EXPECT_EQ(found.choice, std::vector<NodeId>(4, kNone));
  }
  EXPECT_TRUE(k_best_selections(s.graph, roots, 3).empty());
}

// Each of p and q is cheapest on its own, but both can share s: greedy takes the private leaves.
TEST(DagExtract, FindsSharingThatGreedyMisses) {
  FlatGraph graph;
  const ClassId s = graph.add_class();
  const ClassId p = graph.add_class();
  const ClassId q = graph.add_class();
  const ClassId top = graph.add_class();
  graph.add_node(s, {}, 5);
  graph.add_node(p, {}, 4);
  graph.add_node(p, {s}, 0);
  graph.add_node(q, {}, 4);
  graph.add_node(q, {s}, 0);
  graph.add_node(top, {p, q}, 1);
  graph.finish();
  const ClassId roots[] = {top};
  DagOptions heuristic;
  heuristic.exact_steps = 0;
  EXPECT_EQ(greedy_dag(graph, roots).cost, 9);
  EXPECT_EQ(dag_extract(graph, roots, heuristic).cost, 6);
}

TEST(DagExtract, ExactSaysWhenItGaveUp) {
  const Sample s;
  const ClassId roots[] = {s.top};
  const Selection found = exact_extract(s.graph, roots, 1);
  EXPECT_FALSE(found.optimal);
  EXPECT_EQ(found.cost, 3);
}

TEST(KBest, Terms) {
  const Sample s;
  const ClassId roots[] = {s.y};
  Terms terms;
  std::vector<std::string> texts;
  for (const RankedTerms& program : k_best_terms(s.graph, roots, 4, terms, numbered_nodes())) {
    texts.push_back(std::to_string(static_cast<int>(program.cost)) + " " + terms.text(program.roots[0]));
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"1 (n2)", "2 (n3 (n0))", "2 (n3 (n1 (n2)))", "3 (n3 (n1 (n3 (n0))))"}));
  EXPECT_TRUE(k_best_terms(s.graph, roots, 0, terms, numbered_nodes()).empty());
  const ClassId none[] = {s.z};
  EXPECT_TRUE(k_best_terms(s.graph, none, 3, terms, numbered_nodes()).empty());
}

TEST(KBest, TermsOfSeveralRoots) {
  const Sample s;
  const ClassId roots[] = {s.y, s.top};
  Terms terms;
  const std::vector<RankedTerms> programs = k_best_terms(s.graph, roots, 3, terms, numbered_nodes());
  ASSERT_EQ(programs.size(), 3u);
  EXPECT_EQ(programs[0].cost, 5);
  EXPECT_EQ(terms.text(programs[0].roots[1]), "(n6 (n2))");
  EXPECT_EQ(programs[1].cost, 6);
}

TEST(KBest, Selections) {
  const Sample s;
  const ClassId roots[] = {s.top};
  std::vector<Cost> costs;
  for (const Selection& found : k_best_selections(s.graph, roots, 10)) costs.push_back(found.cost);
  // f with x = a, f with x = b and y = c, g with y = c, g with y = d and x = a.
  EXPECT_EQ(costs, (std::vector<Cost>{3, 3, 4, 5}));
}

TEST(Terms, StoredOnce) {
  Terms terms;
  const TermId one = terms.atom("1");
  const TermId arguments[] = {one, one};
  const TermId sum = terms.call("+", arguments);
  EXPECT_EQ(terms.call("+", arguments), sum);
  EXPECT_NE(terms.call("1", {}), one);
  EXPECT_EQ(terms.size(), 3u);
  EXPECT_EQ(terms.text(sum), "(+ 1 1)");
  EXPECT_EQ(terms.text(terms.call("1", {})), "(1)");
  EXPECT_EQ(terms.text(sum, 3), "(+ ...");
}

}  // namespace
}  // namespace lumen::egraph
