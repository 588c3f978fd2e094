// tests/rules/*.test: what single rules derive, and first what they do not.
//
//   === name of the case
//   rules: those switched on, by name
//   --- inputs        lines that all graphs of the case begin with
//   --- graph         what is saturated
//   --- is not        a graph that must not be found equal; any number of these
//   --- is            a graph that must be, but is not without the rules; any number of these
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/saturate.h"
#include "tests/support/source_dir.h"

namespace lumen {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> rules;
  std::string inputs, graph;
  std::vector<std::string> is_not, is;
};

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

std::vector<Case> read_cases(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<Case> cases;
  std::string* section = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({line.substr(4), {}, {}, {}, {}, {}});
      section = nullptr;
    } else if (line.starts_with("rules: ")) {
      cases.back().rules = words(line.substr(7));
    } else if (line == "--- inputs") {
      section = &cases.back().inputs;
    } else if (line == "--- graph") {
      section = &cases.back().graph;
    } else if (line == "--- is not") {
      section = &cases.back().is_not.emplace_back();
    } else if (line == "--- is") {
      section = &cases.back().is.emplace_back();
    } else if (section != nullptr) {
      *section += line + "\n";
    } else if (!line.empty() && !line.starts_with("#")) {
      ADD_FAILURE() << path << ": `" << line << "` is in no section";
    }
  }
  return cases;
}

std::shared_ptr<Graph> graph_of(const Case& given, const std::string& text) {
  return parse("lumen 1\n" + given.inputs + text, llir_ops(), given.name).value();
}

// The rules that the case names, and no others but facts.
Saturated saturated_with(const Graph& graph, const std::vector<std::string>& rules) {
  SaturateOptions options;
  const Saturated all = saturate(graph, options).value();
  size_t known = 0;
  for (const egraph::RuleReport& rule : all.report().rules) {
    if (std::find(rules.begin(), rules.end(), rule.name) == rules.end()) {
      options.without.push_back(rule.name);
    } else {
      ++known;
    }
  }
  EXPECT_EQ(known, rules.size()) << "a case names a rule that is not there";
  return saturate(graph, options).value();
}

void check(const Case& given) {
  SCOPED_TRACE(given.name);
  EXPECT_FALSE(given.is_not.empty() && given.is.empty()) << "nothing to check";
  const std::shared_ptr<Graph> graph = graph_of(given, given.graph);
  Saturated without = saturated_with(*graph, {});
  Saturated with = saturated_with(*graph, given.rules);
  for (const std::string& text : given.is_not) {
    const std::shared_ptr<Graph> other = graph_of(given, text);
    EXPECT_FALSE(with.knows(*other).value()) << "derives\n" << text;
  }
  for (const std::string& text : given.is) {
    const std::shared_ptr<Graph> other = graph_of(given, text);
    EXPECT_FALSE(without.knows(*other).value()) << "needs no rule\n" << text;
    EXPECT_TRUE(with.knows(*other).value()) << "does not derive\n" << text;
  }
}

TEST(Golden, rules_derive_what_they_say_and_nothing_else) {
  size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tests::source_dir() / "tests/rules")) {
    if (entry.path().extension() != ".test") continue;
    SCOPED_TRACE(entry.path().filename().string());
    for (const Case& one : read_cases(entry.path())) {
      check(one);
      ++cases;
    }
  }
  EXPECT_GE(cases, 25u);
}

}  // namespace
}  // namespace lumen
