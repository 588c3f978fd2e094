// Map kernels that turn their inputs around, in tiles.
#include "lumen/codegen/map.h"
#include "lumen/frontend/ops.h"
#include "tests/codegen/kernel_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

bool is_tiled(const KernelText& kernel) { return kernel.text.find("tile0") != std::string::npos; }

void add_turned(KernelCases& cases, int64_t rows, int64_t columns) {
  for (const DType dtype : {f32, bf16, i8, f64}) {
    Graph graph;
    const Expr n = graph.dim("n", 0, 200);
    const Tensor x = graph.input("x", {n, columns}, dtype);
    const Tensor z = graph.input("z", {columns, n}, dtype);
    const Tensor column = graph.input("column", {columns, 1}, dtype);
    transpose(x).output("turned");
    (transpose(x) + z * column).output("sum");
    cases.add(graph, {{"n", rows}}, 4, "turned", 16);
    EXPECT_EQ(is_tiled(cases.last().kernel), columns >= 8) << cases.last().kernel.text;
  }
}

TEST(MapTile, turns_matrices) {
  KernelCases cases(map_text);
  for (const int64_t rows : {0, 1, 31, 32, 33, 100}) {
    for (const int64_t columns : {2, 8, 33, 64}) add_turned(cases, rows, columns);
  }
  cases.run_all();
}

TEST(MapTile, turns_any_dims) {
  KernelCases cases(map_text);
  for (const Axes& order : {Axes{0, 2, 3, 1}, Axes{0, 3, 2, 1}, Axes{0, 3, 1, 2}, Axes{1, 3, 0, 2}}) {
    Graph graph;
    const Tensor x = graph.input("x", {3, 9, 10, 11});
    exp2(permute(x, order)).output("y");
    cases.add(graph, {}, 4, "permuted");
    EXPECT_TRUE(is_tiled(cases.last().kernel));
    Graph padded;
    const Tensor z = padded.input("x", {3, 9, 10, 11});
    permute(pad(z, {{0, 0}, {1, 2}, {0, 0}, {2, 1}}, 0.5), order).output("y");
    cases.add(padded, {}, 0, "permuted and padded");
    Graph offset;
    const Tensor w = offset.input("x", {3, 12, 10, 11});
    permute(slice(w, 1, 2, 12), order).output("y");
    cases.add(offset, {}, 0, "a part, permuted");
  }
  cases.run_all_optimised();
}

TEST(MapTile, leaves_what_lies_in_order) {
  Graph graph;
  const Tensor x = graph.input("x", {8, 64, 64});
  (permute(x, {1, 0, 2}) * 2.0).output("y");
  EXPECT_FALSE(is_tiled(print_map(graph, "k").value()));
}

}  // namespace
}  // namespace lumen
