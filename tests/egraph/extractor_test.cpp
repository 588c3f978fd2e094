#include "lumen/egraph/extract/extract.h"

#include <gtest/gtest.h>

#include "lumen/egraph/extract/dag.h"
#include "tests/egraph/sample_graph.h"

namespace lumen::egraph {
namespace {

std::string text(const std::optional<Extracted>& found) {
  return found ? found->text + " " + std::to_string(static_cast<int64_t>(found->cost)) : "none";
}

std::string best(EGraph& graph, SortId sort, Value value) {
  EXPECT_TRUE(graph.rebuild());
  ExtractOptions options;
  options.flatten.roots = {{sort, value}};
  return text(Extractor(graph, options).best(sort, value));
}

TEST(Extractor, NothingToExtract) {
  SampleGraph s;
  const Value hidden = s.make(s.hidden, {});
  const Value user = s.make(s.neg, {hidden});
  EXPECT_EQ(best(s.graph, s.m, hidden), "none");
  EXPECT_EQ(best(s.graph, s.m, user), "none");
  EXPECT_EQ(best(s.graph, s.vec, s.vector({hidden})), "none");
  EXPECT_TRUE(Extractor(s.graph).variants(s.m, hidden, 3).empty());
  const Value one = s.number(1);
  s.graph.subsume(s.num, std::vector<Value>{s.i64(1)});
  EXPECT_EQ(best(s.graph, s.m, one), "none");
}

TEST(Extractor, CostsAsTheReferenceCountsThem) {
  SampleGraph s;
  const Value one = s.number(1);
  const Value sum = s.make(s.add, {one, s.number(2)});
  EXPECT_EQ(best(s.graph, s.m, one), "(Num 1) 2");
  EXPECT_EQ(best(s.graph, s.m, sum), "(Add (Num 1) (Num 2)) 5");
  EXPECT_EQ(best(s.graph, s.m, s.make(s.neg, {one})), "(Neg (Num 1)) 7");
  EXPECT_EQ(best(s.graph, kI64, s.i64(-7)), "-7 1");
  EXPECT_EQ(best(s.graph, s.vec, s.vector({})), "(vec-empty) 0");
  EXPECT_EQ(best(s.graph, s.vec, s.vector({one, sum})), "(vec-of (Num 1) (Add (Num 1) (Num 2))) 7");
  EXPECT_EQ(best(s.graph, s.m, s.make(s.wrap, {s.vector({one, one})})), "(Wrap (vec-of (Num 1) (Num 1))) 5");
}

TEST(Extractor, TakesWhatWasDeclaredFirst) {
  SampleGraph s;
  const TableId late = s.constructor("Late", {}, s.m);
  const TableId later = s.constructor("Later", {}, s.m);
  const Value b = s.make(later, {});
  s.graph.unite(s.m, b, s.make(late, {}));
  EXPECT_EQ(best(s.graph, s.m, b), "(Late) 1");
}

TEST(Extractor, Variants) {
  SampleGraph s;
  const TableId a = s.constructor("Zed", {}, s.m);
  const TableId other = s.constructor("Ax", {kI64}, s.m);
  const Value root = s.number(4);
  for (const int64_t x : {1, 0, 3}) s.graph.unite(s.m, root, s.number(x));
  s.graph.unite(s.m, root, s.make(a, {}));
  s.graph.unite(s.m, root, s.make(other, {s.i64(9)}));
  s.graph.unite(s.m, root, s.make(s.add, {root, root}));
  ASSERT_TRUE(s.graph.rebuild());
  std::vector<std::string> found;
  Extractor extractor(s.graph);
  for (const Extracted& e : extractor.variants(s.m, root, 10)) found.push_back(text(e));
  EXPECT_EQ(found, (std::vector<std::string>{"(Zed) 1", "(Ax 9) 2", "(Num 0) 2", "(Num 1) 2", "(Num 3) 2", "(Num 4) 2",
                                             "(Add (Zed) (Zed)) 3"}));
  EXPECT_EQ(extractor.variants(s.m, root, 2).size(), 2u);
  EXPECT_EQ(extractor.variants(s.m, root, 0).size(), 0u);
  EXPECT_EQ(extractor.variants(kI64, s.i64(5), 3).size(), 1u);
}

TEST(Extractor, CallsOfAnyTable) {
  SampleGraph s;
  const Value one = s.number(1);
  Extractor extractor(s.graph);
  EXPECT_EQ(text(extractor.call(s.seen, std::vector<Value>{s.i64(12), one})), "(seen 12 (Num 1)) 4");
  EXPECT_EQ(text(extractor.call(s.size, std::vector<Value>{one})), "(size (Num 1)) 3");
}

TEST(Extractor, CostOfRowsAndOfTerms) {
  SampleGraph s;
  const Value one = s.number(1);
  s.graph.unite(s.m, one, s.number(2));
  ASSERT_TRUE(s.graph.rebuild());
  ExtractOptions by_row;
  by_row.flatten.row_cost = [&](TableId table, std::span<const Value> columns) {
    return table == s.num && columns[0] == s.i64(1) ? 100.0 : 1.0;
  };
  EXPECT_EQ(text(Extractor(s.graph, by_row).best(s.m, one)), "(Num 2) 2");
  ExtractOptions by_term;
  by_term.tree.cost = [&](const FlatGraph& graph, NodeId n, std::span<const Cost> children) {
    const bool number = graph.origin[n].kind == FlatGraph::Origin::Kind::row && graph.origin[n].owner == s.num;
    // A number costs what it is.
    if (number) return static_cast<Cost>(graph.class_value[graph.children_of(n)[0]] + 10);
    Cost sum = graph.cost[n];
    for (const Cost c : children) sum += c;
    return sum;
  };
  EXPECT_EQ(text(Extractor(s.graph, by_term).best(s.m, one)), "(Num 1) 11");
}

TEST(Extractor, SharedProgram) {
  SampleGraph s;
  Value x = s.number(1);
  for (int i = 0; i < 10; ++i) x = s.make(s.add, {x, x});
  FlattenOptions options;
  options.roots = {{s.m, x}};
  const Flattened flat = flatten(s.graph, options);
  const Selection found = dag_extract(flat.graph, flat.roots);
  EXPECT_EQ(found.cost, 12);
  EXPECT_TRUE(found.optimal);
  Terms terms;
  TermBuilder builder(terms, flat.graph, found.choice, egraph_names(s.graph, flat.graph));
  EXPECT_EQ(terms.text(builder.of_class(flat.roots[0]), 22), "(Add (Add (Add (Add (A...");
  EXPECT_EQ(terms.size(), 12u);
}

}  // namespace
}  // namespace lumen::egraph
