#include "lumen/ir/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/ir/sample_ops.h"
#include "tests/support/round_trip.h"

namespace lumen {
namespace {

using sample::emit;

std::shared_ptr<Graph> read_graph(const std::string& text) {
  auto graph = parse(text, sample::ops(), "t");
  EXPECT_TRUE(graph.ok()) << graph.diag().str();
  return graph.ok() ? *graph : std::make_shared<Graph>();
}

TEST(text, prints_the_documented_form) {
  Graph g;
  const Expr seq = g.dim("seq", 1, 8192);
  const Tensor x = g.input("x", {seq, 64});
  const Shape turned{64, seq};
  const Tensor v = emit(g, sample::Look{.view = View(turned, Expr::index(0, 64) + 64 * Expr::index(1, seq))}, {x});
  emit(g, sample::SumReduce{.axis = 1}, {v}).output("y");
  EXPECT_EQ(print(g),
            "lumen 1\n"
            "dim seq 1..8192\n"
            "%0 = Input() :name \"x\" :kind data :dtype f32 :shape [seq,64] -> f32[seq,64]\n"
            "%1 = View(%0) :view {[64,seq] i0 + 64*i1} -> f32[64,seq]\n"
            "%2 = SumReduce(%1) :axis 1 -> f32[64]\n"
            "output \"y\" = %2\n");
  expect_round_trip(g, sample::ops());
}

TEST(text, prints_bodies_and_updates) {
  Graph g;
  const Tensor state = g.input("s", {4}, f32, InputKind::state);
  auto inner = std::make_shared<Graph>();
  inner->input("a", {2}).output("b");
  auto body = std::make_shared<Graph>();
  body->input("x", {4}).output("y");
  emit(*body, sample::Loop{.trip = 2, .body = body->adopt(inner)}).output("z");
  emit(g, sample::Loop{.trip = 3, .body = g.adopt(body)}, {state}).output("s", state);
  EXPECT_EQ(print(g),
            "lumen 1\n"
            "%0 = Input() :name \"s\" :kind state :dtype f32 :shape [4] -> f32[4]\n"
            "%1 = Loop(%0) :trip 3 :body {\n"
            "  %0 = Input() :name \"x\" :kind data :dtype f32 :shape [4] -> f32[4]\n"
            "  %1 = Loop() :trip 2 :body {\n"
            "    %0 = Input() :name \"a\" :kind data :dtype f32 :shape [2] -> f32[2]\n"
            "    output \"b\" = %0\n"
            "  } -> f32[2]\n"
            "  output \"y\" = %0\n"
            "  output \"z\" = %1\n"
            "} -> f32[4]\n"
            "output \"s\" = %1 updates %0\n");
  expect_round_trip(g, sample::ops());
}

TEST(text, reads_what_people_write) {
  const auto by_hand = read_graph(
      "# a comment\n"
      "lumen 1   # the version\n"
      "dim seq 1..8\n"
      "%tokens = Input() :shape [ seq , 2*2 ] :name \"x\"\n"
      "%unused = Iota()\n"
      "%sum\n  = SumReduce( %tokens )   # axis 0 is the default\n"
      "%again = SumReduce(%tokens) :axis 0\n"
      "output \"y\" = %again\n");
  EXPECT_EQ(print(*by_hand),
            "lumen 1\n"
            "dim seq 1..8\n"
            "%0 = Input() :name \"x\" :kind data :dtype f32 :shape [seq,4] -> f32[seq,4]\n"
            "%1 = SumReduce(%0) :axis 0 -> f32[4]\n"
            "output \"y\" = %1\n");
  EXPECT_EQ(by_hand->size(), 3u);
  expect_round_trip(*by_hand, sample::ops());
}

TEST(text, tells_the_lines_and_names_of_each_node) {
  const std::string text =
      "lumen 1\n%x = Input() :name \"x\"\n  :shape [2]\n# a comment\n%y = Add(%x, %x)\n%z = Add(%x, %x)\n%w = Add(%y, "
      "%x)\n";
  std::vector<Statement> statements;
  ASSERT_TRUE(parse(text, sample::ops(), "t", &statements).ok());
  std::string told;
  for (const Statement& each : statements)
    told += fmt::format("{} %{} {}; ", static_cast<int>(each.node), each.name, each.line);
  EXPECT_EQ(told, "0 %x 2; 1 %y 5; 1 %z 6; 2 %w 7; ");  // %z is %y
}

TEST(text, an_expression_ends_with_its_line) {
  const auto g =
      read_graph("lumen 1\n%0 = Iota() :shape [4] :value i0\n%3 = Iota() :shape [4] :value i0 % 3\noutput \"y\" = %3");
  EXPECT_EQ(g->size(), 2u);
  EXPECT_EQ((*g)[NodeId{1}].as<sample::Iota>().value.str(), "i0 % 3");
}

TEST(text, a_dim_means_what_its_own_graph_says) {
  // The same text of a shape inside and outside: the memo must not leak between scopes.
  const auto g = read_graph(
      "lumen 1\ndim s 1..8\n%0 = Input() :name \"x\" :shape [s]\n"
      "%1 = Loop() :body { dim s 1..8 %0 = Input() :name \"x\" :shape [s] output \"y\" = %0 }\noutput \"y\" = %1\n");
  EXPECT_TRUE((*g)[NodeId{0}].type == (*g)[NodeId{1}].type);
  const auto other = parse(
      "lumen 1\ndim s 1..8\n%0 = Input() :name \"x\" :shape [s]\n"
      "%1 = Loop() :body { %0 = Input() :name \"x\" :shape [s] output \"y\" = %0 }\n",
      sample::ops());
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.diag().message, "unknown dim s");
}

TEST(text, names_survive) {
  for (const std::string& name : {std::string("plain"), std::string("a \"b\" \\ c"), std::string("\n\r\t\x01\x7f"),
                                  std::string("nul\0inside", 10), std::string("größe"), std::string("\xff\xfe")}) {
    Graph g;
    const Tensor x = g.input(name, {2});
    emit(g, sample::Fields{.label = name}, {x}).output(name);
    expect_round_trip(g, sample::ops());
    EXPECT_TRUE(read_graph(print(g))->find_input(name).has_value());
    EXPECT_NE(read_graph(print(g))->find_output(name), nullptr);
    EXPECT_EQ(print(g).find('\0'), std::string::npos);
  }
  EXPECT_EQ(quoted("a\"\\\n\x01"), "\"a\\\"\\\\\\n\\x01\"");
}

TEST(text, random_field_values_survive) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 3000; ++round) {
    const DTypeInfo& row = all_dtypes()[random() % all_dtypes().size()];
    std::vector<std::byte> bytes(8);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    Lane lane;
    unpack(row.dtype, std::span(bytes).first(static_cast<size_t>(storage_bytes(row.dtype, 1))), std::span(&lane, 1));
    const Scalar scalar = is_float(row.dtype) ? Scalar::of(row.dtype, lane.f) : Scalar::of(row.dtype, lane.i);
    const double rate = std::bit_cast<double>(random());
    Graph g;
    emit(g, sample::Fields{.rate = std::isnan(rate) ? 0 : rate,
                           .flag = random() % 2 == 0,
                           .scalar = scalar,
                           .mode = random() % 2 == 0 ? sample::Mode::forward : sample::Mode::backward})
        .output("y");
    emit(g, sample::Iota{.shape = {7}, .value = Expr(static_cast<int64_t>(random()))}).output("z");
    expect_round_trip(g, sample::ops());
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(text, special_numbers_survive) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {0.0, -0.0, inf, -inf, nan, 5e-324, 1.7976931348623157e308, 0.1}) {
    Graph g;
    emit(g, sample::Fields{.rate = value, .scalar = Scalar::of(f64, value)}).output("y");
    expect_round_trip(g, sample::ops());
  }
}

TEST(text, views_survive) {
  Graph g;
  const Expr seq = g.dim("seq", 1, 64);
  const Tensor x = g.input("x", {seq, 6});
  const View base = View::identity(x.shape());
  const View views[] = {flip(base, 0),
                        roll(base, 1, 2),
                        unfold(base, 1, 3, 1, 1),
                        reshape(base, Shape{3, seq * 2}),
                        *pad(base, 1, 2, 3, Scalar::of(f32, -1.5)),
                        *pad(base, 0, 1, seq, Scalar::of(f32, 0)),
                        View(Shape{2}, 0, 0, Scalar::of(f32, 1))};
  for (size_t k = 0; k < std::size(views); ++k) emit(g, sample::Look{.view = views[k]}, {x}).output(std::to_string(k));
  EXPECT_EQ(g.outputs().size(), std::size(views));
  expect_round_trip(g, sample::ops());
}

// Random DAGs of every sample op.
TEST(text, random_graphs_survive) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    Graph g;
    const Expr n = g.dim("n", 1, 16);
    std::vector<Tensor> values = {g.input("x", {n, 4}), g.input("w", {n, 4}, f32, InputKind::weight)};
    const auto pick = [&] { return values[random() % values.size()]; };
    for (int k = 0; k < 30; ++k) {
      const Tensor a = pick(), b = pick();
      switch (random() % 4) {
        case 0:
          if (a.type() == b.type()) values.push_back(emit(g, sample::Add{}, {a, b}));
          break;
        case 1:
          if (a.rank() > 0) {
            const int64_t axis = static_cast<int64_t>(random() % static_cast<uint64_t>(a.rank()));
            values.push_back(emit(g, sample::SumReduce{.axis = axis}, {a}));
          }
          break;
        case 2:
          values.push_back(emit(g, sample::Look{.view = View::identity(Shape{a.shape().numel()})}, {a}));
          break;
        default:
          values.push_back(
              emit(g, sample::Fields{.rate = static_cast<double>(random() % 5), .scalar = Scalar::of(f32, 1)}, {a, b}));
      }
    }
    for (int k = 0; k < 3; ++k) pick().output("y" + std::to_string(k));
    expect_round_trip(g, sample::ops());
    EXPECT_TRUE(clone(g)->equals(g));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace lumen
