// Results that are stored past the caches: strips of every length, at every alignment, against the reference; and when
// that is proposed.
#include <gtest/gtest.h>

#include "lumen/codegen/fold.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/ops.h"
#include "tests/codegen/kernel_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

KernelCases::Printer printer_of(const std::string& schedule) {
  return [schedule](const Graph& body, const std::string& name) {
    return print_kernel(body, name, schedule, Target{.vector_bytes = 64});
  };
}

std::vector<std::string> schedules_of(const Graph& graph, Tensor result, const Target& target) {
  result.output("r");
  return kernel_schedules(graph, target).value();
}

TEST(Stream, is_proposed_for_results_that_no_cache_holds) {
  const auto map_of = [](Expr rows, const Target& target) {
    Graph graph;
    return schedules_of(graph, graph.input("x", {rows, 1024}) * 2.0, target);
  };
  const Target wide{.vector_bytes = 64};
  EXPECT_EQ(map_of(16, wide), (std::vector<std::string>{"map"}));
  EXPECT_EQ(map_of(4096, wide), (std::vector<std::string>{"map", "stream-map"}));
  EXPECT_EQ(map_of(65536, wide), (std::vector<std::string>{"stream-map", "map"}));
  EXPECT_EQ(map_of(65536, Target{.vector_bytes = 16}), (std::vector<std::string>{"map"}));
  EXPECT_EQ(map_of(65536, Target{.cuda = true}), (std::vector<std::string>{"map", "gpu-full-map"}));
  Graph graph;
  const Tensor x = graph.input("x", {65536, 1024});
  EXPECT_EQ(schedules_of(graph, x / sum(x, {1}, true), wide), (std::vector<std::string>{"stream-fold", "fold"}));
  Graph rows;
  EXPECT_EQ(schedules_of(rows, sum(rows.input("x", {65536, 1024}), {1}), wide), (std::vector<std::string>{"fold"}));
  EXPECT_EQ(kernel_kind("stream-map"), "map");
  EXPECT_EQ(kernel_kind("stream-fold"), "fold");
}

TEST(Stream, stores_what_maps_compute) {
  KernelCases cases(printer_of("stream-map"));
  for (const DType dtype : {f32, f64, bf16, f16, i8, u8, i64}) {
    for (const int64_t size : {1, 7, 255, 256, 257, 1000}) {
      Graph graph;
      const Tensor x = graph.input("x", {3, size}, dtype), y = graph.input("y", {size}, dtype);
      (x + y).output("r");
      (x * y).output("s");
      cases.add(graph, {}, 1, std::string(name(dtype)) + " of " + std::to_string(size));
    }
  }
  Graph graph;  // columns of a wider array are read, and the result lies the other way round
  const Expr n = graph.dim("n", 0, 4096);
  (permute(slice(graph.input("x", {n, 40}), 1, 3, 36), {1, 0}) * 2.0).output("r");
  for (const int64_t rows : {0, 1, 300}) cases.add(graph, {{"n", rows}}, 1, "turned");
  cases.run_all_optimised();
}

TEST(Stream, stores_what_folds_compute) {
  KernelCases cases(printer_of("stream-fold"));
  for (const DType dtype : {f32, f64}) {
    for (const int64_t size : {1, 31, 256, 300, 1030}) {
      Graph graph;
      const Tensor x = graph.input("x", {5, size}, dtype);
      softmax(x, -1).output("r");
      max(x, {1}).output("s");
      cases.add(graph, {}, 64, std::string(name(dtype)) + " of " + std::to_string(size), 1e-6);
    }
  }
  cases.run_all_optimised();
}

// What the loops of a fold share of a row is near after the first of them, and then the next row is fetched: once of
// each input that has rows, not of weights, and not where rows are too long to be near.
TEST(Stream, fetches_the_next_row_of_a_fold) {
  const auto fetched = [](int64_t length) {
    Graph graph;
    const Tensor x = graph.input("x", {4096, length}), y = graph.input("y", {4096, length});
    const Tensor weight = graph.input("w", {length});
    const Tensor z = x + y;
    (z / sum(z * z, {1}, true) * weight).output("r");
    const Expected<KernelText> kernel = print_kernel(graph, "k", "stream-fold", Target{.vector_bytes = 64});
    const std::string& text = kernel.value().text;
    std::vector<std::string> lines;
    for (size_t at = 0; (at = text.find("LUMEN_FETCH_ROW", at)) != std::string::npos;) {
      const size_t end = text.find('\n', at);
      lines.push_back(text.substr(at, end - at));
      at = end;
    }
    return lines;
  };
  const std::vector<std::string> lines = fetched(4096);
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0].find("LUMEN_FETCH_ROW(float, a0, i63, "), 0) << lines[0];
  EXPECT_EQ(lines[1].find("LUMEN_FETCH_ROW(float, a1, i63, "), 0) << lines[1];
  EXPECT_NE(lines[0].find("4096 * i0 + i63 + 4096"), std::string::npos) << lines[0];
  EXPECT_EQ(fetched(1 << 20).size(), 0);
}

}  // namespace
}  // namespace lumen
