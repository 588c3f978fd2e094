// What `lumen fusion bench` says of timings and texts; the program itself is run in fusion_test.cpp.
#include "tools/fusion_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/fusion_texts.h"

namespace lumen::tools {
namespace {

using nlohmann::json;

// Runs that take about so many seconds, a tenth of them for reading.
FusionRuns runs_of(double seconds) {
  FusionRuns runs;
  for (const double share : {0.999, 1.0, 1.001, 1.0, 0.9995}) {
    runs.prefill.push_back(0.1 * seconds * share);
    runs.decode.push_back(0.9 * seconds * share);
  }
  return runs;
}

FusionCase case_of(const std::string& name, const std::string& category, std::initializer_list<double> seconds) {
  FusionCase result{name, category, 16, 8};
  for (const double each : seconds) result.strategies.push_back(runs_of(each));
  return result;
}

FusionReport report_of(std::vector<std::string> strategies, std::vector<FusionCase> cases) {
  FusionReport report;
  report.model = "m";
  report.hardware = "h";
  report.commit = "c";
  report.date = "d";
  report.strategies = std::move(strategies);
  report.cases = std::move(cases);
  return report;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(FusionCases, are_the_pairs_and_the_prompts) {
  std::vector<std::string> names;
  for (const FusionCase& each : fusion_cases(false)) names.push_back(each.category + " " + each.name);
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "pairs [prefill=16, decode=8]", "pairs [prefill=32, decode=8]", "pairs [prefill=64, decode=8]",
          "pairs [prefill=128, decode=8]", "pairs [prefill=256, decode=8]", "pairs [prefill=512, decode=16]",
          "pairs [prefill=16, decode=32]", "pairs [prefill=16, decode=64]", "pairs [prefill=32, decode=64]",
          "pairs [prefill=64, decode=64]", "pairs [prefill=128, decode=128]", "tiny tiny prompt of 4",
          "tiny tiny prompt of 8", "short short prompt of 16", "short short prompt of 32", "medium medium prompt of 64",
          "medium medium prompt of 128", "long long prompt of 256", "long long prompt of 400"}));
  for (const FusionCase& each : fusion_cases(false)) {
    EXPECT_TRUE(each.category == "pairs" || each.decode == 30) << each.name;
  }
}

TEST(FusionTexts, differ_or_are_a_tie) {
  const WrittenText never{"never", {5, 6, 7}, {0.5, 0.5, 0.5}};
  FusionCase same{"c", "pairs", 16, 3};
  compare_texts(never, {"profile", {5, 6, 7}, {0.5, 1e-9, 0.5}}, 1e-4, same);
  EXPECT_EQ(same.difference, "");
  FusionCase differs{"c", "pairs", 16, 3};
  compare_texts(never, {"profile", {5, 9, 7}, {0.5, 2e-4, 0.5}}, 1e-4, differs);
  EXPECT_EQ(differs.difference, "never writes token 6 where profile writes 9, after 1 tokens");
  EXPECT_FALSE(differs.is_tie);
  FusionCase tie{"c", "pairs", 16, 3};
  compare_texts(never, {"profile", {5, 9, 7}, {0.5, 5e-5, 0.5}}, 1e-4, tie);
  EXPECT_TRUE(tie.is_tie);
  EXPECT_NEAR(lead_of(std::vector<float>{1, -4, 3, 2}), 0.25, 1e-9);
}

// A case that is lost, and a text that is another one, end the command with 1; ties and being close do not.
TEST(FusionReport, is_good_when_texts_are_the_same_and_profile_does_not_lose) {
  const std::vector<std::string> all = {"never", "always", "profile"};
  EXPECT_TRUE(report_of(all, {case_of("a", "pairs", {2, 1, 1.015})}).is_good());
  EXPECT_FALSE(report_of(all, {case_of("a", "pairs", {2, 1, 1}), case_of("b", "tiny", {2, 1, 1.05})}).is_good());
  FusionReport differs = report_of(all, {case_of("a", "pairs", {2, 1, 1})});
  differs.cases[0].difference = "never writes token 1 where profile writes 2, after 0 tokens";
  EXPECT_FALSE(differs.is_good());
  EXPECT_TRUE(holds(fusion_table(differs), "texts: the same tokens in 0 of 1 cases"));
  differs.cases[0].is_tie = true;
  EXPECT_TRUE(differs.is_good());
  EXPECT_TRUE(holds(fusion_table(differs), "after 0 tokens (a tie)"));
  EXPECT_TRUE(report_of({"always", "never"}, {case_of("a", "pairs", {1, 2})}).is_good());  // nobody promised anything
}

TEST(FusionReport, judges_profile_wherever_it_stands) {
  const FusionReport report =
      report_of({"profile", "never"}, {case_of("a", "pairs", {1.1, 1}), case_of("b", "tiny", {1, 2})});
  EXPECT_TRUE(holds(fusion_table(report),
                    "profile at its worst takes 1.100 +- 0.000 of the best of the others: a; it "
                    "loses 1 of 2 cases\n"))
      << fusion_table(report);
  EXPECT_FALSE(report.is_good());
  EXPECT_EQ(report_of({"never", "always"}, {case_of("a", "pairs", {1, 2})}).verdict()->strategy, "always");
  EXPECT_FALSE(report_of({"never"}, {case_of("a", "pairs", {1})}).verdict());
}

TEST(FusionReport, says_the_same_in_the_table_the_file_and_the_page) {
  FusionReport report = report_of(
      {"never", "always", "profile"},
      {case_of("a", "pairs", {2, 1, 1}), case_of("b", "pairs", {2, 1.5, 1}), case_of("c", "tiny", {1, 1.5, 1.5})});
  const std::string table = fusion_table(report);
  EXPECT_TRUE(holds(table, "how many times as fast as never others are\n")) << table;
  EXPECT_TRUE(holds(table, "always is       profile is\n")) << table;
  EXPECT_TRUE(holds(
      table, "  pairs    never 0, always 0, profile 1, none 1\n  tiny     never 1, always 0, profile 0, none 0\n"))
      << table;
  const json file = json::parse(fusion_json(report));
  for (const auto& [key, value] : {std::pair("hardware", "h"), std::pair("commit", "c"), std::pair("date", "d")}) {
    EXPECT_EQ(file["config"][key], value);
  }
  EXPECT_EQ(file["wins"]["pairs"], (json{{"never", 0}, {"always", 0}, {"profile", 1}, {"none", 1}}));
  EXPECT_EQ(file["verdict"]["strategy"], "profile");
  EXPECT_EQ(file["verdict"]["lost"], 1);
  EXPECT_EQ(file["verdict"]["cases"], 3);
  EXPECT_EQ(file["verdict"]["worst_case"], "c");
  const std::string page = fusion_html(report);
  EXPECT_TRUE(holds(page, "profile at its worst takes 1.500"));
  EXPECT_TRUE(holds(page,
                    "<tr><td>pairs</td><td data-v=\"0\">0</td><td data-v=\"0\">0</td><td data-v=\"1\">1</td>"
                    "<td data-v=\"1\">1</td></tr>"))
      << page;
  for (const char* tick : {">0x<", ">0.5x<", ">1x<", ">1.5x<", ">2x<"}) EXPECT_TRUE(holds(page, tick)) << tick;
}

}  // namespace
}  // namespace lumen::tools
