// Outputs that lie in another memory are copied when they are asked for, once a run, and not before.
#include <gtest/gtest.h>

#include "lumen/backend/reference/executable.h"
#include "lumen/hlir/binary.h"
#include "lumen/runtime/session.h"

namespace lumen {
namespace {

// The host's, but only through read and write, which count.
class FarMemory : public Memory {
 public:
  bool is_host() const override { return false; }
  Expected<std::byte*> allocate(int64_t bytes) override { return host_memory()->allocate(bytes); }
  void release(std::byte* data) override { host_memory()->release(data); }
  Expected<void> write(void* there, const void* here, int64_t bytes) override {
    return host_memory()->write(there, here, bytes);
  }
  Expected<void> read(void* here, const void* there, int64_t bytes) override {
    ++reads;
    return host_memory()->read(here, there, bytes);
  }
  Expected<void> repeat(void* there, int64_t period, int64_t bytes) override {
    return host_memory()->repeat(there, period, bytes);
  }
  int reads = 0;
};

// The reference, with its tensors there.
class FarExecutable : public Executable {
 public:
  FarExecutable(std::shared_ptr<const Graph> graph, std::shared_ptr<Memory> memory)
      : inner_(reference_executable(std::move(graph))), memory_(std::move(memory)) {}
  Expected<void> prepare(std::span<const int64_t> dims) override { return inner_->prepare(dims); }
  const std::shared_ptr<Memory>& memory() const override { return memory_; }
  Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    return inner_->run(inputs, outputs);
  }

 private:
  std::unique_ptr<Executable> inner_;
  std::shared_ptr<Memory> memory_;
};

TEST(FarMemory, OutputsAreCopiedWhenAskedFor) {
  auto graph = std::make_shared<Graph>();
  const Expr n = graph->dim("n", 1, 8);
  const NodeId x = graph->add_input({"x", InputKind::data, DType::f32, {n}}).value();
  const NodeId twice = graph->add(hlir::Add{}, std::vector{x, x}).value();
  graph->add_output("twice", twice).value();
  graph->add_output("square", graph->add(hlir::Mul{}, std::vector{x, x}).value()).value();
  const auto memory = std::make_shared<FarMemory>();
  Session session(graph, std::make_unique<FarExecutable>(graph, memory));
  std::vector<float> values = {1, 2, 3};
  session.bind("x", values.data(), {3});
  session.execute();
  EXPECT_EQ(memory->reads, 0);
  EXPECT_EQ(session.get<float>("square"), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(session.get<float>("square"), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(memory->reads, 1) << "one output, once";
  const std::byte* const place = session.bytes("square").data();
  values[2] = 5;
  session.execute();
  session.execute();
  EXPECT_EQ(memory->reads, 1);
  EXPECT_EQ(session.get<float>("square"), (std::vector<float>{1, 4, 25}));
  EXPECT_EQ(memory->reads, 2);
  EXPECT_EQ(session.bytes("square").data(), place) << "in the memory of the last one";
  session.bind("x", values.data(), {2});
  session.execute();
  EXPECT_EQ(session.get<float>("square"), (std::vector<float>{1, 4}));
  EXPECT_EQ(session.get<float>("twice"), (std::vector<float>{2, 4}));
  EXPECT_EQ(memory->reads, 4);
}

}  // namespace
}  // namespace lumen
