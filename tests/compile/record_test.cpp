// What a compilation tells about itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lumen/compile.h"
#include "lumen/frontend/ops.h"

namespace lumen {
namespace {

using search::PartRecord;

std::vector<PartRecord> record_of(const Graph& graph, CompileOptions options = {}) {
  std::vector<PartRecord> record;
  options.record = &record;
  compile_program(graph, options);
  return record;
}

void softmax_of_a_product(Graph& g) {
  const Tensor x = g.input("x", {64, 96}), w = g.input("w", {96, 80});
  softmax(matmul(x, w)).output("y");
}

TEST(Record, says_what_each_call_computes) {
  Graph g;
  softmax_of_a_product(g);
  const std::vector<PartRecord> record = record_of(g);
  ASSERT_EQ(record.size(), 1U);
  const search::Lowered& lowered = record[0].lowered;
  EXPECT_EQ(record[0].inputs, (std::vector<std::string>{"x", "w"}));
  ASSERT_EQ(lowered.nodes.size(), lowered.program.calls.size());
  ASSERT_EQ(lowered.kernel_seconds.size(), lowered.program.kernels.size());
  // Every op that computes is in some call, and what a call gives is among what it computes.
  std::set<NodeId> computed;
  for (const std::vector<NodeId>& nodes : lowered.nodes) {
    EXPECT_FALSE(nodes.empty());
    computed.insert(nodes.begin(), nodes.end());
  }
  const Graph& chosen = *lowered.program.graph;
  for (const NodeId id : chosen.order()) {
    if (chosen[id].op->family == OpFamily::leaf) continue;
    EXPECT_TRUE(computed.contains(id)) << chosen[id].op->name;
  }
  double sum = 0;
  for (const ProgramCall& call : lowered.program.calls) sum += lowered.kernel_seconds[call.kernel];
  EXPECT_DOUBLE_EQ(sum, lowered.seconds);
  EXPECT_DOUBLE_EQ(sum, record[0].candidate_seconds[record[0].chosen]);
}

// What a body stands for in the graph, of each time that it is there.
TEST(Record, knows_where_each_node_of_a_body_comes_from) {
  Graph g;
  Tensor x = g.input("x", {64, 64});
  for (int k = 0; k < 6; ++k) {
    const auto weight = [&](const char* name) { return g.input(name + std::to_string(k), {64, 64}); };
    const Tensor h = rms_norm(x, g.input("norm" + std::to_string(k), {64}), 1e-5);
    x = x + matmul(silu(matmul(h, weight("gate"))) * matmul(h, weight("up")), weight("down"));
  }
  x.output("y");
  CompileOptions options;
  options.measure = false;
  const std::vector<PartRecord> record = record_of(g, options);
  const std::vector<NodeId> order = g.order();
  std::set<size_t> places;
  double times = 0;
  for (const PartRecord& part : record) {
    times = std::max(times, part.times);
    for (const NodeId id : part.body->order()) {
      const std::vector<size_t>& origins = part.origins[static_cast<size_t>(id)];
      EXPECT_EQ(static_cast<double>(origins.size()), part.times);
      for (const size_t place : origins) {
        EXPECT_EQ(g[order[place]].type, (*part.body)[id].type);
        EXPECT_TRUE((*part.body)[id].is<Input>() || g[order[place]].op == (*part.body)[id].op);
        places.insert(place);
      }
    }
  }
  EXPECT_GE(times, 4);
  EXPECT_EQ(places.size(), order.size());
}

TEST(Record, knows_what_was_written_in_the_classes_of_the_program) {
  Graph g;
  softmax_of_a_product(g);
  const PartRecord record = record_of(g)[0];
  const NodeId wanted = record.body->outputs()[0].value, chosen = record.lowered.program.graph->outputs()[0].value;
  EXPECT_EQ(record.classes.written[static_cast<size_t>(wanted)],
            record.candidates[record.chosen].classes[static_cast<size_t>(chosen)]);
}

TEST(Record, has_the_schedules_that_lost) {
  Graph g;
  softmax_of_a_product(g);
  const std::vector<PartRecord> record = record_of(g);
  const Program& program = record[0].lowered.program;
  ASSERT_EQ(record[0].schedules.size(), program.kernels.size());
  size_t lost = 0;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const std::vector<search::TuningEntry>& tried = record[0].schedules[k];
    ASSERT_FALSE(tried.empty());
    EXPECT_EQ(tried[0].schedule, program.kernels[k].schedule);
    EXPECT_EQ(tried[0].seconds, record[0].lowered.kernel_seconds[k]);
    lost += tried.size() - 1;
  }
  EXPECT_GT(lost, 0U);
}

TEST(Record, has_the_classes_of_the_program_and_how_the_rules_grew_them) {
  Graph g;
  softmax_of_a_product(g);
  const PartRecord record = record_of(g)[0];
  const Candidate& chosen = record.candidates[record.chosen];
  for (const NodeId id : chosen.graph->order()) {
    const egraph::ClassId c = chosen.classes[static_cast<size_t>(id)];
    const auto found = std::ranges::find(record.classes.classes, c, &ClassRecord::id);
    ASSERT_NE(found, record.classes.classes.end());
    EXPECT_EQ(found->type, (*chosen.graph)[id].type.str());
    const std::string op((*chosen.graph)[id].op->name);
    EXPECT_NE(std::ranges::find(found->terms, op, &TermRecord::op), found->terms.end()) << op;
    EXPECT_TRUE(std::ranges::all_of(found->terms, [](const TermRecord& t) { return t.total >= t.cost; }));
  }
  // The product is a Contract, and also what it was written as.
  EXPECT_TRUE(std::ranges::any_of(record.classes.classes, [](const ClassRecord& c) {
    const auto has = [&](const char* op) { return std::ranges::find(c.terms, op, &TermRecord::op) != c.terms.end(); };
    return has("Contract") && has("SumReduce");
  }));
  ASSERT_EQ(record.rules.growth.size(), record.rules.iterations);
  EXPECT_EQ(record.rules.growth.back().rows, record.rules.rows);
  EXPECT_GT(record.rules.growth.back().rows, record.rules.growth.front().rows);
}

TEST(Record, of_a_graph_as_it_is_written) {
  Graph g;
  softmax_of_a_product(g);
  CompileOptions options;
  options.rewrite = false;
  options.measure = false;
  const PartRecord record = record_of(g, options)[0];
  ASSERT_EQ(record.candidates.size(), 1U);
  EXPECT_TRUE(record.candidates[0].graph->equals(g));
  EXPECT_TRUE(record.classes.classes.empty());
  EXPECT_EQ(record.schedules.size(), record.lowered.program.kernels.size());
}

}  // namespace
}  // namespace lumen
