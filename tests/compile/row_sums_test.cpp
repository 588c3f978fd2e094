// Norms of few rows that are left to the products that read them: where that is done, that nothing is lost by it.
#include "lumen/search/row_sums.h"

#include <gtest/gtest.h>

#include <map>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/frontend/ops.h"
#include "lumen/ir/random_tensor.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/carve.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/stage_text.h"
#include "tests/support/drawn_gpu.h"

namespace lumen {
namespace {

using search::FusionPolicy;
using search::Reads;

// A residual, its norm, and three products of that; the residual is needed later, too.
std::shared_ptr<Graph> step(Expr rows, int64_t width = 64, DType dtype = bf16) {
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("x", {1, rows, width}, dtype), o = graph->input("o", {1, rows, width}, dtype);
  const auto weight = [&](const char* name, int64_t size) {
    return graph->input(name, {size, width}, dtype, InputKind::weight);
  };
  const Tensor sum = x + linear(o, weight("wo", width));
  const Tensor normed = rms_norm(sum, graph->input("norm", {width}, dtype, InputKind::weight));
  linear(normed, weight("wq", 96)).output("q");
  linear(normed, weight("wk", 32)).output("k");
  linear(normed, weight("wv", 32)).output("v");
  sum.output("rest");
  return graph;
}

search::Lowered lowered(const std::shared_ptr<const Graph>& graph, FusionPolicy policy) {
  const tests::DrawnGpu device;
  RewriteOptions options;
  options.candidates = 1;
  options.machine = machine_like(device.target());
  search::Tuner tuner(device, {typical_dims(*graph), false, nullptr});
  return search::lower(rewrite(*graph, options).value().candidates[0].graph, policy, tuner).value();
}

bool has(const Graph& body, OpFamily family) {
  return std::ranges::any_of(body.order(), [&](NodeId id) { return body[id].op->family == family; });
}

TEST(RowSums, are_in_every_product_of_few_rows) {
  for (const FusionPolicy policy : {FusionPolicy::always, FusionPolicy::profile}) {
    for (const int64_t rows : {1, 4}) {
      const search::Lowered made = lowered(step(rows), policy);
      EXPECT_EQ(made.program.calls.size(), 4u);  // and no fold
      EXPECT_FALSE(made.left.empty());
      size_t with_sums = 0;
      for (const ProgramCall& call : made.program.calls) {
        with_sums += has(*made.program.kernels[call.kernel].body, OpFamily::reduce);
      }
      EXPECT_EQ(with_sums, 3u);
    }
  }
}

TEST(RowSums, are_folds_where_rows_are_many) {
  EXPECT_TRUE(lowered(step(64), FusionPolicy::always).left.empty());
  auto graph = std::make_shared<Graph>();
  const Expr rows = graph->dim("rows", 1, 512);
  const Tensor x = graph->input("x", {rows, 64});
  linear(rms_norm(x), graph->input("w", {32, 64}, f32, InputKind::weight)).output("y");
  const search::Lowered made = lowered(graph, FusionPolicy::profile);
  EXPECT_TRUE(made.left.empty());
  EXPECT_EQ(made.program.calls.size(), 2u);
}

// A norm that is an output, or that something else than a product reads, is a kernel.
TEST(RowSums, are_not_left_to_other_readers) {
  for (const bool is_output : {true, false}) {
    auto graph = std::make_shared<Graph>();
    const Tensor x = graph->input("x", {1, 64});
    const Tensor normed = rms_norm(x);
    linear(normed, graph->input("w", {32, 64}, f32, InputKind::weight)).output("y");
    (is_output ? normed : cumsum(normed, 1)).output("z");
    EXPECT_TRUE(lowered(graph, FusionPolicy::always).left.empty());
  }
}

// Kernel after kernel by the reference, against the graph as it was written.
TEST(RowSums, change_no_number) {
  const std::shared_ptr<Graph> graph = step(2, 64, f32);
  const search::Lowered made = lowered(graph, FusionPolicy::always);
  ASSERT_FALSE(made.left.empty());
  const Graph& program = *made.program.graph;
  const Reads reads(program, made.left);
  std::map<std::string, HostTensor> given;
  std::vector<const HostTensor*> in;
  for (const NodeId id : graph->inputs()) {
    const std::string name = (*graph)[id].as<Input>().name.str();
    HostTensor& tensor = given[name];
    tensor = random_tensor(f32, (*graph)[id].type.shape.evaluate({}).value(), name, 7, std::nullopt);
    in.push_back(&tensor);
  }
  const std::vector<HostTensor> wanted = interpret(*graph, in, {}).value();
  std::map<NodeId, HostTensor> values;
  for (const NodeId id : program.inputs()) values[id] = given.at(program[id].as<Input>().name.str());
  const std::vector<Carved> parts = carve_all(program, reads.parts_of(made.groups)).value();
  for (const Carved& part : parts) {
    std::vector<const HostTensor*> operands;
    for (const NodeId id : part.operands) operands.push_back(&values.at(id));
    std::vector<HostTensor> results = interpret(*expand(*part.body), operands, {}).value();
    for (size_t k = 0; k < results.size(); ++k) values[part.results[k]] = std::move(results[k]);
  }
  for (size_t k = 0; k < wanted.size(); ++k) {
    const HostTensor& got = values.at(program.outputs()[k].value);
    ASSERT_EQ(got.lanes.size(), wanted[k].lanes.size());
    for (size_t e = 0; e < got.lanes.size(); ++e) EXPECT_NEAR(got.lanes[e].f, wanted[k].lanes[e].f, 1e-4);
  }
}

// As text, and back.
TEST(RowSums, are_in_files_of_groups) {
  const search::Lowered made = lowered(step(1), FusionPolicy::always);
  const Graph& program = *made.program.graph;
  const std::string text = search::print_groups(Reads(program, made.left), made.groups);
  EXPECT_NE(text.find("readers: %"), std::string::npos) << text;
  const search::ParsedGroups parsed = search::parse_groups(text, Reads(program), "groups.txt").value();
  EXPECT_EQ(parsed.groups, made.groups);
  EXPECT_EQ(parsed.left, made.left);
}

}  // namespace
}  // namespace lumen
