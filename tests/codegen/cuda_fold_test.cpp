// Few long rows, cut into chunks for the blocks of a GPU: run by the emulator, against the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/codegen/fold.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/ops.h"
#include "lumen/hlir/reduce.h"
#include "tests/codegen/kernel_cases.h"
#include "tests/support/gpu_target.h"

namespace lumen {
namespace {

using namespace lumen::testing;

Expected<KernelText> cuda_fold_text(const Graph& body, const std::string& name) {
  return print_cuda_fold(body, name, tests::gpu_target());
}

template <class Op>
void reduce_rows(const Tensor& x, const char* output) {
  x.graph->add_output(output, x.graph->add(Op{1}, std::vector{x.id}).value()).value();
}

std::vector<Lane>& lanes_of(KernelCases& cases) { return cases.last().inputs[0].lanes; }

void put(KernelCases& cases, DType dtype, double x) {
  lanes_of(cases)[cases.random()() % lanes_of(cases).size()].f = round_to(dtype, x);
}

TEST(CudaFold, reduces_any_dtype) {
  KernelCases cases(cuda_fold_text);
  for (const DType dtype : dtypes_of(kAnyDType)) {
    Graph graph;
    const auto length = static_cast<int64_t>(16384 + cases.random()() % 9000);
    const Tensor x = graph.input("x", {2, length}, dtype);
    if (!is_bool(dtype) && !is_packed(dtype)) reduce_rows<hlir::SumReduce>(x, "sum");
    if (!is_packed(dtype)) reduce_rows<hlir::MaxReduce>(x, "max");
    argmax(x, 1).output("place");
    const bool narrow = info(dtype).bits < 32;  // rounded once, at the end; the others at every step
    cases.add(graph, {}, narrow ? 2 : 8, fmt::format("{} elements", length), narrow ? 1 : 4096);
    EXPECT_EQ(cases.last().kernel.steps.size(), 2);
  }
  cases.run_emulated();
}

// Odd lengths, whole groups of wide loads, a chunk that ends early, more chunks than threads.
TEST(CudaFold, reduces_any_length) {
  KernelCases cases(cuda_fold_text);
  for (const int64_t length : {16384, 16385, 18432, 20001, 65537, 128256, 1200001}) {
    Graph graph;
    const Tensor x = graph.input("x", {1, length}, length == 18432 ? bf16 : f32);
    sum(cast(x, f32), {1}).output("sum");
    argmax(x, 1).output("place");
    cases.add(graph, {}, 8, fmt::format("{} elements", length), 4096);
  }
  Graph graph;
  const Expr n = graph.dim("n", 1, 60000);
  const Tensor x = graph.input("x", {3, n});
  (sum(x * x, {1}) * 0.5).output("sum");
  argmax(x, 1).output("place");
  for (const int64_t length : {1, 2, 2047, 2049, 49999}) cases.add(graph, {{"n", length}}, 8, "some elements");
  cases.run_emulated();
}

// The largest logit and the weight of all, by a temperature: what a Sampler is told of a vocabulary.
TEST(CudaFold, weighs_logits) {
  KernelCases cases(cuda_fold_text);
  for (const int64_t length : {20001, 128256}) {
    Graph graph;
    const Tensor x = graph.input("x", {2, 1, length});
    const Tensor largest = max(x, {2});
    const Tensor temperatures = graph.input("temperatures", {2});
    largest.output("top");
    sum(exp((x - unsqueeze(largest, 2)) / unsqueeze(unsqueeze(temperatures, 1), 2)), {2}).output("weight");
    cases.add(graph, {}, 64, fmt::format("{} logits", length));
    cases.last().inputs[1].lanes[0].f = 0.5;
    cases.last().inputs[1].lanes[1].f = 3;
    put(cases, f32, -kInf);
  }
  cases.run_emulated();
}

TEST(CudaFold, finds_the_first_of_the_largest) {
  KernelCases cases(cuda_fold_text);
  for (const DType dtype : {f32, bf16, f64}) {
    Graph graph;
    argmax(graph.input("x", {2, 30001}, dtype), 1).output("place");
    const auto add = [&](const char* about, double all) {
      cases.add(graph, {}, 0, about);
      for (Lane& lane : lanes_of(cases)) lane.f = all;
    };
    cases.add(graph, {}, 0, "values that occur several times");
    add("all the same", 2.0);
    add("nothing above -inf", -kInf);
    add("zeros of either sign", 0.0);
    for (Lane& lane : lanes_of(cases)) lane.f = cases.random()() % 2 == 0 ? 0.0 : -0.0;
    add("two that are the largest", 1.0);
    for (int k = 0; k < 4; ++k) put(cases, dtype, 3.0);
    add("NaN among infinities", kInf);
    for (int k = 0; k < 6; ++k) put(cases, dtype, kNan);
    add("one above -inf", -kInf);
    for (int k = 0; k < 2; ++k) put(cases, dtype, -1.0);
  }
  for (const DType dtype : {i32, i64, u8, bool_}) {
    Graph graph;
    argmax(graph.input("x", {2, 30001}, dtype), 1).output("place");
    cases.add(graph, {}, 0, "integers");
    cases.add(graph, {}, 0, "the lowest integer");
    for (Lane& lane : lanes_of(cases))
      lane = Scalar::of(dtype, is_unsigned(dtype) || is_bool(dtype) ? 0.0 : -100.0).value;
  }
  ASSERT_LE(cases.size(), 40U);
  cases.run_emulated();
}

TEST(CudaFold, multiplies) {
  KernelCases cases(cuda_fold_text);
  Graph floats;
  reduce_rows<hlir::ProdReduce>(floats.input("x", {2, 20001}), "y");
  cases.add(floats, {}, 0, "signs");
  for (Lane& lane : lanes_of(cases)) lane.f = cases.random()() % 2 == 0 ? 1.0 : -1.0;
  lanes_of(cases)[7].f = 0.75;
  Graph integers;
  reduce_rows<hlir::ProdReduce>(integers.input("x", {2, 20001}, i32), "y");
  cases.add(integers, {}, 0, "wrapping");
  for (Lane& lane : lanes_of(cases)) lane.i = 3;
  cases.run_emulated();
}

// Reductions that wait for others, and outputs as long as the rows; columns; several axes.
TEST(CudaFold, takes_what_is_elementwise_around_it) {
  KernelCases cases(cuda_fold_text);
  for (const int64_t length : {20000, 20003}) {
    Graph rows;
    const Tensor x = rows.input("x", {3, length});
    softmax(x * 0.25, 1).output("y");
    log2(sum(exp2(x - max(x, {1}, true)), {1})).output("log");
    cases.add(rows, {}, 256, "softmax", 1);
    Graph narrow;
    const Tensor z = cast(narrow.input("z", {1, length}, bf16), f32);
    const Tensor centred = z - mean(z, {1}, true);
    cast(centred * rsqrt(mean(centred * centred, {1}, true) + 1e-5) * narrow.input("w", {length}), bf16).output("y");
    cases.add(narrow, {}, 4, "layer norm", 1);
  }
  Graph columns;
  const Tensor c = columns.input("x", {5000, 33});
  (sum(c, {0}) * 2.0 + columns.input("b", {33})).output("sum");
  argmax(c, 0).output("place");
  cases.add(columns, {}, 8, "columns", 1024);
  Graph whole;
  const Tensor z = whole.input("x", {40, 30, 50});
  sum(z * z, {0, 1, 2}).output("sum");
  max(z, {0, 1, 2}).output("max");
  cases.add(whole, {}, 8, "everything to a scalar");
  Graph outer;
  const Tensor o = outer.input("x", {64, 3, 500});
  sum(o, {0, 2}).output("sum");
  cases.add(outer, {}, 8, "axes that are not neighbours", 4096);
  cases.run_emulated();
}

// Softmax keeps what it computes, a norm only what it reads; of an odd length the last turn is not full.
void run_many_rows(KernelCases cases) {
  for (const int64_t length : {8192, 8184}) {
    Graph rows;
    softmax(rows.input("x", {1024, length}, bf16), -1).output("y");
    cases.add(rows, {}, 8, fmt::format("softmax of {}", length), 64);
    Graph norms;
    rms_norm(norms.input("x", {1024, length}), norms.input("w", {length})).output("y");
    cases.add(norms, {}, 8, fmt::format("norms of {}", length), 64);
  }
  cases.run_emulated();
}

TEST(CudaFold, holds_more_of_many_rows) { run_many_rows(KernelCases(print_cuda_held_fold)); }

// The weights of a norm stand beside its rows.
TEST(CudaFold, reads_early_what_outputs_need) {
  KernelCases cases(print_cuda_early_fold);
  for (const int64_t length : {8192, 8184}) {
    Graph graph;
    const Tensor x = graph.input("x", {1024, length}, bf16);
    layer_norm(x, 1, graph.input("w", {length}, bf16), graph.input("b", {length}, bf16)).output("y");
    cases.add(graph, {}, 8, fmt::format("norms of {}", length), 64);
  }
  cases.run_emulated();
  Graph norms;
  rms_norm(norms.input("x", {1024, 8192}), norms.input("w", {8192})).output("y");
  const std::string text = print_cuda_early_fold(norms, "k").value().text;
  const size_t rows = text.find("LUMEN_TAKE_ROW"), weights = text.rfind("LUMEN_TAKE_ROW");
  EXPECT_LT(rows, weights) << text;
  EXPECT_LT(weights, text.find("LUMEN_COMBINE")) << text;
  Graph alone;
  softmax(alone.input("x", {1024, 8192}), -1).output("y");
  EXPECT_EQ(print_cuda_early_fold(alone, "k").diag().message, "outputs read nothing beside the rows of this fold");
}

// 32 MiB of results, and one row less.
TEST(CudaFold, keeps_rows_where_results_are_large) {
  KernelCases cases([](const Graph& body, const std::string& name) {
    return print_kernel(body, name, "gpu-kept-fold", tests::gpu_target());
  });
  Graph graph;
  softmax(graph.input("x", {1024, 8192}), -1).output("y");
  cases.add(graph, {}, 256, "softmax of 8192", 1.0 / 64);
  const std::string text = cases.last().kernel.text;
  for (const char* word : {"LUMEN_KEPT_ROWS true", "LUMEN_KEPT_RESULTS true"}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
  cases.run_emulated();
  const std::vector<std::string> schedules = kernel_schedules(graph, tests::gpu_target()).value();
  EXPECT_NE(std::ranges::find(schedules, "gpu-kept-fold"), schedules.end());
  Graph less;
  softmax(less.input("x", {1023, 8192}), -1).output("y");
  EXPECT_EQ(print_kernel(less, "k", "gpu-kept-fold", tests::gpu_target()).diag().message,
            "the results of this fold may fit into a cache");
}

TEST(CudaFold, is_proposed_for_few_long_rows) {
  const auto proposed = [](int64_t rows, int64_t length) {
    Graph graph;
    sum(graph.input("x", {rows, length}), {1}).output("y");
    return kernel_schedules(graph, tests::gpu_target()).value();
  };
  const std::vector<std::string> both{"gpu-fold", "fold"}, one{"fold"};
  EXPECT_EQ(proposed(1, 128256), both);
  EXPECT_EQ(proposed(64, 128256), both);
  EXPECT_EQ(proposed(1, 16383), one);
  EXPECT_EQ(proposed(132, 128256), one);
  EXPECT_EQ(kernel_kind("gpu-fold"), "fold");
  const std::vector<std::string> held{"fold", "gpu-held-fold"};
  EXPECT_EQ(proposed(8192, 8192), held);
  EXPECT_EQ(kernel_kind("gpu-held-fold"), "fold");
}

}  // namespace
}  // namespace lumen
