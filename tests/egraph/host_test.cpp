#include "lumen/egraph/core/host.h"

#include <gtest/gtest.h>

#include "lumen/egraph/extract/extract.h"
#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {

namespace {

struct Interval {
  int64_t low = 0;
  int64_t high = 0;
  bool operator==(const Interval&) const = default;
};

// A program with a sort of C++ values, a partial function on it, and a constructor with fields.
struct HostTest : ::testing::Test {
  HostTest() {
    const auto hash = [](const Interval& i) { return static_cast<uint64_t>(i.low * 31 + i.high); };
    const auto print = [](const Interval& i) { return std::to_string(i.low) + ".." + std::to_string(i.high); };
    const SortId interval = graph.add_host_sort<Interval>("Interval", hash, print);
    define_primitive(graph, "meet", [](const Interval& a, const Interval& b) -> std::optional<Interval> {
      const Interval both{std::max(a.low, b.low), std::min(a.high, b.high)};
      return both.low <= both.high ? std::optional(both) : std::nullopt;
    });
    box = graph.add_sort("Box");
    make = graph.add_table(constructor("Make", {kString}, {{"x", interval}, {"solid", kBool}}, box));
  }

  Program program;
  EGraph& graph = program.egraph();
  SortId box = 0;
  TableId make = 0;
};

}  // namespace

TEST_F(HostTest, ValuesGoInAndComeBack) {
  EXPECT_EQ(from_value<Interval>(graph, to_value(graph, Interval{1, 2})), (Interval{1, 2}));
  EXPECT_EQ(to_value(graph, Interval{1, 2}), to_value(graph, Interval{1, 2}));
  EXPECT_EQ(from_value<int64_t>(graph, to_value(graph, -5)), -5);
  EXPECT_EQ(from_value<bool>(graph, to_value(graph, true)), true);
  EXPECT_EQ(from_value<std::string>(graph, to_value(graph, "a")), "a");
  EXPECT_EQ(from_value<double>(graph, to_value(graph, 0.5)), 0.5);
}

TEST_F(HostTest, RulesUseFieldsAndPartialFunctions) {
  ASSERT_TRUE(program
                  .run_text("(relation touch (Box Box))"
                            "(rule ((= ?a (Make ?n :x ?i)) (= ?b (Make ?m :solid true :x ?j)) (meet ?i ?j))"
                            "      ((touch ?a ?b)))",
                            "rules.egg")
                  .ok());
  const Value a = make_term(graph, make, "a", Interval{0, 5}, false);
  const Value b = make_term(graph, make, "b", Interval{4, 9}, true);
  make_term(graph, make, "c", Interval{7, 9}, false);
  ASSERT_TRUE(program.run_rules("", 5).ok());
  std::vector<std::pair<Value, Value>> found;
  graph.for_each_row(*program.find_table("touch"),
                     [&](std::span<const Value> row, bool) { found.emplace_back(row[0], row[1]); });
  EXPECT_EQ(found.size(), 3U);  // a, b and c each touch b
  EXPECT_EQ(found[0], std::pair(a, b));
}

TEST_F(HostTest, ExtractionPrintsThemAndTheyMayBeFree) {
  const Value a = make_term(graph, make, "a", Interval{0, 5}, false);
  ExtractOptions options;
  const std::optional<Extracted> paid = Extractor(graph, options).best(box, a);
  EXPECT_EQ(paid->text, "(Make \"a\" 0..5 false)");
  EXPECT_EQ(paid->cost, 4);
  options.flatten.base_cost = 0;
  EXPECT_EQ(Extractor(graph, options).best(box, a)->cost, 1);
}

}  // namespace lumen::egraph
