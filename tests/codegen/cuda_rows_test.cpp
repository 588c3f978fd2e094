// Rows that the threads of a GPU hold between the loops over them: run by the emulator, against the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/codegen/fold.h"
#include "lumen/frontend/ops.h"
#include "tests/codegen/kernel_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

size_t count(const std::string& text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// What an input or a kept value stays in.
size_t held(const KernelText& kernel) {
  return count(kernel.text, "LUMEN_TAKE_ROW(") + count(kernel.text, "LUMEN_HOLD_ROW(");
}

double units(DType dtype) { return dtype == f32 ? 256 : 2; }

void add_softmax(KernelCases& cases, DType dtype, int64_t rows, int64_t length) {
  Graph graph;
  softmax(graph.input("x", {rows, length}, dtype), 1).output("y");
  cases.add(graph, {}, units(dtype), fmt::format("softmax of {} {}", length, name(dtype)), 1.0 / 64);
}

void add_layer_norm(KernelCases& cases, DType dtype, int64_t rows, int64_t length) {
  Graph graph;
  const Tensor w = graph.input("w", {length}, dtype), b = graph.input("b", {length}, dtype);
  layer_norm(graph.input("x", {rows, length}, dtype), 1, w, b).output("y");
  cases.add(graph, {}, units(dtype), fmt::format("layer norm of {} {}", length, name(dtype)), 1);
}

// Two inputs, two outputs as long as the rows, one by row.
void add_sum_norm(KernelCases& cases, DType dtype, int64_t rows, int64_t length) {
  Graph graph;
  const Tensor x = cast(graph.input("x", {rows, length}, dtype), f32);
  const Tensor s = x + cast(graph.input("y", {rows, length}, dtype), f32);
  const Tensor squares = mean(s * s, {1});
  cast(s, dtype).output("sum");
  cast(s * rsqrt(unsqueeze(squares, 1) + 1e-5) * cast(graph.input("w", {length}, dtype), f32), dtype).output("norm");
  squares.output("squares");
  cases.add(graph, {}, units(dtype), fmt::format("sum and norm of {} {}", length, name(dtype)), 1);
}

TEST(CudaRows, holds_nothing_of_empty_rows) {
  Graph graph;
  sum(graph.input("x", {4, 0}), {1}).output("y");
  EXPECT_EQ(held(print_fold(graph, "k").value()), 0u);
}

// Shorter than a warp's groups, shorter than the threads, turns that are whole, and a last turn that is not.
TEST(CudaRows, holds_rows_of_any_length) {
  for (const DType dtype : {f32, bf16, f16}) {
    KernelCases cases(fold_text);
    for (const int64_t length : {8, 40, 96, 1000, 2048, 4096, 4104, 5120, 8192}) {
      switch (cases.size() % 3) {
        case 0:
          add_softmax(cases, dtype, 3, length);
          break;
        case 1:
          add_layer_norm(cases, dtype, 3, length);
          break;
        default:
          add_sum_norm(cases, dtype, 3, length);
      }
      EXPECT_GE(held(cases.last().kernel), 1U) << cases.last().about;
    }
    cases.run_emulated();
  }
}

// As many turns as there may be, and one more; a width that does not divide the length.
TEST(CudaRows, leaves_what_is_too_long_in_memory) {
  KernelCases cases(fold_text);
  for (const auto& [dtype, longest] : {std::pair{f32, int64_t{16384}}, std::pair{bf16, int64_t{16384}}}) {
    for (const int64_t length : {longest, longest + 8}) {
      add_layer_norm(cases, dtype, 2, length);
      EXPECT_EQ(held(cases.last().kernel), length == longest ? 1U : 0U) << cases.last().about;
    }
  }
  add_sum_norm(cases, f32, 2, 8192);
  EXPECT_EQ(held(cases.last().kernel), 2U);
  add_sum_norm(cases, f32, 2, 8200);  // of two inputs no more than 8192
  EXPECT_EQ(held(cases.last().kernel), 0U);
  add_softmax(cases, bf16, 2, 8193);
  EXPECT_EQ(held(cases.last().kernel), 0U);
  cases.run_emulated();
}

// Where there are many rows, fewer threads have more of each; a block of the emulator takes several.
TEST(CudaRows, takes_many_rows_with_fewer_threads) {
  KernelCases cases(fold_text);
  for (const DType dtype : {f32, bf16}) {
    add_softmax(cases, dtype, 1024, 1024);
    add_layer_norm(cases, dtype, 1024, 1280);
    EXPECT_EQ(held(cases.last().kernel), 1U);
  }
  EXPECT_EQ(cases.last().kernel.steps[0].threads, 160);  // groups of 8, none of them left over
  Graph few, many;
  for (const auto& [graph, rows] : {std::pair{&few, 16}, std::pair{&many, 8192}}) {
    rms_norm(graph->input("x", {rows, 8192}, bf16), graph->input("w", {8192}, bf16)).output("y");
  }
  EXPECT_EQ(print_fold(few, "k").value().steps[0].threads, 512);
  EXPECT_EQ(print_fold(many, "k").value().steps[0].threads, 256);
  cases.run_emulated();
}

// Numbers of rows that are known later, rows that an index chooses, masks, places of the largest, other dtypes.
TEST(CudaRows, holds_what_is_around_reductions) {
  KernelCases cases(fold_text);
  Graph symbolic;
  const Expr n = symbolic.dim("n", 1, 4096);
  rms_norm(symbolic.input("x", {n, 1024}, bf16), symbolic.input("w", {1024}, bf16)).output("y");
  for (const int64_t rows : {1, 7}) cases.add(symbolic, {{"n", rows}}, 2, "a symbolic number of rows", 1);
  EXPECT_EQ(held(cases.last().kernel), 1U);
  Graph length;
  const Expr m = length.dim("m", 1, 4096);
  softmax(length.input("x", {3, m * 8}, bf16), 1).output("y");
  cases.add(length, {{"m", 65}}, 2, "a symbolic length", 1.0 / 64);
  EXPECT_EQ(held(cases.last().kernel), 0U);
  Graph masked;
  const Tensor scores = masked.input("x", {2, 3, 520});
  softmax(where(masked.input("mask", {2, 1, 520}, bool_), scores * 0.125, -kInf), 2).output("y");
  cases.add(masked, {}, 256, "softmax with a mask", 1.0 / 64);
  EXPECT_GE(held(cases.last().kernel), 2U);
  Graph chosen;  // an index is read before the row, and may be outside
  const Tensor rows = embedding(chosen.input("place", {5}, i32), chosen.input("table", {9, 264}));
  rms_norm(rows, chosen.input("w", {264})).output("y");
  for (const int64_t place : {8, 9}) {
    cases.add(chosen, {}, 256, "rows of a table", 1);
    for (Lane& lane : cases.last().inputs[0].lanes) lane.i = 3;
    cases.last().inputs[0].lanes[4].i = place;
  }
  for (const DType dtype : {f64, i32, i8, u8}) {
    Graph other;
    const Tensor x = other.input("x", {4, 1032}, dtype);
    (x - max(x, {1}, true)).output("y");
    argmax(x, 1).output("place");
    cases.add(other, {}, dtype == f64 ? 2 : 0, fmt::format("largest of {}", name(dtype)));
  }
  Graph packed;  // one thread stores what shares bytes
  const Tensor p = packed.input("x", {3, 512});
  cast(round(softmax(p, 1) * 7.0), i4).output("y");
  cases.add(packed, {}, 1, "packed results");
  EXPECT_EQ(held(cases.last().kernel), 0U);
  cases.run_emulated();
}

}  // namespace
}  // namespace lumen
