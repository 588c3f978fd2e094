#include "bench/suite/html.h"

#include <gtest/gtest.h>

#include "bench/suite/html_parts.h"
#include "tests/bench/sample_report.h"

namespace lumen::bench {
namespace {

// The elements that are not closed properly, in a page whose every element is closed; what script and style hold is
// not looked at.
std::string unbalanced(std::string_view page) {
  std::vector<std::string> open;
  for (size_t at = page.find('<', 15); at != std::string_view::npos; at = page.find('<', at + 1)) {
    const size_t end = page.find('>', at);
    if (end == std::string_view::npos) return "a tag without end";
    const std::string_view tag = page.substr(at + 1, end - at - 1);
    const size_t name_end = tag.find_first_of(" /", 1);
    const std::string name(tag.substr(0, name_end));
    if (tag.starts_with("/")) {
      if (open.empty() || "/" + open.back() != tag) return std::string(tag);
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(name);
      if (name == "script" || name == "style") at = page.find("</" + name, end) - 1;
    }
  }
  return open.empty() ? "" : open.back();
}

}  // namespace

TEST(BenchHtml, TheCheckOfThePageCanFail) {
  const std::string head = "<!DOCTYPE html>";
  EXPECT_EQ(unbalanced(head + "<p><b>x</p></b>"), "/p");
  EXPECT_EQ(unbalanced(head + "<p><b>x</b>"), "p");
  EXPECT_EQ(unbalanced(head + "<p><style>a<b</style><i a=\"1\"/>x</p>"), "");
}

TEST(BenchHtml, WellFormedWithEveryCase) {
  const Report report = sample_report();
  const std::string page = html_report(report);
  EXPECT_EQ(unbalanced(page), "");
  for (const Result& result : report.results) {
    EXPECT_NE(page.find("</i>" + result.name + "</td>"), std::string::npos) << result.name;
  }
  EXPECT_NE(page.find("a &lt;fast&gt; &amp; &quot;odd&quot; one, 2 threads"), std::string::npos);
  EXPECT_NE(page.find("[Sort] not &lt;here&gt;"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
  EXPECT_EQ(page.find("inf"), std::string::npos);
  for (const char* outside : {"http:", "https:", "src=", "href="}) EXPECT_EQ(page.find(outside), std::string::npos);
}

TEST(BenchHtml, SaysWhatChanged) {
  Report before = sample_report();
  before.results[0].time.median = 2e-6;
  before.results[1].time.median = 1e-3;
  const Comparison comparison = compare_reports(before, sample_report()).value();
  const std::string page = html_report(sample_report(), &comparison);
  EXPECT_EQ(unbalanced(page), "");
  EXPECT_NE(page.find("class=\"faster\">-50.0 %</td>"), std::string::npos);
  EXPECT_NE(page.find("class=\"slower\">+100.0 %</td>"), std::string::npos);
}

TEST(BenchHtml, NothingToPlot) {
  Report report = sample_report();
  report.results.resize(1);
  report.results[0].flops = 0;  // not in the roofline
  const std::string page = html_report(report);
  EXPECT_EQ(unbalanced(page), "");
  EXPECT_EQ(page.find("Roofline"), std::string::npos);
  report.results.clear();
  EXPECT_EQ(unbalanced(html_report(report)), "");
}

}  // namespace lumen::bench
