// Scan, sort and scatter kernels against the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/codegen/cuda_scatter.h"
#include "lumen/codegen/scan.h"
#include "lumen/codegen/scatter.h"
#include "lumen/codegen/sort.h"
#include "lumen/frontend/ops.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/scan.h"
#include "lumen/hlir/sort.h"
#include "lumen/hlir/view.h"
#include "tests/codegen/kernel_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

Expected<KernelText> scan_text(const Graph& body, const std::string& name) { return print_scan(body, name); }
Expected<KernelText> sort_text(const Graph& body, const std::string& name) { return print_sort(body, name); }
Expected<KernelText> scatter_text(const Graph& body, const std::string& name) { return print_scatter(body, name); }

template <class Op>
Tensor apply(const Op& op, const std::vector<Tensor>& operands) {
  std::vector<NodeId> ids;
  for (const Tensor& operand : operands) ids.push_back(operand.id);
  return {operands[0].graph, operands[0].graph->add(op, ids).value()};
}

// [3, n, 2] with n along the axis.
Shape shape_along(int64_t axis, Expr n) {
  return axis == 0 ? Shape{n, 3, 2} : axis == 1 ? Shape{3, n, 2} : Shape{3, 2, n};
}

// Every axis for f32, any one for the others.
Axes axes_for(DType dtype, KernelCases& cases) {
  if (dtype == f32) return {0, 1, 2};
  return {static_cast<int64_t>(cases.random()() % 3)};
}

TEST(Scan, runs_along_any_axis_of_any_dtype) {
  KernelCases cases(scan_text);
  for (const DType dtype : dtypes_of(kAnyDType)) {
    for (const hlir::ScanKind kind : {hlir::ScanKind::sum, hlir::ScanKind::prod, hlir::ScanKind::max}) {
      if (is_bool(dtype) && kind != hlir::ScanKind::max) continue;
      for (int64_t axis = 0; axis < 3; ++axis) {
        Graph graph;
        const Expr n = graph.dim("n", 0, 100);
        const Tensor x = graph.input("x", shape_along(axis, n), dtype);
        apply(hlir::Scan{axis, kind}, {x}).output("y");
        cases.add(graph, {{"n", static_cast<int64_t>(cases.random()() % 20)}}, 4, "scan", 4);
      }
    }
  }
  cases.run_all();
}

TEST(Scan, takes_what_is_elementwise_around_it) {
  KernelCases cases(scan_text);
  for (const int64_t length : {1, 2, 700}) {
    for (const int64_t axis : {0, 1}) {
      Graph graph;
      const Tensor x = graph.input("x", {length, 600});
      const Tensor bias = graph.input("bias", {600});
      (apply(hlir::Scan{axis, hlir::ScanKind::sum}, {x * x + bias}) * 2.0 + x).output("y");
      cases.add(graph, {}, 16, "around", 16);
    }
  }
  cases.run_all_optimised();
  Graph two;
  const Tensor x = two.input("x", {4});
  apply(hlir::Scan{0, hlir::ScanKind::sum}, {apply(hlir::Scan{0, hlir::ScanKind::max}, {x})}).output("y");
  EXPECT_EQ(print_scan(two, "k").diag().message, "a scan kernel with more than one Scan");
  Graph turned;
  transpose(apply(hlir::Scan{0, hlir::ScanKind::sum}, {turned.input("x", {4, 3})})).output("y");
  EXPECT_EQ(print_scan(turned, "k").diag().message, "the outputs of a scan kernel are [4,3], but this is [3,4]");
}

TEST(Sort, orders_any_axis_of_any_dtype) {
  KernelCases cases(sort_text);
  for (const DType dtype : dtypes_of(kAnyDType)) {
    for (const bool descending : {false, true}) {
      for (const int64_t axis : axes_for(dtype, cases)) {
        Graph graph;
        const Expr n = graph.dim("n", 0, 1000);
        const Tensor x = graph.input("x", shape_along(axis, n), dtype);
        apply(hlir::Sort{axis, descending}, {x}).output("y");
        for (const int64_t length : {0, 1, 63, 300}) {
          cases.add(graph, {{"n", length}}, 0, "sort");
          if (!is_float(dtype) || length == 0) continue;
          std::vector<Lane>& lanes = cases.last().inputs[0].lanes;
          for (const double special : {kNan, kNan, kInf, -kInf, 0.0, -0.0, 0.0}) {
            lanes[cases.random()() % lanes.size()].f = round_to(dtype, special);
          }
        }
      }
    }
  }
  cases.run_all();
}

TEST(Sort, takes_what_is_elementwise_around_it) {
  KernelCases cases(sort_text);
  Graph graph;
  const Tensor x = graph.input("x", {100, 500});
  cast(apply(hlir::Sort{1, true}, {x * x - 1.0}), i32).output("y");
  cases.add(graph, {}, 0, "around");
  Graph bits;  // keys that need every digit
  apply(hlir::Sort{0, false}, {bits.input("x", {5000}, i64) * bits.input("z", {5000}, i64)}).output("y");
  cases.add(bits, {}, 0, "64 bits");
  for (HostTensor& input : cases.last().inputs) {
    for (Lane& lane : input.lanes) lane.i = static_cast<int64_t>(cases.random()());
  }
  cases.run_all_optimised();
  Graph none;
  exp2(none.input("x", {4})).output("y");
  EXPECT_EQ(print_sort(none, "k").diag().message, "a sort kernel without a Sort");
}

constexpr hlir::ScatterMode kModes[] = {hlir::ScatterMode::set, hlir::ScatterMode::add, hlir::ScatterMode::mul,
                                        hlir::ScatterMode::max, hlir::ScatterMode::min};

// Indices inside the axis, most of them twice.
void choose_indices(Case& made, int64_t extent, std::mt19937_64& random) {
  for (HostTensor& input : made.inputs) {
    if (input.dtype != i32 || input.dims.size() != 2) continue;
    for (Lane& lane : input.lanes) lane.i = static_cast<int64_t>(random() % static_cast<uint64_t>(extent));
  }
}

// Slices go to 4 by 3 places along the axis.
void scatter_twelve(Graph& graph, int64_t axis, DType dtype, hlir::ScatterMode mode) {
  const Tensor x = graph.input("x", shape_along(axis, graph.dim("n", 1, 100)), dtype);
  const Tensor which = graph.input("which", {4, 3}, i32);
  std::vector<Expr> dims(x.shape().begin(), x.shape().end());
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, {Expr(4), Expr(3)});
  apply(hlir::Scatter{axis, mode}, {x, which, graph.input("source", Shape(dims), dtype)}).output("y");
}

TEST(Scatter, combines_any_axis_of_any_dtype) {
  KernelCases cases(scatter_text);
  for (const DType dtype : dtypes_of(kAnyDType)) {
    for (const hlir::ScatterMode mode : kModes) {
      for (const int64_t axis : axes_for(dtype, cases)) {
        Graph graph;
        scatter_twelve(graph, axis, dtype, mode);
        const int64_t length = 1 + static_cast<int64_t>(cases.random()() % 40);
        cases.add(graph, {{"n", length}}, 64, "scatter", 4);
        choose_indices(cases.last(), length, cases.random());
      }
    }
  }
  cases.run_all();
}

TEST(Scatter, takes_elementwise_operands_and_says_what_is_outside) {
  KernelCases cases(scatter_text);
  for (const int64_t width : {1, 7, 64}) {
    Graph graph;
    const Tensor x = graph.input("x", {50, width});
    const Tensor which = graph.input("which", {10, 2}, i32);
    const Tensor source = graph.input("source", {10, 2, width});
    apply(hlir::Scatter{0, hlir::ScatterMode::add}, {exp2(x), which + 1, source * 2.0}).output("y");
    cases.add(graph, {}, 64, "operands", 4);
    choose_indices(cases.last(), 49, cases.random());
    cases.add(graph, {}, 64, "an index outside");
    choose_indices(cases.last(), 49, cases.random());
    for (HostTensor& input : cases.last().inputs) {
      if (input.dtype == i32) input.lanes[cases.random()() % 20].i = 49;
    }
    EXPECT_EQ(cases.last().kernel.faults[0], fmt::format("[Scatter] an index is outside axis 0 of f32[50,{}]", width));
  }
  cases.run_all_optimised();
}

// Keys with rope: of a pair of neighbours each becomes a sum of both. They are computed two by two, without divisions.
TEST(Scatter, takes_pairs_that_are_exchanged) {
  KernelCases cases(scatter_text);
  for (const DType dtype : {f32, bf16}) {
    for (const int64_t width : {2, 4, 64, 65}) {
      for (const hlir::ScatterMode mode : {hlir::ScatterMode::set, hlir::ScatterMode::add}) {
        Graph graph;
        const Tensor x = graph.input("x", {50, width}, dtype);
        const Tensor which = graph.input("which", {5, 2}, i32);
        const Shape shape{5, 2, width};
        const Tensor keys = cast(graph.input("keys", {5, 2, width + 1}, dtype), f32);
        const auto at = [&](int k) { return Expr::index(k, shape[k]); };
        const auto seen = [&](const Tensor& from, Expr index) {
          return Tensor{&graph, graph.add(hlir::View{View(shape, index)}, std::span(&from.id, 1)).value()};
        };
        const Expr row = at(0) * 2 + at(1), lane = at(2);
        const Tensor own = seen(keys, row * (width + 1) + lane);
        const Tensor other = seen(keys, row * (width + 1) + lane / 2 * 4 + 1 - lane);
        const Tensor cosine = seen(graph.input("c", {width}), lane / 2), sine = seen(graph.input("s", {width}), lane);
        const Tensor source = width % 2 == 0 ? cast(own * cosine + other * sine, dtype) : cast(own * cosine, dtype);
        apply(hlir::Scatter{0, mode}, {x, which, source}).output("y");
        cases.add(graph, {}, 64, "pairs", 4);
        choose_indices(cases.last(), 50, cases.random());
        const bool has_pairs = width >= 4 && width % 2 == 0;
        EXPECT_EQ(cases.last().kernel.text.find("old1") != std::string::npos, has_pairs) << cases.last().kernel.text;
      }
    }
  }
  cases.run_all();
}

TEST(Scatter, sets_slices_by_blocks_of_a_gpu) {
  KernelCases cases(print_cuda_scatter);
  for (const DType dtype : {DType::f32, DType::bf16, DType::i64, DType::bool_}) {
    for (const int64_t axis : {0, 1, 2}) {
      Graph graph;
      scatter_twelve(graph, axis, dtype, hlir::ScatterMode::set);
      const int64_t length = 1 + static_cast<int64_t>(cases.random()() % 40);
      cases.add(graph, {{"n", length}}, 0, "blocks");
      choose_indices(cases.last(), length, cases.random());
      cases.add(graph, {{"n", length}}, 0, "an index outside");
      choose_indices(cases.last(), length, cases.random());
      for (HostTensor& input : cases.last().inputs) {
        if (input.dtype == i32 && input.dims.size() == 2) input.lanes[cases.random()() % 12].i = length;
      }
    }
  }
  cases.run_emulated();
  Graph adds;
  const Tensor x = adds.input("x", {6, 4});
  apply(hlir::Scatter{0, hlir::ScatterMode::add}, {x, adds.input("w", {6}, i32), adds.input("s", {6, 4})}).output("y");
  EXPECT_FALSE(print_cuda_scatter(adds, "k").ok());
}

// Slices as caches have them: 16 bytes a thread, one or few or many of them, most indices twice.
TEST(Scatter, sets_wide_slices_by_blocks_of_a_gpu) {
  KernelCases cases(print_cuda_scatter);
  for (const DType dtype : {DType::f32, DType::bf16, DType::i8, DType::f64, DType::bool_}) {
    for (const int64_t slices : {1, 8, 40}) {
      for (const int64_t width : {128, 5000, 9}) {
        if (width != 128 && dtype != f32 && dtype != bf16) continue;
        Graph graph;
        const Tensor x = graph.input("x", {20, width}, dtype);
        const Tensor source = graph.input("source", {slices, 1, width}, f32) * graph.input("scale", {slices, 1, 1});
        const Tensor which = graph.input("which", {slices, 1}, i32);
        apply(hlir::Scatter{0, hlir::ScatterMode::set}, {x, which, cast(source, dtype)}).output("y");
        cases.add(graph, {}, 1, fmt::format("{} slices of {}", slices, width));
        choose_indices(cases.last(), 20, cases.random());
        ASSERT_EQ(cases.last().kernel.steps.size(), 2U);
        EXPECT_TRUE(cases.last().kernel.steps[0].copies);
        EXPECT_FALSE(cases.last().kernel.steps[1].copies);
      }
    }
  }
  for (const int64_t slices : {0, 1, 77, 3000}) {  // of many, the last ones are found first
    Graph graph;
    const Expr n = graph.dim("n", 0, 4096);
    const Tensor x = graph.input("x", {50, 24}, bf16), which = graph.input("which", {n}, i64);
    apply(hlir::Scatter{0, hlir::ScatterMode::set}, {x, which, graph.input("source", {n, 24}, bf16)}).output("y");
    cases.add(graph, {{"n", slices}}, 1, fmt::format("{} of many slices", slices));
    choose_indices(cases.last(), 50, cases.random());
    ASSERT_EQ(cases.last().kernel.steps.size(), 4U);
  }
  ASSERT_LE(cases.size(), 40U);
  cases.run_emulated();
}

TEST(Scatter, leaves_what_is_there_in_place) {
  Graph graph;
  const Tensor x = graph.input("x", {6, 4});
  const Tensor which = graph.input("which", {2}, i32);
  apply(hlir::Scatter{0, hlir::ScatterMode::set}, {x, which, graph.input("source", {2, 4})}).output("y");
  const KernelText kernel = print_scatter(graph, "k").value();
  EXPECT_EQ(kernel.in_place, 0U);
  const CompiledText compiled = compile({kernel});
  std::vector<float> y(24, 1), source(8, 2);
  const std::vector<int32_t> places{5, 0};
  const void* in[] = {y.data(), places.data(), source.data()};
  void* out[] = {y.data(), nullptr};
  EXPECT_EQ(compiled.function<KernelFunction>("k")(in, out, nullptr, 0, 6), 0);
  for (size_t k = 0; k < y.size(); ++k) EXPECT_EQ(y[k], k < 4 || k >= 20 ? 2 : 1) << k;
}

TEST(Scatter, is_not_in_place_when_x_is_read_otherwise_or_computed) {
  Graph graph;
  const Tensor x = graph.input("x", {6, 4});
  const Tensor which = graph.input("which", {6}, i32);
  Graph other;
  apply(hlir::Scatter{0, hlir::ScatterMode::set}, {x, which, neg(x)}).output("y");
  EXPECT_EQ(print_scatter(graph, "k").value().in_place, std::nullopt);
  const Tensor z = other.input("x", {6, 4});
  apply(hlir::Scatter{0, hlir::ScatterMode::set}, {neg(z), other.input("w", {6}, i32), other.input("s", {6, 4})})
      .output("y");
  EXPECT_EQ(print_scatter(other, "k").value().in_place, std::nullopt);
}

}  // namespace
}  // namespace lumen
