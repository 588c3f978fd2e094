// Ops of a user's own: declared like a primitive, admitted everywhere a table has them.
#include "lumen/hlir/unary.h"
#include "lumen/ir/verify.h"
#include "tests/support/graphs/values.h"

namespace lumen::testing {
namespace {

// Pairs of neighbours along the last dim, swapped.
struct SwapPairs {
  int64_t times = 1;
  static constexpr std::string_view kName = "my.SwapPairs";
  static constexpr std::string_view kDoc = "Swaps neighbours along the last dim, `times` times.";
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::custom;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"times", &SwapPairs::times}}; }
  static Expected<TensorType> infer(const SwapPairs& op, std::span<const TensorType> operands) {
    if (op.times < 0) return error("[my.SwapPairs] times " + std::to_string(op.times) + " is negative");
    return operands[0];
  }
  static Expected<void> eval(const SwapPairs& op, const EvalContext&, std::span<const HostTensor* const> in,
                             HostTensor& out) {
    if (in[0]->numel() % 2 != 0) return error("[my.SwapPairs] an odd number of elements");
    for (size_t k = 0; k < out.lanes.size(); ++k) out.lanes[k] = in[0]->lanes[op.times % 2 != 0 ? k ^ 1 : k];
    return {};
  }
};

// An elementwise one is fused like a primitive.
struct Negate {
  static constexpr std::string_view kName = "my.Negate";
  static constexpr std::string_view kDoc = "-x.";
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::custom;
  static constexpr DTypeClasses kOperands = kFloats;
  static constexpr auto fields() { return std::tuple{}; }
  static Expected<TensorType> infer(const Negate&, std::span<const TensorType> operands) { return operands[0]; }
  static void apply(const Negate&, const ApplyArgs& args) {
    for (int64_t k = 0; k < args.count; ++k) args.out[k].f = -args.in[0][k].f;
  }
};

TEST(Custom, ErrorsAreItsOwn) {
  EXPECT_EQ(refusal(SwapPairs{-1}, {{DType::f32, {4}}}), "[my.SwapPairs] times -1 is negative");
  EXPECT_EQ(failure(SwapPairs{1}, {row(DType::f32, {1, 2, 3})}), "[my.SwapPairs] an odd number of elements");
}

TEST(Custom, RunsAndRoundTrips) {
  EXPECT_TRUE(same(run(SwapPairs{3}, {row(DType::u8, {1, 2, 3, 4})}).value(), row(DType::u8, {2, 1, 4, 3})));
}

TEST(Custom, MixesWithPrimitives) {
  Graph graph;
  const NodeId x = graph.add_input({"x", InputKind::data, DType::f32, Shape{4}}).value();
  const NodeId root = graph.add(hlir::Sqrt{}, std::vector{x}).value();
  const NodeId negated = graph.add(Negate{}, std::vector{root}).value();
  const NodeId swapped = graph.add(SwapPairs{1}, std::vector{negated}).value();
  graph.add_output("y", swapped).value();
  OpTable table = hlir_ops();
  table.add(op_def<SwapPairs>());
  table.add(op_def<Negate>());
  expect_round_trip(graph, table);
  EXPECT_FALSE(parse(print(graph), hlir_ops()).ok()) << "the primitives alone do not have it";
  EXPECT_TRUE(verify(graph, hlir_stage()).ok());
  Stage strict = hlir_stage();
  strict.custom = false;
  EXPECT_FALSE(verify(graph, strict).ok());
  const HostTensor given = row(DType::f32, {1, 4, 9, 16});
  const std::vector<const HostTensor*> inputs{&given};
  EXPECT_TRUE(same(interpret(graph, inputs, {}).value()[0], row(DType::f32, {-2, -1, -4, -3})));
}

TEST(Ops, EachHasADocAndOneMeaning) {
  for (const OpDef* op : hlir_ops().ops()) {
    EXPECT_FALSE(op->doc.empty()) << op->name;
    const int meanings = (op->apply != nullptr) + (op->fold != nullptr) + (op->eval != nullptr);
    const bool structural = op->name == "Input" || op->name == "Loop";
    EXPECT_EQ(meanings, structural ? 0 : 1) << op->name;
    EXPECT_EQ(hlir_ops().find(op->name), op);
  }
}

}  // namespace
}  // namespace lumen::testing
