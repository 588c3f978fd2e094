// Sorts by the blocks of a GPU, run by the emulator, against the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/codegen/print_kernel.h"
#include "lumen/codegen/sort.h"
#include "lumen/frontend/ops.h"
#include "lumen/hlir/sort.h"
#include "tests/codegen/kernel_cases.h"
#include "tests/support/gpu_target.h"

namespace lumen {
namespace {

using namespace lumen::testing;

Expected<KernelText> cuda_sort_text(const Graph& body, const std::string& name) {
  return print_cuda_sort(body, name, tests::gpu_target());
}

Tensor order_of(const Tensor& x, int64_t axis, bool descending) {
  return {x.graph, x.graph->add(hlir::Sort{axis, descending}, std::vector{x.id}).value()};
}

// Some elements are NaN, infinite or a zero of either sign.
void add_specials(KernelCases& cases, DType dtype) {
  std::vector<Lane>& lanes = cases.last().inputs[0].lanes;
  if (!is_float(dtype) || lanes.empty()) return;
  for (const double special : {kNan, kNan, kInf, -kInf, 0.0, -0.0, 0.0, -0.0}) {
    lanes[cases.random()() % lanes.size()].f = round_to(dtype, special);
  }
}

// Inputs are one of 4001 values, so that long lines have many equal ones; bool and small integers have nothing else.
TEST(CudaSort, orders_lines_of_any_length) {
  KernelCases cases(cuda_sort_text);
  for (const int64_t length : {1, 2, 3, 31, 33, 127, 128, 129, 255, 256, 257, 511, 512, 1000, 1024, 1025, 5000}) {
    for (const bool descending : {false, true}) {
      Graph graph;
      order_of(graph.input("x", {3, length}), 1, descending).output("y");
      cases.add(graph, {}, 0, fmt::format("{} elements, descending {}", length, descending));
      add_specials(cases, f32);
    }
  }
  ASSERT_LE(cases.size(), 40);
  cases.run_emulated();
}

TEST(CudaSort, orders_any_dtype) {
  for (const bool is_long : {false, true}) {
    KernelCases cases(cuda_sort_text);
    for (const DType dtype : dtypes_of(kAnyDType)) {
      const bool descending = cases.random()() % 2 == 0;
      Graph graph;
      const Expr n = graph.dim("n", 0, is_long ? 1500 : 200);
      order_of(graph.input("x", {2, n, 2}, dtype), 1, descending).output("y");
      const auto length = static_cast<int64_t>(cases.random()() % (is_long ? 1501 : 201));
      cases.add(graph, {{"n", length}}, 0, fmt::format("{} elements, descending {}", length, descending));
      add_specials(cases, dtype);
    }
    ASSERT_LE(cases.size(), 40);
    cases.run_emulated();
  }
}

TEST(CudaSort, takes_every_bit_of_a_key) {
  KernelCases cases(cuda_sort_text);
  for (const DType dtype : {i32, u32, i64, u64}) {
    for (const int64_t length : {200, 700}) {
      Graph graph;
      order_of(graph.input("x", {length}, dtype), 0, length == 200).output("y");
      cases.add(graph, {}, 0, "all bits");
      std::vector<Lane>& lanes = cases.last().inputs[0].lanes;
      for (Lane& lane : lanes) {
        const uint64_t bits = cases.random()();
        lane.i = dtype == i32 ? static_cast<int32_t>(bits) : static_cast<int64_t>(dtype == u32 ? bits >> 32 : bits);
      }
      lanes[5].i = dtype == i32 ? INT32_MAX : dtype == u32 ? int64_t{UINT32_MAX} : dtype == i64 ? INT64_MAX : -1;
      lanes[6] = lanes[5];
    }
  }
  cases.run_emulated();
}

// Lengths that are known when a kernel runs, with what is elementwise before and after; as many lines as there are.
TEST(CudaSort, takes_what_is_elementwise_around_it) {
  KernelCases cases(cuda_sort_text);
  for (const int64_t most : {100, 3000}) {
    for (const int64_t length : {int64_t{0}, int64_t{1}, most / 3, most}) {
      Graph graph;
      const Expr n = graph.dim("n", 0, most), m = graph.dim("m", 0, 9);
      const Tensor x = graph.input("x", {m, n});
      cast(order_of(x * x - 1.0, 1, true), i32).output("y");
      (order_of(x * x - 1.0, 1, true) + 7).output("z");
      cases.add(graph, {{"n", length}, {"m", 5}}, 0, "around");
    }
  }
  cases.run_emulated();
}

// Long lines in pieces, the last of which ends early: how a model lists its likeliest tokens.
TEST(CudaSort, orders_pieces_of_a_line) {
  KernelCases cases(cuda_sort_text);
  for (const auto& [length, piece] :
       {std::pair<int64_t, int64_t>{2500, 1024}, {2049, 1024}, {600, 256}, {4096, 1024}}) {
    Graph graph;
    const Expr rows = graph.dim("rows", 1, 4);
    const Tensor x = graph.input("x", {rows, length});
    const int64_t pieces = (length + piece - 1) / piece;
    const Tensor padded = pad_along(x, 1, 0, pieces * piece - length, -kInf);
    order_of(reshape(padded, {rows, pieces, piece}), 2, true).output("y");
    cases.add(graph, {{"rows", 3}}, 0, fmt::format("{} elements in pieces of {}", length, piece));
    add_specials(cases, f32);
  }
  cases.run_emulated();
}

TEST(CudaSort, is_proposed_where_lines_fit) {
  const auto proposed = [](Expr length, DType dtype) {
    Graph graph;
    order_of(graph.input("x", {4, length}, dtype), 1, false).output("y");
    return kernel_schedules(graph, tests::gpu_target()).value();
  };
  EXPECT_EQ(proposed(128, f32), std::vector<std::string>{"gpu-sort"});
  EXPECT_EQ(proposed(16384, f32), std::vector<std::string>{"gpu-sort"});
  EXPECT_EQ(proposed(8192, f64), std::vector<std::string>{"gpu-sort"});
  EXPECT_EQ(proposed(16384, f64), std::vector<std::string>{"sort"});
  EXPECT_EQ(proposed(128256, f32), std::vector<std::string>{"sort"});
  EXPECT_EQ(kernel_kind("gpu-sort"), "sort");
}

}  // namespace
}  // namespace lumen
