#include "lumen/runtime/session.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lumen/hlir/binary.h"
#include "lumen/hlir/ops.h"
#include "tests/support/round_trip.h"

namespace lumen {
namespace {

template <class F>
std::string failure(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

NodeId input(Graph& graph, const char* name, Shape shape, DType dtype = DType::f32, InputKind kind = InputKind::data) {
  return graph.add_input({name, kind, dtype, shape}).value();
}

HostTensor tensor(DType dtype, std::vector<int64_t> dims, const std::vector<double>& values) {
  HostTensor result{dtype, std::move(dims), {}};
  for (const double value : values) result.lanes.push_back(Scalar::of(dtype, value).value);
  return result;
}

// sum = left + right over f32[2,seq].
std::shared_ptr<Graph> adder(DType dtype = DType::f32) {
  auto graph = std::make_shared<Graph>();
  const Expr seq = graph->dim("seq", 1, 8);
  const NodeId left = input(*graph, "left", {2, seq}, dtype);
  const NodeId right = input(*graph, "right", {2, seq}, dtype);
  graph->add_output("sum", graph->add(hlir::Add{}, std::vector{left, right}).value()).value();
  expect_round_trip(*graph, hlir_ops());
  return graph;
}

// One input "x" of the dtype, shape [3], given back as "y".
Session echo(DType dtype) {
  auto graph = std::make_shared<Graph>();
  graph->add_output("y", input(*graph, "x", {3}, dtype)).value();
  return Session(graph);
}

TEST(SessionError, Names) {
  Session session(adder());
  EXPECT_EQ(failure([&] { session.set("lefd", {1}); }), "no input \"lefd\"; did you mean \"left\"?");
  EXPECT_EQ(failure([&] { session.set("quite other", {1}); }), "no input \"quite other\"");
  EXPECT_EQ(failure([&] { session.set_dim("sek", 3); }), "no dim \"sek\"; did you mean \"seq\"?");
  EXPECT_EQ(failure([&] { session.get<float>("some"); }), "no output \"some\"; did you mean \"sum\"?");
  EXPECT_EQ(failure([&] { session.get<float>("sum"); }), "output \"sum\" has no value before execute()");
  EXPECT_EQ(failure([&] { session.dims("sum"); }), "output \"sum\" has no value before execute()");
}

TEST(SessionError, EverythingMissingIsNamedAtOnce) {
  Session session(adder());
  EXPECT_EQ(failure([&] { session.execute(); }), "not set: input \"left\", input \"right\", dim \"seq\"");
  session.set("left", {1, 2});
  EXPECT_EQ(failure([&] { session.execute(); }), "not set: input \"right\", dim \"seq\"");
}

TEST(SessionError, Dims) {
  Session session(adder());
  EXPECT_EQ(failure([&] { session.set_dim("seq", 9); }), "dim \"seq\" = 9 is outside 1..8");
  EXPECT_EQ(failure([&] { session.set_dim("seq", 0); }), "dim \"seq\" = 0 is outside 1..8");
  EXPECT_EQ(failure([&] {
              session.set("left", tensor(DType::f32, {2, 9}, std::vector<double>(18)));
            }),
            "dim \"seq\" = 9 is outside 1..8");
  session.set("left", tensor(DType::f32, {2, 1}, {1, 2}));
  session.set("right", tensor(DType::f32, {2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(failure([&] { session.execute(); }), "dim \"seq\" is 1 by input \"left\" but 2 by input \"right\"");
  session.set_dim("seq", 3);
  EXPECT_EQ(failure([&] { session.execute(); }), "dim \"seq\" is 3 by set_dim but 1 by input \"left\"");
}

TEST(SessionError, ShapesAndCounts) {
  Session session(adder());
  EXPECT_EQ(failure([&] {
              session.set("left", tensor(DType::f32, {3, 2}, std::vector<double>(6)));
            }),
            "input \"left\" is f32[2,seq], got f32[3,2]");
  EXPECT_EQ(failure([&] {
              session.set("left", tensor(DType::f64, {2, 2}, std::vector<double>(4)));
            }),
            "input \"left\" is f32[2,seq], got f64[2,2]");
  EXPECT_EQ(failure([&] { session.set("left", tensor(DType::f32, {4}, std::vector<double>(4))); }),
            "input \"left\" is f32[2,seq], got f32[4]");
  EXPECT_EQ(failure([&] {
              session.set("left", tensor(DType::f32, {2, 2}, {1}));
            }),
            "input \"left\" is f32[2,2] and needs 4 values, got 1");
  session.set_dim("seq", 2);
  session.set("left", {1, 2, 3});
  session.set("right", {1, 2, 3, 4});
  EXPECT_EQ(failure([&] { session.execute(); }), "input \"left\" is f32[2,2] and needs 4 values, got 3");
  const std::vector<std::byte> bytes(15);
  session.set_bytes("left", bytes);
  EXPECT_EQ(failure([&] { session.execute(); }), "input \"left\" is f32[2,2] and needs 16 bytes, got 15");

  Session fixed = echo(DType::f32);
  EXPECT_EQ(failure([&] { fixed.set("x", {1, 2}); }), "input \"x\" is f32[3] and needs 3 values, got 2");
  EXPECT_EQ(failure([&] { fixed.set_bytes("x", bytes); }), "input \"x\" is f32[3] and needs 12 bytes, got 15");
  EXPECT_EQ(failure([&] { fixed.execute(); }), "not set: input \"x\"") << "a refused value must not stay";
}

TEST(SessionError, Values) {
  const auto given = [](DType dtype, std::initializer_list<double> values) {
    return failure([&] { echo(dtype).set("x", values); });
  };
  EXPECT_EQ(given(DType::u8, {1, 2, 300}), "input \"x\": f64(300) at position 2 is no value of u8");
  EXPECT_EQ(given(DType::u8, {1, -1, 3}), "input \"x\": f64(-1) at position 1 is no value of u8");
  EXPECT_EQ(given(DType::i32, {1.5, 2, 3}), "input \"x\": f64(1.5) at position 0 is no value of i32");
  EXPECT_EQ(given(DType::i64, {NAN, 2, 3}), "input \"x\": f64(nan) at position 0 is no value of i64");
  EXPECT_EQ(given(DType::bool_, {0, 1, 2}), "input \"x\": f64(2) at position 2 is no value of bool");
  EXPECT_EQ(given(DType::f16, {1, 1e6, 3}), "input \"x\": f64(1e+06) at position 1 is no value of f16");
  EXPECT_EQ(given(DType::f4e2m1, {1, 2, NAN}), "input \"x\": f64(nan) at position 2 is no value of f4e2m1");
  EXPECT_EQ(failure([] {
              echo(DType::f32).set("x", std::vector<int64_t>{0, 16777217, 0});
            }),
            "input \"x\": i64(16777217) at position 1 is no value of f32");
  EXPECT_EQ(failure([] {
              echo(DType::i64).set("x", std::vector<uint64_t>{0, ~uint64_t{0}, 0});
            }),
            "input \"x\": u64(18446744073709551615) at position 1 is no value of i64");
  EXPECT_EQ(failure([] {
              echo(DType::u64).set("x", std::vector<int>{0, 0, -1});
            }),
            "input \"x\": i64(-1) at position 2 is no value of u64");
  // Rounding is not an error.
  EXPECT_EQ(given(DType::f32, {0.1, 1e-50, INFINITY}), "no error");
}

TEST(SessionError, GetNeedsATypeThatHoldsEverything) {
  const auto got = [](DType dtype, auto type) {
    Session session = echo(dtype);
    session.set("x", {1, 0, 1});
    session.execute();
    return failure([&] { session.get<decltype(type)>("y"); });
  };
  EXPECT_EQ(got(DType::f64, float{}), "output \"y\" is f64[3]; float does not hold every f64");
  EXPECT_EQ(got(DType::f32, int{}), "output \"y\" is f32[3]; int32_t does not hold every f32");
  EXPECT_EQ(got(DType::i64, double{}), "output \"y\" is i64[3]; double does not hold every i64");
  EXPECT_EQ(got(DType::u8, int8_t{}), "output \"y\" is u8[3]; int8_t does not hold every u8");
  EXPECT_EQ(got(DType::i8, uint64_t{}), "output \"y\" is i8[3]; uint64_t does not hold every i8");
  EXPECT_EQ(got(DType::i32, float{}), "output \"y\" is i32[3]; float does not hold every i32");
  EXPECT_EQ(got(DType::u8, bool{}), "output \"y\" is u8[3]; bool does not hold every u8");
  for (const DTypeInfo& about : all_dtypes()) {
    const bool wide_int = about.bits == 64 && !is_float(about.dtype);
    EXPECT_EQ(got(about.dtype, double{}) == "no error", !wide_int) << about.name;
  }
}

TEST(Session, AddsWhatItIsGiven) {
  Session session(adder());
  session.set_dim("seq", 2);
  session.set("left", {1, 2, 3, 4});
  session.set("right", std::vector<float>{0.5F, 0, 0, -1});
  session.execute();
  EXPECT_EQ(session.get<float>("sum"), (std::vector<float>{1.5F, 2, 3, 3}));
  EXPECT_EQ(session.get<double>("sum"), (std::vector<double>{1.5, 2, 3, 3}));
  EXPECT_EQ(session.dims("sum"), (std::vector<int64_t>{2, 2}));

  // Inputs stay; another dim needs other inputs.
  session.set("right", {0, 0, 0, 0});
  session.execute();
  EXPECT_EQ(session.get<float>("sum"), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Session, DimsComeFromShapes) {
  Session session(adder(DType::i32));
  session.set("left", tensor(DType::i32, {2, 1}, {1, 2}));
  session.set("right", std::vector<int8_t>{10, 20});
  session.execute();
  EXPECT_EQ(session.get<int32_t>("sum"), (std::vector<int32_t>{11, 22}));
  session.set("left", tensor(DType::i32, {2, 2}, {1, 2, 3, 4}));
  session.set("right", std::vector<uint16_t>{10, 20, 30, 40});
  session.execute();
  EXPECT_EQ(session.get<int64_t>("sum"), (std::vector<int64_t>{11, 22, 33, 44}));
}

TEST(Session, EveryFormOfValues) {
  Session session = echo(DType::bool_);
  session.set("x", std::vector<bool>{true, false, true});
  session.execute();
  EXPECT_EQ(session.get<bool>("y"), (std::vector<bool>{true, false, true}));

  Session half = echo(DType::f16);
  const std::array<uint16_t, 3> bits{0x3c00, 0xc000, 0x7c00};
  half.set_bytes("x", std::as_bytes(std::span(bits)));
  half.execute();
  EXPECT_EQ(half.get<float>("y"), (std::vector<float>{1, -2, INFINITY}));

  Session wide = echo(DType::u64);
  wide.set("x", std::vector<uint64_t>{~uint64_t{0}, 0, 1});
  wide.execute();
  EXPECT_EQ(wide.get<uint64_t>("y"), (std::vector<uint64_t>{~uint64_t{0}, 0, 1}));
  wide.set("x", {0x1p63, 0, 1});
  wide.execute();
  EXPECT_EQ(wide.get<uint64_t>("y")[0], uint64_t{1} << 63);
}

// total' = total / divisor + step, as state.
struct Counter {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Counter() {
    const NodeId total = input(*graph, "total", {2}, DType::i32, InputKind::state);
    const NodeId divisor = input(*graph, "divisor", {2}, DType::i32);
    const NodeId step = input(*graph, "step", {2}, DType::i32);
    const NodeId part = graph->add(hlir::Div{}, std::vector{total, divisor}).value();
    const NodeId next = graph->add(hlir::Add{}, std::vector{part, step}).value();
    graph->add_output("next", next, total).value();
    graph->add_output("before", total).value();
  }
};

TEST(Session, StateIsCarriedOn) {
  Session session(Counter().graph);
  session.set("divisor", {1, 2});
  session.set("step", {1, 100});
  session.execute();
  EXPECT_EQ(session.get<int>("before"), (std::vector<int>{0, 0}));
  EXPECT_EQ(session.get<int>("next"), (std::vector<int>{1, 100}));
  session.execute();
  EXPECT_EQ(session.get<int>("before"), (std::vector<int>{1, 100}));
  EXPECT_EQ(session.get<int>("next"), (std::vector<int>{2, 150}));

  // A failed run leaves the state as it was, and other outputs without values.
  session.set("divisor", {1, 0});
  EXPECT_EQ(failure([&] { session.execute(); }), "[Div] integer division by zero: 150 by 0 in i32");
  EXPECT_EQ(session.get<int>("next"), (std::vector<int>{2, 150}));
  EXPECT_EQ(failure([&] { session.get<int>("before"); }), "output \"before\" has no value before execute()");
  session.set("divisor", {1, 1});
  session.execute();
  EXPECT_EQ(session.get<int>("next"), (std::vector<int>{3, 250}));

  session.set("total", {1000, 0});
  session.execute();
  EXPECT_EQ(session.get<int>("next"), (std::vector<int>{1001, 100}));
}

// Their memory is still near when the next run writes there; what another input is fed must stay.
TEST(Session, OutputsKeepTheirMemory) {
  Session session(Counter().graph);
  session.set("divisor", {1, 1});
  session.set("step", {1, 1});
  session.execute();
  const std::byte* const first = session.bytes("before").data();
  const std::byte* const state = session.bytes("next").data();
  session.execute();
  EXPECT_EQ(session.bytes("before").data(), first);
  EXPECT_NE(session.bytes("next").data(), state);
  EXPECT_EQ(session.get<int>("next"), (std::vector<int>{2, 2}));
}

TEST(Session, Moves) {
  Session first(Counter().graph);
  first.set("divisor", {1, 1});
  first.set("step", {1, 1});
  first.execute();
  Session second = std::move(first);
  second.execute();
  EXPECT_EQ(second.get<int>("next"), (std::vector<int>{2, 2}));
}

}  // namespace
}  // namespace lumen
