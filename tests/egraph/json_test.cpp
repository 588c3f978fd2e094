#include "lumen/egraph/report/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/egraph/sample_graph.h"

namespace lumen::egraph {
namespace {

using nlohmann::json;

TEST(GraphJson, Empty) {
  EGraph graph;
  EXPECT_EQ(json::parse(graph_json(graph)), json::parse(R"({"nodes": {}, "root_eclasses": [], "class_data": {}})"));
}

TEST(GraphJson, EveryKindOfNode) {
  SampleGraph s;
  const Value one = s.number(1);
  const Value two = s.number(2);
  const Value sum = s.make(s.add, {one, two});
  s.graph.unite(s.m, sum, s.number(3));
  s.make(s.wrap, {s.vector({sum, one})});
  ASSERT_TRUE(s.graph.set(s.size, std::vector<Value>{sum}, s.i64(7)));
  s.make(s.seen, {s.i64(4), sum});
  s.graph.subsume(s.num, std::vector<Value>{s.i64(3)});
  ASSERT_TRUE(s.graph.erase(s.num, std::vector<Value>{s.i64(2)}));
  ASSERT_TRUE(s.graph.rebuild());
  ViewOptions options;
  options.roots = {{s.m, sum}};
  options.names = {{"$a", {s.m, sum}}};
  const json found = json::parse(graph_json(s.graph, options));

  const json& nodes = found["nodes"];
  const std::string root = found["root_eclasses"][0];
  EXPECT_EQ(found["class_data"][root], json::parse(R"({"type": "M", "let": "$a"})"));
  EXPECT_EQ(nodes["function-0-Add"]["eclass"], root);
  EXPECT_EQ(nodes["function-0-Add"]["children"][0], "function-0-Num");
  const std::string erased = nodes["function-0-Add"]["children"][1];
  EXPECT_EQ(nodes[erased]["op"], "[...]");
  EXPECT_TRUE(nodes[erased]["cost"].is_null());
  EXPECT_EQ(nodes["function-0-Num"]["op"], "Num");
  EXPECT_EQ(nodes["function-0-Num"]["cost"], 1.0);
  EXPECT_EQ(nodes["function-0-Num"]["children"], json::parse(R"(["primitive-i64-1"])"));
  EXPECT_EQ(nodes["function-1-Num"]["subsumed"], true);
  EXPECT_EQ(nodes["function-1-Num"]["eclass"], root);
  EXPECT_EQ(nodes["function-0-size"]["eclass"], "i64-7");
  EXPECT_EQ(nodes["function-0-seen"]["eclass"], "@seenSort-0");
  const std::string vector = nodes["function-0-Wrap"]["children"][0];
  EXPECT_EQ(nodes[vector]["op"], "vec-of");
  EXPECT_EQ(nodes[vector]["children"].size(), 2u);
  // Everything that is named is there.
  for (const auto& [id, node] : nodes.items()) {
    EXPECT_TRUE(found["class_data"].contains(node["eclass"])) << id;
    for (const auto& child : node["children"]) EXPECT_TRUE(nodes.contains(child)) << id;
  }
}

TEST(GraphJson, AnyText) {
  EXPECT_EQ(json_string("a\"b\\\n"), R"("a\"b\\\n")");
  EXPECT_EQ(json::parse(json_string("\xff")).get<std::string>(), "\xef\xbf\xbd");
}

TEST(ReportJson, IterationsAndRules) {
  SampleGraph s;
  Rule rule;
  rule.name = "once \"more\"";
  s.graph.add_rule(rule);
  IterationReport iteration;
  iteration.changed = true;
  iteration.limit = "rows";
  iteration.matches = 7;
  const json found = json::parse(report_json(s.graph, std::vector<IterationReport>{iteration}));
  ASSERT_EQ(found["iterations"].size(), 1u);
  EXPECT_EQ(found["iterations"][0]["matches"], 7);
  EXPECT_EQ(found["iterations"][0]["limit"], "rows");
  ASSERT_EQ(found["rules"].size(), 1u);
  EXPECT_EQ(found["rules"][0]["name"], "once \"more\"");
  EXPECT_EQ(found["rules"][0]["matches"], 0);
}

}  // namespace
}  // namespace lumen::egraph
