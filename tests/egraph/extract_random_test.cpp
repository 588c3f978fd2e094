#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "lumen/egraph/extract/dag.h"
#include "lumen/egraph/extract/k_best.h"
#include "lumen/egraph/extract/tree.h"
#include "tests/egraph/random_graph.h"

namespace lumen::egraph {
namespace {

constexpr uint32_t kGraphs = 500;

// The roots of the graph with this seed: one or two.
std::vector<ClassId> roots_of(uint32_t seed, const FlatGraph& graph) {
  const auto last = static_cast<ClassId>(graph.classes() - 1);
  return seed % 2 == 0 ? std::vector<ClassId>{last} : std::vector<ClassId>{last, last / 2};
}

// Rounds over all nodes, nothing clever.
std::vector<Cost> naive_tree_costs(const FlatGraph& graph) {
  std::vector<Cost> cost(graph.classes(), kInfinite);
  for (bool changed = true; changed;) {
    changed = false;
    for (NodeId n = 0; n < graph.nodes(); ++n) {
      Cost sum = graph.cost[n];
      for (const ClassId c : graph.children_of(n)) sum += cost[c];
      if (sum < cost[graph.node_class[n]]) {
        cost[graph.node_class[n]] = sum;
        changed = true;
      }
    }
  }
  return cost;
}

// Greedy DAG extraction as it is usually written: sets of nodes, classes in order, until nothing improves.
Cost naive_greedy_cost(const FlatGraph& graph, std::span<const ClassId> roots) {
  struct Best {
    Cost cost = kInfinite;
    std::set<NodeId> nodes;
    NodeId choice = kNone;
  };
  std::vector<Best> best(graph.classes());
  for (bool changed = true; changed;) {
    changed = false;
    for (ClassId c = 0; c < graph.classes(); ++c) {
      for (const NodeId n : graph.nodes_of(c)) {
        std::set<NodeId> nodes{n};
        bool possible = true;
        for (const ClassId child : graph.children_of(n)) {
          possible &= best[child].choice != kNone;
          nodes.insert(best[child].nodes.begin(), best[child].nodes.end());
        }
        Cost cost = 0;
        for (const NodeId m : nodes) cost += graph.cost[m];
        if (!possible || cost >= best[c].cost) continue;
        best[c] = {cost, nodes, n};
        changed = true;
      }
    }
  }
  std::vector<NodeId> choice;
  for (const Best& b : best) choice.push_back(b.choice);
  return select_needed(graph, roots, choice).cost;
}

// Tries every combination of nodes of the classes that turn out to be needed.
void try_all(const FlatGraph& graph, std::span<const ClassId> roots, std::vector<NodeId>& choice,
             std::multiset<Cost>& costs) {
  std::vector<ClassId> stack(roots.begin(), roots.end());
  std::vector<uint8_t> seen(graph.classes(), 0);
  while (!stack.empty()) {
    const ClassId c = stack.back();
    stack.pop_back();
    if (seen[c]) continue;
    seen[c] = 1;
    if (choice[c] == kNone) {
      for (const NodeId n : graph.nodes_of(c)) {
        choice[c] = n;
        try_all(graph, roots, choice, costs);
      }
      choice[c] = kNone;
      return;
    }
    stack.insert(stack.end(), graph.children_of(choice[c]).begin(), graph.children_of(choice[c]).end());
  }
  const Cost cost = select_needed(graph, roots, choice).cost;
  if (cost != kInfinite) costs.insert(cost);
}

std::multiset<Cost> all_costs(const FlatGraph& graph, std::span<const ClassId> roots) {
  std::vector<NodeId> choice(graph.classes(), kNone);
  std::multiset<Cost> costs;
  try_all(graph, roots, choice, costs);
  return costs;
}

void expect_valid(const FlatGraph& graph, std::span<const ClassId> roots, const Selection& found) {
  const Selection again = select_needed(graph, roots, found.choice);
  EXPECT_EQ(again.cost, found.cost);
  EXPECT_EQ(again.choice, found.choice);
  for (ClassId c = 0; c < graph.classes(); ++c) {
    EXPECT_TRUE(found.choice[c] == kNone || graph.node_class[found.choice[c]] == c);
  }
}

TEST(ExtractRandom, TreeCostsAreMinimal) {
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    RandomGraphOptions options;
    options.classes = 5 + seed % 60;
    options.costs = seed % 3 == 0 ? 2 : 20;
    FlatGraph graph = random_graph(seed, options);
    // Costs of 0 make cycles that cost nothing.
    if (seed % 3 == 0) {
      for (Cost& c : graph.cost) c -= 1;
    }
    const TreeExtraction tree = tree_extract(graph);
    ASSERT_EQ(tree.cost, naive_tree_costs(graph)) << "seed " << seed;
    for (ClassId c = 0; c < graph.classes(); ++c) {
      ASSERT_EQ(tree.choice[c] == kNone, tree.cost[c] == kInfinite);
      if (tree.choice[c] == kNone) continue;
      const ClassId roots[] = {c};
      ASSERT_FALSE(needed_classes(graph, roots, tree.choice).empty()) << "a cycle, seed " << seed;
      Cost sum = graph.cost[tree.choice[c]];
      for (const ClassId child : graph.children_of(tree.choice[c])) sum += tree.cost[child];
      ASSERT_EQ(sum, tree.cost[c]);
    }
  }
}

TEST(ExtractRandom, ExactIsExact) {
  RandomGraphOptions options;
  options.classes = 9;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    options.back_edges = seed % 4 * 0.2;
    const FlatGraph graph = random_graph(seed, options);
    const std::vector<ClassId> roots = roots_of(seed, graph);
    const Selection found = exact_extract(graph, roots);
    ASSERT_TRUE(found.optimal);
    ASSERT_EQ(found.cost, *all_costs(graph, roots).begin()) << "seed " << seed;
    expect_valid(graph, roots, found);
  }
}

// How often the heuristic finds what the exact search proves to be the best.
double rate(const RandomGraphOptions& options) {
  DagOptions heuristic;
  heuristic.exact_steps = 0;
  uint32_t as_good = 0;
  uint32_t greedy_as_good = 0;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    const FlatGraph graph = random_graph(seed, options);
    const std::vector<ClassId> roots = roots_of(seed, graph);
    const Selection exact = exact_extract(graph, roots);
    const Selection found = dag_extract(graph, roots, heuristic);
    const Selection greedy = greedy_dag(graph, roots);
    EXPECT_TRUE(exact.optimal);
    EXPECT_EQ(greedy.cost, naive_greedy_cost(graph, roots));
    EXPECT_LE(found.cost, greedy.cost);
    EXPECT_LE(exact.cost, found.cost);
    expect_valid(graph, roots, found);
    expect_valid(graph, roots, greedy);
    as_good += found.cost == exact.cost;
    greedy_as_good += greedy.cost == exact.cost;
  }
  std::printf("%u classes, %u graphs: as good as exact %.1f %%, greedy alone %.1f %%\n", options.classes, kGraphs,
              100.0 * as_good / kGraphs, 100.0 * greedy_as_good / kGraphs);
  return 1.0 * as_good / kGraphs;
}

TEST(ExtractRandom, HeuristicIsAsGoodAsExact) {
  EXPECT_GE(rate({}), 0.95);
  RandomGraphOptions cyclic{.classes = 24, .nodes_per_class = 4, .back_edges = 0.3};
  EXPECT_GE(rate(cyclic), 0.95);
  RandomGraphOptions few_leaves{.classes = 30, .nodes_per_class = 4, .costs = 100, .leaves = 0.03};
  EXPECT_GE(rate(few_leaves), 0.95);
}

TEST(ExtractRandom, KBestSelections) {
  RandomGraphOptions options;
  options.classes = 8;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const FlatGraph graph = random_graph(seed, options);
    const std::vector<ClassId> roots = roots_of(seed, graph);
    const std::vector<Selection> found = k_best_selections(graph, roots, 5);
    std::vector<Cost> costs;
    std::set<std::vector<NodeId>> different;
    for (const Selection& s : found) {
      expect_valid(graph, roots, s);
      costs.push_back(s.cost);
      different.insert(s.choice);
    }
    EXPECT_EQ(different.size(), found.size());
    // With the exact search inside, the costs are those of the best five.
    const std::multiset<Cost> all = all_costs(graph, roots);
    std::vector<Cost> expected(all.begin(), all.end());
    expected.resize(std::min<size_t>(5, expected.size()));
    EXPECT_EQ(costs, expected) << "seed " << seed;
  }
}

// All terms of a class up to a depth, by cost.
std::multiset<Cost> term_costs(const FlatGraph& graph, ClassId c, int depth, Cost limit) {
  std::multiset<Cost> result;
  if (depth == 0) return result;
  for (const NodeId n : graph.nodes_of(c)) {
    std::multiset<Cost> sums{graph.cost[n]};
    for (const ClassId child : graph.children_of(n)) {
      std::multiset<Cost> next;
      for (const Cost below : term_costs(graph, child, depth - 1, limit)) {
        for (const Cost sum : sums) {
          if (sum + below <= limit) next.insert(sum + below);
        }
      }
      sums = std::move(next);
    }
    result.insert(sums.begin(), sums.end());
  }
  return result;
}

TEST(ExtractRandom, KBestTerms) {
  RandomGraphOptions options{.classes = 6, .arity = 2, .costs = 4, .leaves = 0.4};
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const FlatGraph graph = random_graph(seed, options);
    const ClassId roots[] = {5};
    Terms terms;
    const std::vector<RankedTerms> found = k_best_terms(graph, roots, 6, terms, numbered_nodes());
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().cost, tree_extract(graph).cost[5]);
    std::set<TermId> different;
    std::vector<Cost> costs;
    for (const RankedTerms& f : found) {
      different.insert(f.roots[0]);
      costs.push_back(f.cost);
    }
    EXPECT_EQ(different.size(), found.size());
    // Every node costs at least 1, so terms up to this cost are no deeper than it.
    const Cost limit = std::min<Cost>(costs.back(), 8);
    const std::multiset<Cost> all = term_costs(graph, 5, static_cast<int>(limit), limit);
    std::erase_if(costs, [&](Cost c) { return c > limit; });
    std::vector<Cost> expected(all.begin(), all.end());
    expected.resize(std::min(costs.size(), expected.size()));
    EXPECT_EQ(costs, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lumen::egraph
