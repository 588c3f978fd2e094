// Waves: which calls are next to each other, that memory is planned for it, and that wrong waves are found.
#include "lumen/backend/waves.h"

#include <gtest/gtest.h>

namespace lumen {
namespace {

// A program by hand: every kernel takes values of f32[8] and makes one.
class Maker {
 public:
  explicit Maker(size_t inputs) {
    for (size_t k = 0; k < inputs; ++k) {
      inputs_.push_back(graph_->input("x" + std::to_string(k), {8}));
      program_.values.push_back({DType::f32, Shape({8})});
    }
  }

  uint32_t call(const std::string& kind, std::vector<uint32_t> operands, bool in_place = false) {
    ProgramKernel kernel;
    auto body = std::make_shared<Graph>();
    std::vector<Tensor> in;
    for (size_t k = 0; k < operands.size(); ++k) in.push_back(body->input("a" + std::to_string(k), {8}));
    in[0].output("r0");
    kernel.body = body;
    kernel.schedule = kind;
    kernel.text.steps.push_back({"k" + std::to_string(program_.kernels.size()), Expr(8)});
    if (in_place) kernel.text.in_place = 0;
    const auto result = static_cast<uint32_t>(program_.values.size());
    program_.values.push_back({DType::f32, Shape({8})});
    program_.calls.push_back({static_cast<uint32_t>(program_.kernels.size()), std::move(operands), {result}});
    program_.kernels.push_back(std::move(kernel));
    return result;
  }

  Program finish(const std::vector<uint32_t>& outputs) {
    for (const uint32_t value : outputs) {
      inputs_[0].output("y" + std::to_string(value));
      program_.outputs.push_back(value);
    }
    program_.graph = graph_;
    plan_program(program_).value();
    return program_;
  }

 private:
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::vector<Tensor> inputs_;
  Program program_;
};

std::string kind_of(const ProgramKernel& kernel) { return kernel.schedule == "alone" ? "" : kernel.schedule; }

// The kernels of each wave.
std::vector<std::vector<uint32_t>> waves(const Program& program) {
  std::vector<std::vector<uint32_t>> found;
  for (const std::span<const ProgramCall> wave : waves_of(program)) {
    found.emplace_back();
    for (const ProgramCall& call : wave) found.back().push_back(call.kernel);
  }
  return found;
}

TEST(Waves, calls_of_one_kind_that_do_not_need_each_other_are_one) {
  Maker maker(1);  // a layer: three products, a fold of one of them, two scatters, what reads them
  const uint32_t q = maker.call("dot", {0}), folded = maker.call("fold", {q});
  const uint32_t v = maker.call("dot", {0}), v_kept = maker.call("scatter", {v});
  const uint32_t k = maker.call("dot", {0}), k_fold = maker.call("fold", {k});
  const uint32_t k_kept = maker.call("scatter", {k_fold});
  const uint32_t out = maker.call("alone", {folded, k_kept, v_kept});
  const Program program = in_waves(maker.finish({out}), kind_of, 4).value();
  EXPECT_EQ(waves(program), (std::vector<std::vector<uint32_t>>{{4, 0, 2}, {5, 1}, {3, 6}, {7}}));
  EXPECT_TRUE(check_memory(program).ok());
}

TEST(Waves, have_at_most_so_many_calls) {
  Maker maker(1);
  std::vector<uint32_t> made;
  for (int k = 0; k < 5; ++k) made.push_back(maker.call("map", {0}));
  const Program program = in_waves(maker.finish(made), kind_of, 2).value();
  EXPECT_EQ(waves(program), (std::vector<std::vector<uint32_t>>{{0, 1}, {2, 3}, {4}}));
}

TEST(Waves, what_is_replaced_is_read_before) {
  Maker maker(2);
  const uint32_t cache = maker.call("alone", {0});
  const uint32_t before = maker.call("map", {cache, 1});
  const uint32_t after = maker.call("map", {cache, 1}, /*in_place=*/true);
  const Program program = in_waves(maker.finish({before, after}), kind_of, 4).value();
  EXPECT_EQ(waves(program), (std::vector<std::vector<uint32_t>>{{0}, {1}, {2}}));
}

TEST(Waves, wrong_ones_are_found) {
  Maker maker(1);
  const uint32_t a = maker.call("map", {0}), b = maker.call("map", {a}), c = maker.call("map", {0});
  const uint32_t d = maker.call("map", {b, c});
  const Program right = maker.finish({d});
  Program needs = right;
  needs.calls[1].joins = true;  // it reads what the first one makes
  EXPECT_FALSE(plan_program(needs).ok());
  Program shares = right;
  ASSERT_TRUE(check_memory(shares).ok());
  shares.calls[2].joins = true;  // planned as if it were later: `c` may lie where `a` was
  EXPECT_FALSE(check_memory(shares).ok());
  EXPECT_TRUE(plan_program(shares).ok());
}

}  // namespace
}  // namespace lumen
