#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

struct Bench {
  TemporaryFolder folder;
  Finished operator()(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), "bench");
    return run_lumen(arguments, folder.path(), input, {"LUMEN_CACHE=" + folder.path() + "/cache"});
  }
};

// The file with another number behind the first "seconds" of a result.
std::string with_seconds(std::string text, const std::string& seconds) {
  const size_t at = text.find("\"seconds\": ") + 11;
  return text.replace(at, text.find(',', at) - at, seconds);
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

}  // namespace

TEST(Bench, TableJsonPageAndComparison) {
  const Bench bench;
  const std::vector<std::string> add = {"micro", "--only", "^add/1k", "--threads", "1", "--quick"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), add.begin(), add.end());
    return bench(more);
  };
  const Finished first = with({"--json", "a.json", "--html", "a.html"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_NE(first.out.find("measured limits of 1 thread\n  copy  "), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("\nadd/1k/f32 "), std::string::npos) << first.out;
  EXPECT_NE(bench.folder.read("a.html").find("</i>add/1k/f32</td>"), std::string::npos);
  const std::string text = bench.folder.read("a.json");
  bench.folder.write("slow.json", with_seconds(text, "3600"));
  const Finished faster = with({"--compare", "slow.json"});
  EXPECT_EQ(faster.status, 0) << faster.err;
  EXPECT_TRUE(faster.out.ends_with("\n0 slower, 1 faster, 0 within noise, 0 new\n")) << faster.out;
  bench.folder.write("fast.json", with_seconds(text, "1e-15"));
  const Finished slower = with({"--compare", "fast.json"});
  EXPECT_EQ(slower.status, 1);
  EXPECT_TRUE(slower.out.ends_with("SLOWER\n1 slower, 0 faster, 0 within noise, 0 new\n")) << slower.out;
}

TEST(Bench, ColdCompilesMeasure) {
  const Bench bench;
  const Finished cold = bench({"micro", "--only", "^add/1k", "--quick", "--cold", "--json", "a.json"});
  ASSERT_EQ(cold.status, 0) << cold.err;
  EXPECT_NE(cold.out.find("* kernels were timed while compiling"), std::string::npos) << cold.out;
  EXPECT_NE(bench.folder.read("a.json").find("\"cold\": true"), std::string::npos);
  EXPECT_EQ(bench.folder.count(), 1U);  // nothing in the cache of others
}

TEST(Bench, ServesTimingsOfGivenInputs) {
  const Bench bench;
  std::vector<float> x(128 * 128);
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k % 128);
  bench.folder.write("x.bin", std::string(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(float)));
  const Finished run = bench({"serve"}, R"({"do":"time","case":"softmax/128x128/f32","runs":1}
{"do":"load","case":"softmax/128x128/f32","folder":"."}
{"do":"time","case":"softmax/128x128/f32","runs":3}
{"do":"store","case":"softmax/128x128/f32","folder":"."}
{"do":"drop","case":"softmax/128x128/f32"}
{"do":"dance","case":"softmax/128x128/f32"}
{"do":"load","case":"nothing","folder":"."}
no json
{"do":"cases"}
)");
  ASSERT_EQ(run.status, 0) << run.err;
  const std::vector<std::string> answers = lines(run.out);
  ASSERT_EQ(answers.size(), 9U) << run.out;
  EXPECT_EQ(answers[0], R"({"error":"case `softmax/128x128/f32` is not loaded"})");
  EXPECT_TRUE(answers[1].starts_with("{\"seconds\":")) << answers[1];
  EXPECT_TRUE(answers[2].starts_with("{\"seconds\":")) << answers[2];
  EXPECT_EQ(answers[3], "{}");
  EXPECT_EQ(answers[4], "{}");
  EXPECT_EQ(answers[5], R"({"error":"case `softmax/128x128/f32` is not loaded"})");
  EXPECT_EQ(answers[6], R"({"error":"no case `nothing`"})");
  EXPECT_TRUE(answers[7].starts_with("{\"error\":\"")) << answers[7];
  EXPECT_NE(answers[8].find("\"name\":\"softmax/128x128/f32\""), std::string::npos);
  const std::string bytes = bench.folder.read("out.out");
  ASSERT_EQ(bytes.size(), x.size() * sizeof(float));
  double sum = 0;
  for (int k = 0; k < 128; ++k) sum += std::exp(k - 127.0);
  for (size_t k = 0; k < x.size(); ++k) {
    float got = 0;
    std::memcpy(&got, bytes.data() + k * sizeof(float), sizeof(float));
    const double expected = std::exp(static_cast<double>(k % 128) - 127.0) / sum;
    ASSERT_NEAR(got, expected, 1e-5 * expected + 1e-30) << k;
  }
}

}  // namespace lumen::tests
