#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/browser.h"
#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

using nlohmann::json;

constexpr const char* kSwiglu = R"(lumen 1
%gate = Input() :name "gate" :shape [16,256]
%up = Input() :name "up" :shape [16,256]
%k = Constant() :value f32(-1.442695)
%ks = View(%k) :view {[16,256] 0}
%scaled = Mul(%gate, %ks)
%power = Exp2(%scaled)
%one = Constant() :value f32(1)
%ones = View(%one) :view {[16,256] 0}
%sum = Add(%power, %ones)
%inverse = Recip(%sum)
%silu = Mul(%gate, %inverse)
%y = Mul(%silu, %up)
output "y" = %y
)";

struct Fusion {
  TemporaryFolder folder;
  Finished operator()(std::vector<std::string> arguments, std::vector<std::string> variables = {}) const {
    variables.push_back("LUMEN_CACHE=" + folder.path() + "/cache");
    return run_lumen(std::move(arguments), folder.path(), "", variables);
  }
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What is measured here decides here, by the option and by the variable.
TEST(FusionTool, a_profile_decides) {
  const Fusion lumen;
  lumen.folder.write("s.hlir", kSwiglu);
  const Finished measured = lumen(
      {"fusion", "profile", "--patterns", "swiglu", "--shapes", "1x16x256,2x1x64", "--trials", "3", "-o", "p.json"});
  ASSERT_EQ(measured.status, 0) << measured.err;
  EXPECT_TRUE(holds(measured.out, "swiglu")) << measured.out;
  json profile = json::parse(lumen.folder.read("p.json"));
  for (const char* half : {"unfused", "fused"}) {
    EXPECT_EQ(profile[half]["swiglu"].size(), 2u);
    EXPECT_GT(profile[half]["swiglu"]["[1, 16, 256]"], 0.0);
    EXPECT_GE(profile["meta"]["spread"][half]["swiglu"]["[2, 1, 64]"], 0.0);
  }
  for (const char* key : {"hardware", "commit", "date"}) EXPECT_NE(profile["meta"][key], "") << key;
  EXPECT_EQ(profile["meta"]["dtype"], "f32");

  profile["fused"]["swiglu"]["[1, 16, 256]"] = 1;
  profile["unfused"]["swiglu"]["[1, 16, 256]"] = 2;
  lumen.folder.write("p.json", profile.dump());
  const Finished fused = lumen({"compile", "s.hlir", "--fusion-profile", "p.json", "--fusion-log", "log.txt"});
  ASSERT_EQ(fused.status, 0) << fused.err;
  EXPECT_TRUE(holds(fused.out, "kernels  1,")) << fused.out;
  EXPECT_EQ(lumen.folder.read("log.txt"), "fused    swiglu [1, 16, 256]: 1 ms fused, 2 ms unfused (exact)\n");

  profile["fused"]["swiglu"]["[1, 16, 256]"] = 3;
  lumen.folder.write("p.json", profile.dump());
  const Finished unfused =
      lumen({"run", "s.hlir", "--fusion-log", "-", "--compare", "reference"}, {"LUMEN_FUSION_PROFILE=p.json"});
  EXPECT_EQ(unfused.status, 0) << unfused.err;
  EXPECT_TRUE(holds(unfused.err, "unfused  swiglu [1, 16, 256]: 3 ms fused, 2 ms unfused (exact)\n")) << unfused.err;
}

TEST(FusionTool, large_shapes_are_left_out) {
  const Fusion lumen;
  const Finished run = lumen(
      {"fusion", "profile", "--patterns", "silu", "--shapes", "1x1x64,1x4096x1024", "--max-mb", "8", "-o", "p.json"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(holds(run.out, "left out: 1 shapes with more than 8 MiB")) << run.out;
  EXPECT_EQ(json::parse(lumen.folder.read("p.json"))["fused"]["silu"].size(), 1u);
}

// Prompts go to the longest one asked for; a minus is stdout, where nothing else is written.
TEST(FusionTool, the_grid_ends_where_it_is_told) {
  const Fusion lumen;
  const Finished run = lumen(
      {"fusion", "profile", "--patterns", "silu", "--max-tokens", "32", "--max-mb", "1", "--trials", "1", "-o", "-"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json shapes = json::parse(run.out)["fused"]["silu"];
  EXPECT_TRUE(shapes.contains("[1, 32, 2048]")) << shapes.dump();
  EXPECT_FALSE(shapes.contains("[1, 64, 2048]")) << shapes.dump();
  EXPECT_TRUE(shapes.contains("[32, 1, 2048]")) << shapes.dump();
}

class FusionPage : public Browser {};

// Strategies write the same text; what was measured is in the table, in the file and on the page.
TEST_F(FusionPage, shows_what_strategies_take) {
  const Fusion lumen;
  lumen.folder.write("config.json", kLlama);
  const Finished run = lumen({"fusion", "bench", "--model", "config.json", "--random-weights", "--dtype", "f32",
                              "--quick", "--runs", "2", "--json", "b.json", "--html", "b.html"});
  EXPECT_TRUE(holds(run.out, "[prefill=16, decode=64]    left out: longer than the context")) << run.out;
  EXPECT_TRUE(holds(run.out, "texts: the same tokens in 5 of 5 cases")) << run.out;
  const json report = json::parse(lumen.folder.read("b.json"));
  // Two runs of a millisecond may be lost by chance.
  EXPECT_EQ(run.status, report["verdict"]["lost"] == 0 ? 0 : 1) << run.err << run.out;
  EXPECT_EQ(report["verdict"]["strategy"], "profile");
  EXPECT_NE(report["config"]["hardware"], "");
  EXPECT_EQ(report["config"]["strategies"], (json{"never", "always", "profile"}));
  for (const char* strategy : {"never", "always", "profile"}) {
    const json& pair = report["results"][strategy]["[prefill=16, decode=8]"];
    EXPECT_GT(pair["prefill_ms"], 0.0);
    EXPECT_GT(pair["decode_ms"], 0.0);
    EXPECT_GE(pair["total_ms"].get<double>(), pair["decode_ms"].get<double>());
    EXPECT_EQ(pair["input_len"], 16);
    EXPECT_EQ(pair["output_len"], 8);
    EXPECT_EQ(pair["runs"], 2);
    EXPECT_EQ(report["prompts"][strategy]["tiny prompt of 4"]["category"], "tiny");
  }
  const std::string got = outcome(lumen.folder.read("b.html"), R"js(
document.querySelectorAll("#cases th")[1].click();
const values = [...document.querySelectorAll("#cases tbody tr")].map(row => +row.cells[1].dataset.v);
report({ problems, wins: document.querySelectorAll("#wins tbody tr").length,
  verdict: document.getElementById("verdict").textContent.startsWith("profile at its worst takes "), bars: document.querySelectorAll("svg rect").length, rows: values.length,
  sorted: values.every((v, k) => k === 0 || v <= values[k - 1]),
  fits: document.documentElement.scrollWidth <= innerWidth });
)js");
  EXPECT_EQ(json::parse(got, nullptr, false), (json{{"problems", json::array()},
                                                    {"wins", 3},
                                                    {"verdict", true},
                                                    {"bars", 15},
                                                    {"rows", 5},
                                                    {"sorted", true},
                                                    {"fits", true}}))
      << got;
}

}  // namespace
}  // namespace lumen::tests
