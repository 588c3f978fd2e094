// Bodies of contract kernels for tests: layouts, sizes, dtypes, prologues, epilogues.
#pragma once

#include <functional>
#include <random>

#include "lumen/frontend/ops.h"
#include "lumen/hlir/indexing.h"
#include "tests/codegen/kernel_harness.h"
#include "tests/support/graphs/products.h"

namespace lumen::testing {

// Small integers: sums are exact in every dtype wide enough, so that a wrong element cannot hide in a tolerance.
inline HostTensor small_integers(TensorType type, const DimValues& dims, std::mt19937_64& random) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value());
  for (Lane& lane : tensor.lanes) {
    const auto value = static_cast<int64_t>(random() % 9) - (is_unsigned(type.dtype) ? 0 : 4);
    lane = Scalar::of(type.dtype, value).value;
  }
  return tensor;
}

// Takes a body, and the values of its dims that it runs with.
using AddContract = std::function<void(const Graph&, const std::vector<DimValues>&)>;

inline void add_product(const AddContract& add, TensorType a, std::string_view a_dims, TensorType b,
                        std::string_view b_dims, std::string_view result) {
  Graph graph;
  const Tensor x = graph.input("a0", a.shape, a.dtype);
  const Tensor y = graph.input("a1", b.shape, b.dtype);
  product(x, a_dims, y, b_dims, result).output("r0");
  add(graph, {{}});
}

inline void add_layouts(const AddContract& add) {
  add_product(add, {f32, {37, 70}}, "mk", {f32, {70, 45}}, "kn", "mn");
  add_product(add, {f32, {37, 70}}, "mk", {f32, {45, 70}}, "nk", "mn");
  add_product(add, {f32, {70, 37}}, "km", {f32, {70, 45}}, "kn", "mn");
  add_product(add, {f32, {70, 37}}, "km", {f32, {45, 70}}, "nk", "nm");
  add_product(add, {f32, {3, 20, 33}}, "bmk", {f32, {3, 33, 17}}, "bkn", "bmn");
  add_product(add, {f32, {5, 3, 20, 7}}, "mbhk", {f32, {3, 6, 7, 5}}, "bnkj", "bmnhj");
  add_product(add, {f32, {40}}, "k", {f32, {21, 40}}, "nk", "n");
  add_product(add, {f32, {21, 40}}, "mk", {f32, {40}}, "k", "m");
  add_product(add, {f32, {40}}, "k", {f32, {40}}, "k", "");
  add_product(add, {f32, {6}}, "m", {f32, {7}}, "n", "mn");
  add_product(add, {f32, {6, 8}}, "ab", {f32, {6, 8}}, "ab", "ab");
  add_product(add, {f32, {4, 3, 5}}, "akc", {f32, {3, 5}}, "kc", "a");
}

inline void add_sizes(const AddContract& add) {
  for (const int64_t m : {0, 1, 33}) {
    for (const int64_t n : {0, 1, 65}) {
      for (const int64_t k : {0, 1, 67}) add_product(add, {f32, {m, k}}, "mk", {f32, {n, k}}, "nk", "mn");
    }
  }
  for (const int64_t m : {1, 7, 16, 40}) {
    Graph graph;
    const Tensor x = cast(graph.input("a0", {m, 96}, bf16), f32);
    const Tensor y = cast(graph.input("a1", {80, 96}, bf16), f32);
    product(x, "mk", y, "nk", "mn").output("r0");
    add(graph, {{}});
  }
}

inline void add_dtypes(const AddContract& add) {
  for (const DType dtype : dtypes_of(kNumbers)) {
    if (is_float(dtype) && dtype != f32 && dtype != f64 && dtype != tf32) continue;  // products are not rounded
    add_product(add, {dtype, {19, 35}}, "mk", {dtype, {23, 35}}, "nk", "mn");
    add_product(add, {dtype, {19, 35}}, "mk", {dtype, {35, 23}}, "kn", "mn");
  }
}

inline void add_narrow(const AddContract& add) {
  const std::pair<DType, DType> pairs[] = {{bf16, bf16}, {f16, f16}, {f8e4m3, f8e4m3}, {bf16, f16}, {i8, i8},  {u8, i8},
                                           {i8, u8},     {u8, u8},   {i4, i4},         {bf16, f32}, {i16, i16}};
  for (const auto& [left, right] : pairs) {
    for (const bool lies_along_k : {false, true}) {
      Graph graph;
      const DType wide = is_float(left) ? f32 : i32;
      const Tensor a = cast(graph.input("a0", {45, 100}, left), wide);
      const Tensor b = cast(graph.input("a1", lies_along_k ? Shape{70, 100} : Shape{100, 70}, right), wide);
      product(a, "mk", b, lies_along_k ? "nk" : "kn", "mn").output("r0");
      add(graph, {{}});
    }
  }
}

inline void add_symbolic(const AddContract& add) {
  Graph graph;
  const Expr rows = graph.dim("rows", 0, 4096), depth = graph.dim("depth", 0, 4096);
  product(graph.input("a0", {rows, depth}), "mk", graph.input("a1", {40, depth}), "nk", "mn").output("r0");
  std::vector<DimValues> values;
  for (const int64_t m : {0, 1, 50, 250}) {
    for (const int64_t k : {0, 1, 600}) values.push_back({{"rows", m}, {"depth", k}});
  }
  add(graph, values);
  Graph across;
  const Expr columns = across.dim("columns", 0, 4096), images = across.dim("images", 0, 16);
  const Tensor a = cast(across.input("a0", {images, 33, 40}, bf16), f32);
  const Tensor b = cast(across.input("a1", {images, columns, 40}, bf16), f32);
  product(a, "bmk", b, "bnk", "bmn").output("r0");
  const DimValues some{{"columns", 70}, {"images", 3}}, none{{"columns", 0}, {"images", 2}},
      no_image{{"columns", 1}, {"images", 0}};
  add(across, {some, none, no_image});
}

inline void add_surrounded(const AddContract& add) {
  Graph graph;
  const Expr n = graph.dim("n", 1, 100);
  const Tensor a = graph.input("a0", {33, 40});
  const Tensor b = graph.input("a1", {n, 40}, i8);
  const Tensor scale = graph.input("a2", {n, 1});
  const Tensor bias = graph.input("a3", {n});
  const Tensor rest = graph.input("a4", {33, n}, bf16);
  const Tensor y = product(a * 2.0, "mk", cast(b, f32) * scale, "nk", "mn");
  const Tensor z = maximum(y + bias, 0.0) + cast(rest, f32);
  z.output("r0");
  cast(z * 0.5, bf16).output("r1");
  add(graph, {DimValues{{"n", 41}}, DimValues{{"n", 1}}});
}

inline void add_several(const AddContract& add) {
  Graph graph;
  const Tensor a = graph.input("a0", {33, 40});
  const Tensor gate = product(a, "mk", graph.input("a1", {50, 40}), "nk", "mn");
  const Tensor up = product(a, "mk", graph.input("a2", {50, 40}), "nk", "mn");
  (maximum(gate, 0.0) * up).output("r0");
  add(graph, {{}});
}

struct WindowSizes {
  int64_t channels = 3, images = 2, height = 9, width = 11;
  int64_t high = 3, wide = 3;   // the window
  int64_t down = 2, right = 1;  // its steps
  int64_t dilation = 1, border = 1;
  int64_t made = 5;  // channels out
};

inline void add_windows(const AddContract& add, DType held, DType dtype, const WindowSizes& s) {
  Graph graph;
  const Tensor x = cast(graph.input("a0", {s.images, s.channels, s.height, s.width}, held), dtype);
  const Tensor w = cast(graph.input("a1", {s.made, s.channels, s.high, s.wide}, held), dtype);
  const std::optional<View> rows = pad(View::identity(x.shape()), 2, s.border, s.border, Scalar::of(dtype, 0));
  const std::optional<View> padded = pad(*rows, 3, s.border, s.border, Scalar::of(dtype, 0));
  const View windows = unfold(unfold(*padded, 2, s.high, s.down, s.dilation), 3, s.wide, s.right, s.dilation);
  const int64_t order[] = {0, 2, 3, 1, 4, 5};
  const View image = permute(windows, order);  // [images,height,width,channels,high,wide]
  // Image, channel, row, column; channel in, window.
  const Shape& seen = image.shape();
  const Shape domain{seen[0], s.made, seen[1], seen[2], s.channels, s.high, s.wide};
  const auto index = [&](int k) { return Expr::index(k, domain[k]); };
  std::vector<std::pair<Expr, Expr>> at;
  for (int k = 0; k < 6; ++k) at.emplace_back(Expr::index(k, seen[k]), index(k == 0 ? 0 : k + 1));
  llir::Contract op;
  op.left = View(domain, substitute(image.index(), at), substitute(image.guard(), at), image.fill());
  const int64_t place = s.high * s.wide;
  op.right = View(domain, index(1) * (place * s.channels) + index(4) * place + index(5) * s.wide + index(6));
  op.reduced = 3;
  const NodeId operands[] = {x.id, w.id};
  graph.add_output("r0", graph.add(op, operands).value()).value();
  add(graph, {{}});
}
inline void add_windows(const AddContract& add, DType held = f32, DType dtype = f32, int64_t channels = 3) {
  add_windows(add, held, dtype, WindowSizes{.channels = channels});
}

// Rows of a table, chosen by indices, times a matrix.
inline Graph& gathered_rows(Graph& graph) {
  const Tensor table = graph.input("a0", {7, 40});
  const Tensor which = graph.input("a1", {20}, i32);
  const Tensor b = graph.input("a2", {33, 40});
  const NodeId operands[] = {table.id, which.id};
  const Tensor rows{&graph, graph.add(hlir::Gather{.axis = 0}, operands).value()};
  product(rows, "mk", b, "nk", "mn").output("r0");
  return graph;
}

}  // namespace lumen::testing
