// Fold kernels over several axes, over columns, in chunks, with values that are kept.
#include "lumen/codegen/fold.h"
#include "lumen/frontend/ops.h"
#include "lumen/hlir/reduce.h"
#include "tests/codegen/kernel_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

template <class Op>
void reduce(Graph& graph, Tensor x, int64_t axis, const char* name) {
  graph.add_output(name, graph.add(Op{axis}, std::vector<NodeId>{x.id}).value()).value();
}

void add_axes(KernelCases& cases, const Axes& axes, int64_t size) {
  Graph graph;
  const Expr n = graph.dim("n", 0, 100);
  const Tensor x = graph.input("x", {3, n, 4, n});
  const Tensor z = x * x;
  sum(z, axes).output("sum");
  max(x, axes).output("max");
  (z + mean(z, axes, true)).output("raised");
  std::string about = "axes";
  for (const int64_t axis : axes) about += " " + std::to_string(axis);
  cases.add(graph, {{"n", size}}, 64, about);
}

TEST(FoldShapes, takes_any_axes_together) {
  KernelCases cases(fold_text);
  for (const Axes& axes : {Axes{2, 3}, Axes{1, 2}, Axes{0, 2, 3}, Axes{0, 1, 2, 3}, Axes{1, 3}, Axes{0, 3}, Axes{0, 1},
                           Axes{0, 2}, Axes{1, 2, 3}}) {
    for (const int64_t size : {0, 1, 5, 17}) add_axes(cases, axes, size);
  }
  cases.run_all();
}

TEST(FoldShapes, normalises_over_several_axes) {
  KernelCases cases(fold_text);
  for (const int64_t size : {1, 7}) {
    Graph layers;
    const Tensor x = layers.input("x", {5, 6, size});
    const Tensor weight = layers.input("weight", {6, size});
    const Tensor centred = x - mean(x, {1, 2}, true);
    (centred * rsqrt(mean(centred * centred, {1, 2}, true) + 1e-5) * weight).output("y");
    cases.add(layers, {}, 64, "layer norm over two axes", 1);

    Graph batch;
    const Tensor z = batch.input("x", {4, 3, size, 5});
    const Tensor scale = batch.input("scale", {3, 1, 1});
    const Tensor from_mean = z - mean(z, {0, 2, 3}, true);
    (from_mean * rsqrt(mean(from_mean * from_mean, {0, 2, 3}, true) + 1e-5) * scale).output("y");
    cases.add(batch, {}, 64, "batch norm", 1);
  }
  cases.run_all();
}

// Wider than a tile of columns, and narrower than a vector.
TEST(FoldShapes, reduces_columns) {
  KernelCases cases(fold_text);
  for (const int64_t width : {1, 3, 16, 511, 513, 1100}) {
    for (const DType dtype : {f32, f64, i8, bf16, bool_}) {
      Graph graph;
      const Expr n = graph.dim("n", 1, 1000);
      const Tensor x = graph.input("x", {2, n, width}, dtype);
      if (!is_bool(dtype)) reduce<hlir::SumReduce>(graph, x, 1, "sum");
      reduce<hlir::MaxReduce>(graph, x, 1, "max");
      reduce<hlir::ArgMax>(graph, x, 1, "place");
      cases.add(graph, {{"n", 9}}, 64, "columns", 1);
    }
    Graph graph;
    const Tensor x = graph.input("x", {2, 7, width});
    softmax(x, 1).output("y");
    cases.add(graph, {}, 64, "softmax of columns");
  }
  cases.run_all();
}

TEST(FoldShapes, cuts_few_long_rows_into_chunks) {
  KernelCases cases([](const Graph& body, const std::string& name) {
    return print_fold(body, name, {.split_below = 8, .chunk_work = 16384});
  });
  for (const DType dtype : {f32, f64, i32, i64, u8}) {
    Graph graph;
    const Expr n = graph.dim("n", 1, 1 << 20);
    const Tensor x = graph.input("x", {2, n}, dtype);
    const Tensor z = x * x;
    reduce<hlir::SumReduce>(graph, z, 1, "sum");
    reduce<hlir::MaxReduce>(graph, x, 1, "max");
    reduce<hlir::ArgMax>(graph, x, 1, "place");
    for (const int64_t length : {1, 100, 16384, 16385, 40001}) {
      cases.add(graph, {{"n", length}}, 16, "chunks");
      EXPECT_EQ(cases.last().kernel.steps.size(), 2u);
    }
  }
  Graph rows;
  softmax(rows.input("x", {3, 40001}), 1).output("y");
  cases.add(rows, {}, 64, "softmax in chunks");
  EXPECT_EQ(cases.last().kernel.steps.size(), 3u);
  Graph columns;
  const Tensor x = columns.input("x", {4001, 33});
  const Tensor centred = x - mean(x, {0}, true);
  centred.output("centred");
  mean(centred * centred, {0}).output("variance");
  reduce<hlir::ArgMax>(columns, x, 0, "place");
  cases.add(columns, {}, 256, "columns in chunks", 1);
  EXPECT_EQ(cases.last().kernel.steps.size(), 3u);
  Graph whole;
  const Tensor z = whole.input("x", {40, 30, 50});
  sum(z * z, {0, 1, 2}).output("sum");
  max(z, {0, 1, 2}).output("max");
  cases.add(whole, {}, 16, "everything to a scalar");
  cases.run_all();
}

// The error of a sum of a million floats stays that of a few.
TEST(FoldShapes, sums_long_rows_with_a_small_error) {
  Graph graph;
  const Tensor x = graph.input("x", {8, 1 << 17});
  sum(x * x, {1}).output("sum");
  Graph columns;
  sum(columns.input("z", {8, 1 << 14, 8}), {1}).output("sum");
  KernelCases cases(fold_text);
  cases.add(graph, {}, 8, "a long row");
  cases.add(columns, {}, 8, "long columns");
  for (Lane& lane : cases.last().inputs[0].lanes) lane = Scalar::of(f32, std::fabs(lane.f)).value;
  cases.run_all();
}

TEST(FoldShapes, keeps_what_is_dear_for_the_next_loop) {
  Graph graph;
  const Tensor x = graph.input("x", {6, 37});
  softmax(x, 1).output("y");
  const KernelText kernel = print_fold(graph, "k").value();
  for (const std::string word : {"LUMEN_POWER(", "lumen_exp2_f32("}) {  // the whole vectors, and the rest
    const size_t first = kernel.text.find(word);
    EXPECT_NE(first, std::string::npos) << kernel.text;
    EXPECT_EQ(kernel.text.find(word, first + 1), std::string::npos) << kernel.text;
    EXPECT_NE(kernel.text.find("r0[", first), std::string::npos);
  }

  KernelCases cases(fold_text);
  cases.add(graph, {}, 64, "kept in the output");
  Graph narrow;
  const Expr n = narrow.dim("n", 1, 2000);
  const Tensor z = narrow.input("z", {6, n}, bf16);
  cast(softmax(gelu(cast(z, f32)), 1), bf16).output("y");
  cases.add(narrow, {{"n", 1999}}, 4, "kept on the stack");
  EXPECT_NE(cases.last().kernel.text.find("LUMEN_ROW_BUFFER"), std::string::npos);
  Graph two;
  const Tensor w = two.input("w", {5, 3, 37});
  const Tensor s = sigmoid(w);
  const Tensor t = tanh(s - mean(s, {2}, true));
  (t * rsqrt(mean(t * t, {2}, true) + 1e-5) + s).output("y");
  cases.add(two, {}, 256, "two values are kept", 1);
  Graph long_rows;
  cast(softmax(cast(long_rows.input("x", {9, 9001}, bf16), f32), 1), bf16).output("y");
  cases.add(long_rows, {}, 4, "no room");
  cases.run_all();
}

TEST(FoldShapes, reads_through_guards_and_gathers) {
  KernelCases cases(fold_text);
  for (const int64_t length : {1, 2, 40}) {
    Graph padded;
    const Tensor x = padded.input("x", {3, length});
    sum(pad(x, {{0, 0}, {2, 1}}, 1.5), {1}).output("y");
    cases.add(padded, {}, 64, "padded", 1);
    Graph gathered;
    const Tensor table = gathered.input("table", {50, length});
    const Tensor which = gathered.input("which", {7}, i32);
    softmax(embedding(which, table), 1).output("y");
    cases.add(gathered, {}, 64, "gathered");
    for (HostTensor& input : cases.last().inputs) {
      if (input.dtype != i32) continue;
      for (Lane& lane : input.lanes) lane.i = static_cast<int64_t>(cases.random()() % 50);
    }
    cases.add(gathered, {}, 64, "gathered from outside");  // the indices are random: some are negative
  }
  cases.run_all();
}

TEST(FoldShapes, survives_optimisation) {
  KernelCases cases(fold_text);
  for (const int64_t length : {1, 8, 63, 64, 65, 257, 1000}) {
    Graph graph;
    const Expr n = graph.dim("n", 1, 5000);
    const Tensor x = graph.input("x", {9, n});
    softmax(x, 1).output("y");
    reduce<hlir::ArgMax>(graph, x, 1, "place");
    reduce<hlir::MaxReduce>(graph, x, 1, "max");
    cases.add(graph, {{"n", length}}, 64, "rows");
    Graph columns;
    const Expr m = columns.dim("n", 1, 5000);
    const Tensor z = columns.input("z", {2, 5, m});
    softmax(z, 1).output("y");
    reduce<hlir::ArgMax>(columns, z, 1, "place");
    cases.add(columns, {{"n", length}}, 64, "columns");
    Graph packed;
    const Expr k = packed.dim("n", 1, 5000);
    const Tensor w = packed.input("w", {9, k}, f32);
    cast(w - max(w, {1}, true), DType::i4).output("y");
    cases.add(packed, {{"n", length}}, 0, "elements that share bytes");
  }
  cases.run_all_optimised();
}

}  // namespace
}  // namespace lumen
