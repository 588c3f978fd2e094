#include "bench/suite/case.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lumen/hlir/ops.h"
#include "lumen/ir/verify.h"

namespace lumen::bench {
namespace {

std::vector<Case> all_cases() {
  std::vector<Case> cases = micro_cases();
  for (Case& c : pattern_cases()) cases.push_back(std::move(c));
  return cases;
}

const Case& find(const std::vector<Case>& cases, const std::string& name) {
  for (const Case& c : cases) {
    if (c.name() == name) return c;
  }
  throw std::runtime_error("no case " + name);
}

// Multiplications and additions of the sums of products in a graph.
double product_flops(const Graph& graph) {
  double flops = 0;
  for (const NodeId id : graph.order()) {
    if (graph[id].op->name != "SumReduce") continue;
    const Node& summed = graph[graph[id].operands[0]];
    if (summed.op->name == "Mul") flops += 2 * static_cast<double>(summed.type.shape.numel().constant().value());
  }
  return flops;
}

std::string refusal(const CaseChoice& choice) {
  const Expected<std::vector<Case>> chosen = choose(pattern_cases(), choice);
  return chosen.ok() ? "ok" : chosen.diag().str();
}

}  // namespace

TEST(BenchCases, ChoosingRefuses) {
  EXPECT_EQ(refusal({.only = "no such"}), "no case with a name like `no such`");
  EXPECT_EQ(refusal({.only = "matmul", .dtype = "f64", .quick = true}),
            "no case of --quick with a name like `matmul` of f64");
  EXPECT_EQ(refusal({.dtype = "float"}), "no dtype `float`");
  EXPECT_TRUE(refusal({.only = "("}).starts_with("`(` is not a regular expression: ")) << refusal({.only = "("});
}

TEST(BenchCases, Choosing) {
  EXPECT_EQ(choose(pattern_cases(), {})->size(), pattern_cases().size());
  EXPECT_EQ(choose(micro_cases(), {.only = "^add/"})->size(), 4U);
  EXPECT_EQ(choose(micro_cases(), {.only = "^add/", .quick = true})->size(), 2U);
  const std::vector<Case> narrow = choose(pattern_cases(), {.dtype = "bf16"}).value();
  for (const Case& c : narrow) EXPECT_EQ(c.dtype, bf16) << c.name();
}

TEST(BenchCases, GraphsAreValidAndNamesAreUnique) {
  std::set<std::string> names;
  for (const Case& c : all_cases()) {
    EXPECT_TRUE(names.insert(c.name()).second) << c.name();
    const std::shared_ptr<Graph> graph = c.graph();
    const auto verified = verify(*graph, hlir_stage());
    EXPECT_TRUE(verified.ok()) << c.name() << ": " << verified.diag().str();
    EXPECT_TRUE(graph->dims().empty()) << c.name();
    EXPECT_GE(c.flops, 0) << c.name();
    EXPECT_GT(least_bytes(*graph), 0) << c.name();
    for (const auto& [input, range] : c.ranges) EXPECT_TRUE(graph->find_input(input)) << c.name() << ": " << input;
  }
}

TEST(BenchCases, EveryPrimitiveAtFourSizesAndEveryGroupInQuick) {
  std::map<std::string, int> sizes;
  for (const Case& c : micro_cases()) ++sizes[c.group];
  EXPECT_EQ(sizes.size(), 13U);
  for (const auto& [group, count] : sizes) EXPECT_EQ(count, 4) << group;
  std::set<std::string> groups, quick;
  for (const Case& c : all_cases()) {
    groups.insert(c.group);
    if (c.quick) quick.insert(c.group);
  }
  EXPECT_EQ(quick, groups);
}

// Where the work is sums of products, the graph itself says how much.
TEST(BenchCases, FlopsAreThoseOfTheGraph) {
  for (const Case& c : pattern_cases()) {
    const double counted = product_flops(*c.graph());
    if (c.group == "matmul" || c.group == "gemv" || c.group == "conv2d" || c.group == "attention") {
      EXPECT_EQ(c.flops, counted) << c.name();
    }
    if (c.group == "attention_causal") {  // the graph counts the masked half as well
      EXPECT_GT(c.flops, 0.5 * counted) << c.name();
      EXPECT_LT(c.flops, 0.51 * counted) << c.name();
    }
    if (c.group == "block") {  // the graph also has the norms' squares
      EXPECT_LE(c.flops, counted) << c.name();
      EXPECT_GT(c.flops, 0.95 * counted) << c.name();
    }
  }
}

TEST(BenchCases, BytesAreInputsAndOutputsOnce) {
  const std::vector<Case> cases = all_cases();
  const auto bytes = [&](const std::string& name) { return least_bytes(*find(cases, name).graph()); };
  EXPECT_EQ(bytes("add/1M/f32"), 12e6);
  EXPECT_EQ(bytes("less_than/1k/f32"), 9e3);
  EXPECT_EQ(bytes("cast/1k/f32"), 6e3);
  EXPECT_EQ(bytes("sum/100k/f32"), 4e5 + 400);
  EXPECT_EQ(bytes("gather/1k/f32"), 8e3 + 80);
  EXPECT_EQ(bytes("matmul/512x512x512/bf16"), 3 * 2 * 512 * 512);
  EXPECT_EQ(bytes("matmul/128x128x128/i8"), (2 + 4) * 128 * 128);
  EXPECT_EQ(bytes("add_rms_norm/128x128/f32"), 4 * (4 * 128 * 128 + 128));
}

}  // namespace lumen::bench
