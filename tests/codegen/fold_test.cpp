// Fold kernels against the reference.
#include "lumen/codegen/fold.h"

#include "lumen/frontend/ops.h"
#include "lumen/hlir/reduce.h"
#include "lumen/kernel/carve.h"
#include "tests/codegen/kernel_harness.h"

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

// The whole graph as one kernel.
class FoldCases {
 public:
  void add(const Graph& graph, DimValues dims, double units, std::string about) {
    std::vector<NodeId> part, results;
    for (const NodeId id : graph.order()) part.push_back(id);
    for (const Output& output : graph.outputs()) results.push_back(output.value);
    const Carved carved = carve(graph, part, results);
    Case& made = cases_.emplace_back();
    made.body = carved.body;
    made.dims = dims_of(*carved.body, dims);
    for (const NodeId id : carved.operands) {
      const TensorType type = graph[id].type;
      HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value());
      for (Lane& lane : tensor.lanes) {
        const double x = static_cast<double>(random_() % 4001) / 500.0 - 4.0;
        lane = Scalar::of(type.dtype, is_float(type.dtype) ? x : std::round(x)).value;
      }
      made.inputs.push_back(tensor);
    }
    const auto text = print_fold(*made.body, "k" + std::to_string(cases_.size() - 1));
    ASSERT_TRUE(text.ok()) << text.diag().message << "\n" << print(graph);
    made.kernel = *text;
    made.about = std::move(about);
    units_.push_back(units);
  }
  void run_all() {
    std::vector<KernelText> kernels;
    for (const Case& each : cases_) kernels.push_back(each.kernel);
    const Compiled compiled = compile(kernels);
    for (size_t k = 0; k < cases_.size(); ++k) {
      const Case& each = cases_[k];
      std::vector<const HostTensor*> inputs;
      for (const HostTensor& input : each.inputs) inputs.push_back(&input);
      const std::vector<HostTensor> wanted = interpret(*each.body, inputs, each.dims).value();
      const auto [got, fault] = run(each, compiled, random_);
      ASSERT_EQ(fault, 0) << each.kernel.text;
      for (size_t o = 0; o < got.size(); ++o) expect_same(got[o], wanted[o], units_[k], each);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  HostTensor& last_input() { return cases_.back().inputs.back(); }

 private:
  std::vector<Case> cases_;
  std::vector<double> units_;
  std::mt19937_64 random_{std::random_device{}()};
};

constexpr int64_t kLengths[] = {1, 2, 15, 16, 17, 33, 100};

TEST(Fold, reduces_along_any_axis_of_any_dtype) {
  FoldCases cases;
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
        cases.add(graph, {{"n", length}}, dtype == f32 || dtype == f64 ? 4096 : 4, "axis " + std::to_string(axis));
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
  FoldCases cases;
  cases.add(graph, {}, 0, "NaN");
  for (const size_t at : {size_t{5}, size_t{20}, size_t{37 + 36}}) cases.last_input().lanes[at].f = kNan;
  cases.last_input().lanes[2 * 37].f = kInf;
  cases.run_all();
}

TEST(Fold, takes_what_is_around_reductions_with_it) {
  FoldCases cases;
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
