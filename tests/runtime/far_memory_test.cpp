// Outputs that lie in another memory are copied when they are asked for, once a run, and not before; runs there need
// not be waited for.
#include <gtest/gtest.h>

#include "lumen/hlir/binary.h"
#include "tests/support/error_of.h"
#include "tests/support/far_memory.h"

namespace lumen {
namespace {

using tests::error_of;
using tests::FarExecutable;
using tests::FarMemory;

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

// What was captured for some places serves while they are the same.
TEST(FarMemory, SmallInputsTravelTogetherToPlacesThatStay) {
  auto graph = std::make_shared<Graph>();
  const Expr n = graph->dim("n", 1, 100000);
  const NodeId x = graph->add_input({"x", InputKind::data, DType::f32, {n}}).value();
  const NodeId y = graph->add_input({"y", InputKind::data, DType::f32, {n}}).value();
  const NodeId w = graph->add_input({"w", InputKind::weight, DType::f32, {1}}).value();
  const NodeId sum = graph->add(hlir::Add{}, std::vector{x, y}).value();
  graph->add_output("sum", sum).value();
  graph->add_output("w2", graph->add(hlir::Add{}, std::vector{w, w}).value()).value();
  const auto memory = std::make_shared<FarMemory>();
  auto made = std::make_unique<FarExecutable>(graph, memory);
  FarExecutable& executable = *made;
  Session session(graph, std::move(made));
  std::vector<float> xs(10000), ys(10000), weight = {3};
  for (size_t k = 0; k < xs.size(); ++k) {
    xs[k] = static_cast<float>(k);
    ys[k] = static_cast<float>(2 * k);
  }
  session.bind("w", weight.data(), {1});
  std::vector<const void*> places;
  const auto writes_of = [&](int64_t size) {
    session.bind("x", xs.data(), {size});
    session.bind("y", ys.data(), {size});
    const int before = memory->writes;
    session.execute();
    const std::vector<float> sums = session.get<float>("sum");
    EXPECT_EQ(sums.size(), static_cast<size_t>(size));
    EXPECT_EQ(sums.back(), static_cast<float>(3 * (size - 1)));
    EXPECT_EQ(session.get<float>("w2"), std::vector<float>{6});
    return memory->writes - before;
  };
  EXPECT_EQ(writes_of(1000), 2) << "the weight, and the others at once";
  for (const int64_t size : {990, 1000}) {
    EXPECT_EQ(writes_of(size), 1) << "one copy";
    if (size == 990) places = executable.places;
  }
  writes_of(980);
  EXPECT_EQ(executable.places, places) << "two turns later";
  EXPECT_EQ(writes_of(9990), 2) << "too large to travel";
  places = executable.places;
  EXPECT_EQ(writes_of(10000), 2);
  EXPECT_EQ(writes_of(9985), 2);
  EXPECT_EQ(executable.places, places);
  EXPECT_EQ(writes_of(100), 1);
}

// x and sum are added up, in two outputs: one that updates the state, one that can be fed.
class Ahead : public ::testing::Test {
 protected:
  Ahead() : graph_(make_graph()), memory_(std::make_shared<FarMemory>()), session_(graph_, make_executable()) {}

  static std::shared_ptr<Graph> make_graph() {
    auto graph = std::make_shared<Graph>();
    const Expr n = graph->dim("n", 1, 8);
    const NodeId x = graph->add_input({"x", InputKind::data, DType::i32, {n}}).value();
    const NodeId y = graph->add_input({"y", InputKind::data, DType::i32, {n}}).value();
    const NodeId sum = graph->add_input({"sum", InputKind::state, DType::i32, {n}}).value();
    graph->add_output("more", graph->add(hlir::Add{}, std::vector{x, y}).value()).value();
    graph->add_output("all", graph->add(hlir::Add{}, std::vector{sum, x}).value(), sum).value();
    graph->add_output("ratio", graph->add(hlir::Div{}, std::vector{x, y}).value()).value();
    return graph;
  }
  std::unique_ptr<Executable> make_executable() {
    auto made = std::make_unique<FarExecutable>(graph_, memory_);
    executable_ = made.get();
    return made;
  }
  std::vector<int32_t> get(const char* name) { return session_.get<int32_t>(name); }

  using Values = std::vector<int32_t>;
  std::shared_ptr<Graph> graph_;
  std::shared_ptr<FarMemory> memory_;
  FarExecutable* executable_ = nullptr;
  Session session_;
};

TEST_F(Ahead, RunsFollowEachOtherBeforeTheFirstIsSeen) {
  std::vector<int32_t> y = {1, 10};
  session_.set("x", std::vector<int32_t>{1, 2});
  session_.bind("y", y.data(), {2});
  session_.execute();
  EXPECT_EQ(get("more"), (Values{2, 12}));
  session_.feed("x", "more");
  // From here on x is what more was: x(k+1) = x(k) + y(k).
  Values x = {2, 12}, all = {1, 2};
  y = {2, 20};
  session_.start();
  EXPECT_EQ(get("more"), (Values{2, 12})) << "what was seen is seen while one is under way";
  Values next_y = y;
  for (int k = 0; k < 5; ++k) {
    const Values this_y = next_y;
    y = next_y = {3 + k, 30 + k};  // read when a run starts
    session_.start();
    EXPECT_EQ(session_.under_way(), 2);
    EXPECT_EQ(error_of([&] { get("more"); }), "output \"more\" has no value before finish()");
    session_.finish();
    for (size_t i = 0; i < 2; ++i) {
      all[i] += x[i];
      x[i] += this_y[i];
    }
    EXPECT_EQ(get("more"), x) << k;
    EXPECT_EQ(get("all"), all) << k;
  }
  session_.finish();
  EXPECT_EQ(session_.under_way(), 0);
  EXPECT_EQ(executable_->starts, 7);
  session_.execute();
  EXPECT_EQ(executable_->starts, 8);
}

TEST_F(Ahead, RefusesWhatWouldMixRuns) {
  EXPECT_EQ(error_of([&] { session_.finish(); }), "finish() without start()");
  EXPECT_EQ(error_of([&] { session_.feed("x", "more"); }), "output \"more\" has no value before execute()");
  session_.set_dim("n", 2);
  session_.set("x", std::vector<int32_t>{1, 2});
  session_.set("y", std::vector<int32_t>{1, 1});
  session_.start();
  const std::string first = ": finish() first";
  EXPECT_EQ(error_of([&] { session_.execute(); }), "execute() while an execute is under way" + first);
  EXPECT_EQ(error_of([&] { session_.time(1); }), "time() while an execute is under way" + first);
  session_.start();
  EXPECT_EQ(error_of([&] { session_.start(); }), "a third start() while an execute is under way" + first);
  session_.finish();
  session_.set_dim("n", 3);
  session_.set("x", std::vector<int32_t>{1, 2, 3});
  session_.set("y", std::vector<int32_t>{1, 2, 3});
  session_.finish();
  EXPECT_EQ(get("all"), (Values{2, 4}));
}

TEST_F(Ahead, DimsStayWhileOneIsUnderWay) {
  const auto give = [&](int64_t n) {
    session_.set_dim("n", n);
    session_.set("x", std::vector<int32_t>(static_cast<size_t>(n), 1));
    session_.set("y", std::vector<int32_t>(static_cast<size_t>(n), 1));
    session_.set("sum", std::vector<int32_t>(static_cast<size_t>(n), 0));
  };
  give(2);
  session_.start();
  give(3);
  EXPECT_EQ(error_of([&] { session_.start(); }), "other dims while an execute is under way: finish() first");
  session_.finish();
  EXPECT_EQ(get("more"), (Values{2, 2}));
  session_.start();
  session_.finish();
  EXPECT_EQ(get("more"), (Values{2, 2, 2}));
  session_.feed("x", "more");
  give(2);
  session_.feed("x", "more");
  EXPECT_EQ(error_of([&] { session_.start(); }), "dim \"n\" is 2 by set_dim but 3 by input \"x\"");
}

TEST_F(Ahead, AFaultIsOfItsRun) {
  session_.set("x", std::vector<int32_t>{4});
  session_.set("y", std::vector<int32_t>{2});
  session_.set_dim("n", 1);
  session_.start();
  session_.set("y", std::vector<int32_t>{0});
  session_.start();
  session_.finish();
  EXPECT_EQ(get("ratio"), (Values{2}));
  EXPECT_EQ(error_of([&] { session_.finish(); }), "[Div] integer division by zero: 4 by 0 in i32");
  EXPECT_EQ(error_of([&] { get("ratio"); }), "output \"ratio\" has no value before execute()");
  session_.set("y", std::vector<int32_t>{1});
  session_.execute();
  EXPECT_EQ(get("ratio"), (Values{4}));
}

}  // namespace
}  // namespace lumen
