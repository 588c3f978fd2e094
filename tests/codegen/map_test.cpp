// Map kernels against the reference: random graphs, every op on its own and ops together, odd ranges of rows.
#include "lumen/codegen/map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/select.h"
#include "lumen/hlir/unary.h"
#include "lumen/hlir/view.h"
#include "tests/codegen/kernel_cases.h"
#include "tests/support/gpu_target.h"
#include "tests/support/graphs/random_graph.h"

namespace lumen {
namespace {

using namespace lumen::testing;

bool approximates(const Node& node) {
  return node.op->family == OpFamily::unary || node.is<hlir::Div>() || node.is<hlir::Mod>() || node.is<hlir::Cast>();
}
bool is_narrow(DType dtype) { return is_float(dtype) && dtype != f32 && dtype != f64; }

// Kernels of a random graph that are maps: single ops, and runs of ops whose result is the same however they are
// rounded.
void add_cases(uint64_t seed, std::vector<Case>& cases) {
  const RandomGraph given = make_random_graph(seed);
  const Graph& graph = *given.graph;
  std::map<NodeId, HostTensor> values;  // of every node, by the reference
  for (size_t k = 0; k < given.inputs.size(); ++k) values[graph.inputs()[k]] = given.inputs[k];
  std::vector<NodeId> run_of_ops;
  const auto add = [&](const std::vector<NodeId>& part, NodeId result) {
    Carved carved = carve(graph, part, std::vector<NodeId>{result});
    const std::string name = "k" + std::to_string(cases.size());
    Expected<KernelText> text = print_map(*carved.body, name);
    if (!text.ok()) return;
    Case& made = cases.emplace_back();
    for (const NodeId id : carved.operands) made.inputs.push_back(values.at(id));
    made.dims = dims_of(*carved.body, given.dims);
    made.body = carved.body;
    made.kernel = *text;
    made.about = "seed " + std::to_string(seed);
  };
  for (const NodeId id : graph.order()) {
    if (graph[id].is<Input>()) continue;
    const Carved alone = carve(graph, std::vector<NodeId>{id}, std::vector<NodeId>{id});
    std::vector<const HostTensor*> operands;
    for (const NodeId operand : alone.operands) operands.push_back(&values.at(operand));
    auto result = interpret(*alone.body, operands, dims_of(*alone.body, given.dims));
    if (!result.ok()) return;  // an index outside, a division by zero: what comes after has no value
    values[id] = result.value()[0];
    add({id}, id);
    bool exact = !approximates(graph[id]) && !is_narrow(graph[id].type.dtype);
    for (const NodeId operand : graph[id].operands) exact = exact && !is_narrow(graph[operand].type.dtype);
    if (!exact) continue;
    run_of_ops.push_back(id);
    if (run_of_ops.size() > 1) add(run_of_ops, id);
  }
}

TEST(Map, refuses_what_is_not_elementwise) {
  Graph graph;
  const Tensor x = graph.input("x", {4, 3});
  sum(x, {1}).output("s");
  const auto text = print_map(graph, "k");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.diag().message, "[SumReduce] is not computed element by element");
}

TEST(Map, refuses_outputs_of_different_shapes) {
  Graph graph;
  const Tensor x = graph.input("x", {4, 3});
  exp2(x).output("a");
  transpose(x).output("b");
  const auto text = print_map(graph, "k");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.diag().message, "the outputs of a map kernel have one shape, but these are [4,3] and [3,4]");
}

TEST(Map, says_when_an_index_is_outside) {
  Graph graph;
  const Tensor x = graph.input("x", {5});
  const Tensor which = graph.input("which", {3}, DType::i32);
  graph.add_output("y", graph.add(hlir::Gather{.axis = 0}, std::vector<NodeId>{x.id, which.id}).value()).value();
  Case given{clone(graph), {}, {}, print_map(graph, "k0").value(), ""};
  given.inputs = {row(f32, {1, 2, 3, 4, 5}), row(i32, {0, 5, -1})};
  const CompiledText compiled = compile({given.kernel});
  std::mt19937_64 random(1);
  const auto [outputs, fault] = run(given, compiled, random);
  ASSERT_EQ(fault, 1);
  EXPECT_EQ(given.kernel.faults[0], "[Gather] an index is outside axis 0 of f32[5]");
  EXPECT_EQ(outputs[0].lanes[0].f, 1);
}

TEST(Map, is_one_loop_where_the_elements_lie_in_order) {
  Graph graph;
  const Expr n = graph.dim("n", 1, 1000);
  const Tensor x = graph.input("x", {n, 64, 3});
  (exp2(x) * 2.0 + x).output("y");
  const KernelText kernel = print_map(graph, "k").value();
  EXPECT_EQ(kernel.steps[0].rows.str(), "192*n0");
  EXPECT_EQ(kernel.text.find('/'), std::string::npos) << kernel.text;
}

TEST(Map, cuts_few_long_rows_into_chunks) {
  KernelCases cases([](const Graph& body, const std::string& name) { return print_map(body, name); });
  for (const int64_t length : {1, 16384, 40001}) {
    Graph graph;
    const Expr n = graph.dim("n", 1, 100000);
    (graph.input("x", {2, n}) * graph.input("column", {2, 1})).output("y");
    cases.add(graph, {{"n", length}}, 0, "chunks");
    EXPECT_EQ(cases.last().kernel.steps[0].rows.str(), "2*((n0 + 16383) / 16384)");
  }
  cases.run_all();
}

// On a GPU: a block for each piece of a row, however many there are, and no loop over others.
TEST(Map, takes_pieces_of_rows) {
  KernelCases cases([](const Graph& body, const std::string& name) { return print_map(body, name, {.pieces = true}); });
  for (const int64_t length : {1, 511, 512, 1500, 2048}) {
    Graph rows;
    const Expr n = rows.dim("n", 1, 100000);
    (rows.input("x", {3, n}) * rows.input("column", {3, 1})).output("y");
    cases.add(rows, {{"n", length}}, 0, "rows");
    EXPECT_EQ(cases.last().kernel.steps[0].rows.str(), "3*((n0 + 127) / 128)");
    Graph wide;
    (wide.input("x", {70, length}, bf16) + wide.input("row", {length}, bf16)).output("y");
    cases.add(wide, {}, 0, fmt::format("rows of {}", length));
    Graph flat;
    (flat.input("x", {length}) + flat.input("y", {length})).output("z");
    cases.add(flat, {}, 0, "one row");
    EXPECT_FALSE(cases.last().kernel.steps[0].walks);
    EXPECT_EQ(cases.last().kernel.text.find("for (int64_t row"), std::string::npos);
    Graph packed;
    cast(packed.input("x", {length, 3}, DType::i8), DType::i4).output("y");
    cases.add(packed, {}, 0, "shared bytes");
  }
  cases.run_emulated();
}

TEST(Map, competes_with_few_registers_where_there_is_much_to_do) {
  const auto proposed = [](int64_t rows) {
    Graph graph;
    exp2(graph.input("x", {rows, 1024}, bf16)).output("y");
    return kernel_schedules(graph, tests::gpu_target()).value();
  };
  EXPECT_EQ(proposed(4096), (std::vector<std::string>{"map", "gpu-full-map"}));
  EXPECT_EQ(proposed(1024), std::vector<std::string>{"map"});
  Graph graph;
  exp2(graph.input("x", {4 << 20}, bf16)).output("y");
  EXPECT_NE(print_cuda_full_map(graph, "k").value().text.find("LUMEN_KERNEL_16(k, 128,"), std::string::npos);
  Graph few;
  exp2(few.input("x", {100})).output("y");
  EXPECT_EQ(print_cuda_full_map(few, "k").diag().message, "the elements of this map are few");
}

TEST(Map, computes_what_the_reference_computes) {
  const uint64_t first = std::random_device{}();
  std::vector<Case> cases;
  for (uint64_t seed = first; seed < first + 120; ++seed) add_cases(seed, cases);
  std::vector<KernelText> kernels;
  for (const Case& each : cases) kernels.push_back(each.kernel);
  ASSERT_GT(kernels.size(), 400u);
  const CompiledText compiled = compile(kernels);
  std::mt19937_64 random(first);
  const auto compare = [](const Case& each, const std::pair<std::vector<HostTensor>, int64_t>& results) {
    const auto& [got, fault] = results;
    const std::vector<HostTensor> wanted = wanted_of(each).value();
    ASSERT_EQ(fault, 0) << each.kernel.text;
    bool exact = true;
    for (const NodeId id : each.body->order()) exact = exact && !approximates((*each.body)[id]);
    for (size_t k = 0; k < got.size(); ++k) expect_same(got[k], wanted[k], exact ? 0 : 4, each);
  };
  for (const Case& each : cases) {
    compare(each, run(each, compiled, random));
    if (HasFatalFailure()) return;
  }
  // A few of them as CUDA text.
  std::shuffle(cases.begin(), cases.end(), random);
  cases.resize(60);
  kernels.clear();
  for (const Case& each : cases) kernels.push_back(each.kernel);
  const Emulated emulated(kernels);
  for (const Case& each : cases) {
    compare(each, emulated.run(each, random));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace lumen
