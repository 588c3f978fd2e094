// Fold kernels against the reference.
#include "lumen/codegen/fold.h"

#include "lumen/frontend/ops.h"
#include "lumen/hlir/reduce.h"
#include "tests/codegen/kernel_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

std::string failure(const Graph& graph) {
  const auto text = print_fold(graph, "k");
  return text.ok() ? "none" : text.diag().message;
}

TEST(Fold, refuses_what_is_not_one) {
  Graph plain;
  exp2(plain.input("x", {4})).output("y");
  EXPECT_EQ(failure(plain), "a fold kernel without a reduction");

  Graph crossed;
  const Tensor x = crossed.input("x", {4, 4});
  (sum(x, {0}) + sum(x, {1})).output("y");
  EXPECT_EQ(
      failure(crossed),
      "the reductions of a fold kernel are over the same rows, but these are over axis 0 of [4,4] and axis 1 of [4,4]");

  Graph turned;
  const Tensor z = turned.input("z", {4, 3});
  transpose(z - max(z, {1}, true)).output("y");
  EXPECT_EQ(failure(turned), "an output of a fold kernel is [4] or [4,3], but this is [3,4]");
}

constexpr int64_t kLengths[] = {1, 2, 15, 16, 17, 33, 100};

TEST(Fold, reduces_along_any_axis_of_any_dtype) {
  KernelCases cases(fold_text);
  for (const DType dtype : {f32, f64, f16, bf16, i64, i32, i8, u8, u64, bool_}) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      Graph graph;
      const Expr n = graph.dim("n", 1, 500);
      const Tensor x = graph.input("x",
                                   axis == 0   ? Shape{n, 3, 2}
                                   : axis == 1 ? Shape{2, n, 3}
                                               : Shape{3, 2, n},
                                   dtype);
      const std::vector<NodeId> operand{x.id};
      if (!is_bool(dtype)) {
        graph.add_output("s", graph.add(hlir::SumReduce{axis}, operand).value()).value();
        graph.add_output("p", graph.add(hlir::ProdReduce{axis}, operand).value()).value();
      }
      graph.add_output("m", graph.add(hlir::MaxReduce{axis}, operand).value()).value();
      graph.add_output("a", graph.add(hlir::ArgMax{axis}, operand).value()).value();
      for (const int64_t length : kLengths) {
        // Products and sums of n numbers, each step rounded; sums may cancel, so the unit is that of what is summed.
        cases.add(graph, {{"n", length}}, dtype == f32 || dtype == f64 ? 256 : 4, "axis " + std::to_string(axis), 1);
      }
    }
  }
  cases.run_all();
}

TEST(Fold, puts_a_nan_above_everything) {
  Graph graph;
  const Tensor x = graph.input("x", {3, 37});
  const std::vector<NodeId> operand{x.id};
  graph.add_output("m", graph.add(hlir::MaxReduce{1}, operand).value()).value();
  graph.add_output("a", graph.add(hlir::ArgMax{1}, operand).value()).value();
  KernelCases cases(fold_text);
  cases.add(graph, {}, 0, "NaN");
  for (const size_t at : {size_t{5}, size_t{20}, size_t{37 + 36}}) cases.last().inputs[0].lanes[at].f = kNan;
  cases.last().inputs[0].lanes[2 * 37].f = kInf;
  cases.run_all();
}

// Vectors and what is left of a row give the same numbers: of every lane and of numbers that are none, too large or too
// small. All others of a row are 2^-inf.
TEST(Fold, raises_two_to_the_same_power_everywhere) {
  constexpr int64_t kLength = 91;
  const double powers[] = {0.3,    -17.77, 127.9, 128,  1e30,  -125.6, -126.4, -140.2, -148.9,
                           -149.6, -151.5, -1e30, kInf, -kInf, kNan,   63.5,   -0.5,   1.5};
  Graph graph;
  const int64_t rows = kLength * std::ssize(powers);
  sum(exp2(graph.input("x", {rows, kLength})), {1}).output("y");
  KernelCases cases(fold_text);
  cases.add(graph, {}, 1.25, "powers");
  std::vector<Lane>& lanes = cases.last().inputs[0].lanes;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < kLength; ++k) lanes[row * kLength + k].f = -kInf;
    lanes[row * kLength + row % kLength].f = static_cast<float>(powers[row / kLength]);
  }
  cases.run_all();
}

TEST(Fold, takes_what_is_around_reductions_with_it) {
  KernelCases cases(fold_text);
  for (const int64_t length : kLengths) {
    Graph graph;
    const Expr n = graph.dim("n", 1, 500);
    const Tensor x = graph.input("x", {5, n});
    softmax(x, 1).output("softmax");
    cases.add(graph, {{"n", length}}, 64, "softmax");
    Graph only;
    const Expr k = only.dim("n", 1, 500);
    const Tensor z = only.input("z", {2, 3, k});
    const Tensor h = only.input("h", {k});
    (z * rsqrt(mean(z * z, {2}, true) + 1e-5) * h).output("rms_norm");
    cases.add(only, {{"n", length}}, 64, "rms norm");
  }
  cases.run_all();
}

}  // namespace
}  // namespace lumen
