// Wrong rules, planted: the compiler names them, and graphs shrink to what shows them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/source_dir.h"
#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGraph = R"(lumen 1
%x = Input() :name "x" :shape [8,16]
%w = Input() :name "w" :shape [8,16]
%a = Mul(%x, %w)
%e = Exp2(%a)
%s = Sort(%e) :axis 1
%m = MaxReduce(%e) :axis 1
output "s" = %s
output "m" = %m
)";

// The folder has the rules, one of which forgot its condition.
std::string plant_wrong_rule(const TemporaryFolder& folder) {
  const std::string rules = folder.path() + "/rules";
  fs::copy(source_dir() / "lumen/rules", rules);
  std::ostringstream text;
  text << std::ifstream(rules + "/reductions.egg").rdbuf();
  std::string changed = text.str();
  const std::string condition = " (positive ?k)";
  const size_t at = changed.find(condition);
  EXPECT_NE(at, std::string::npos);
  changed.erase(at, condition.size());
  std::ofstream(rules + "/reductions.egg") << changed;
  return "LUMEN_RULES=" + rules;
}

TEST(WrongRule, is_named_with_the_smallest_graph) {
  const TemporaryFolder folder;
  const std::string graph = (source_dir() / "examples/row_range.hlir").string();
  const std::vector<std::string> command{"compile", graph, "--no-measure"};
  const Finished wrong = run_lumen(command, folder.path(), "", {plant_wrong_rule(folder)});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.err.find("a rule is wrong: all is well without scale-leaves-max; "), std::string::npos) << wrong.err;
  EXPECT_EQ(run_lumen(command, folder.path()).status, 0);
}

TEST(Reduce, says_when_there_is_nothing_to_keep) {
  const TemporaryFolder folder;
  folder.write("a.hlir", kGraph);
  const Finished done = run_lumen({"reduce", "a.hlir", "--check", "false"}, folder.path());
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err,
            "lumen: a.hlir: the graph is not interesting to begin with: there is nothing to keep while it shrinks "
            "(--check 'false')\n");
}

TEST(Reduce, keeps_what_the_command_asks_for) {
  const TemporaryFolder folder;
  folder.write("a.hlir", kGraph);
  const Finished done = run_lumen({"reduce", "a.hlir", "--check", "grep -q Sort", "-o", "b.hlir"}, folder.path());
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(folder.read("b.hlir"),
            "lumen 1\n%0 = Input() :name \"v1\" :kind data :dtype f32 :shape [1,1] -> f32[1,1]\n"
            "%1 = Sort(%0) :axis 1 :descending false -> i64[1,1]\noutput \"s\" = %1\n");
  // The other way round, with the file in the middle.
  const Finished fails = run_lumen({"reduce", "a.hlir", "--check", "! grep -q Exp2 {} ", "--fails"}, folder.path());
  EXPECT_EQ(fails.status, 0) << fails.err;
  EXPECT_NE(fails.out.find("%1 = Exp2(%0)"), std::string::npos) << fails.out;
}

TEST(Reduce, what_takes_too_long_is_not_interesting) {
  const TemporaryFolder folder;
  folder.write("a.hlir", kGraph);
  const Finished done = run_lumen({"reduce", "a.hlir", "--check", "sleep 9; true", "--timeout", "0.2"}, folder.path());
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("not interesting to begin with"), std::string::npos);
}

}  // namespace
}  // namespace lumen::tests
