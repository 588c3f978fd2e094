#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

Finished debug(std::vector<std::string> arguments, const std::string& folder = ".") {
  arguments.insert(arguments.begin(), "debug");
  return run_lumen(arguments, folder);
}

TEST(Debug, a_check_exits_with_1_when_it_finds_something) {
  const Finished well = debug({"--case", "cumsum", "--check", "all"});
  EXPECT_EQ(well.status, 0) << well.err;
  EXPECT_EQ(well.out, "cumsum\nall: nothing found\n");
  const Finished found = debug({"--case", "cumsum", "--check", "all", "--without-kernel", "scan"});
  EXPECT_EQ(found.status, 1);
  EXPECT_NE(found.out.find("kernels of the kind scan are left out"), std::string::npos) << found.out;
}

TEST(Debug, the_older_names_ask_the_same) {
  const std::vector<std::string> off{"--case", "gelu", "--without-rule", "type of Tanh"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = off;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return debug(arguments).out;
  };
  EXPECT_EQ(with({"--trace-fn", "type_of", "y"}), with({"--trace-fact", "type_of", "y"}));
  EXPECT_EQ(with({"--trace-missing-dtype"}), with({"--trace-first-missing-fact", "type_of"}));
  EXPECT_NE(with({"--trace-missing-dtype"}).find("switched off"), std::string::npos);
}

TEST(Debug, files_are_written) {
  const TemporaryFolder folder;
  const Finished done =
      debug({"--case", "softmax", "--json", "a.json", "--dump-egraph", "e.html", "--analyze"}, folder.path());
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(folder.read("a.json").starts_with("{")) << folder.read("a.json");
  EXPECT_NE(folder.read("e.html").find("<html"), std::string::npos);
  EXPECT_EQ(debug({"--all", "--json", "all.json"}, folder.path()).status, 0);
  EXPECT_TRUE(folder.read("all.json").starts_with("["));
}

TEST(Debug, a_file_is_read_as_it_is_written_or_as_the_search_left_it) {
  const TemporaryFolder folder;
  folder.write("c.llir", R"(lumen 1
%a = Input() :name "a" :shape [3,4]
%b = Input() :name "b" :shape [5,4]
%c = Contract(%a, %b) :left {[3,5,4] 4*i0 + i2} :right {[3,5,4] 4*i1 + i2} :reduced 1
output "y" = %c
)");
  const Finished done = debug({"--file", "c.llir", "--inspect-op", "Contract:contract"}, folder.path());
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.out.find("1 of 1 covered"), std::string::npos) << done.out;
}

}  // namespace
}  // namespace lumen::tests
