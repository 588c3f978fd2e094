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
  EXPECT_EQ(with({"--check", "fn"}), with({"--check", "facts"}));
  EXPECT_NE(with({"--check", "fn"}).find("switched off"), std::string::npos);
  EXPECT_EQ(with({"--check", "missing-backend"}), with({"--check", "missing-kernel"}));
  EXPECT_EQ(with({"--print-egglog"}), with({"--print-egraph"}));
  EXPECT_EQ(with({"--dump-egglog", "-"}), with({"--dump-egraph", "-"}));
}

TEST(Debug, rules_are_asked_about_by_name) {
  const Finished fails = debug({"--case", "softmax", "--why-not", "sum-of-products", "y"});
  EXPECT_EQ(fails.status, 0) << fails.err;
  EXPECT_TRUE(fails.out.starts_with("softmax\nsum-of-products does not fire at ")) << fails.out;
  EXPECT_NE(fails.out.find("\n  fails   (SumReduce ?2 ?i) = the left side\n"), std::string::npos) << fails.out;
  const Finished fires = debug({"--case", "matmul", "--why-not", "sum-of-products", "y"});
  EXPECT_NE(fires.out.find("sum-of-products fires at "), std::string::npos) << fires.out;
}

TEST(Debug, the_e_graph_is_printed) {
  const Finished done = debug({"--case", "mul", "--size", "16", "--print-egraph"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out,
            "mul\n"
            "%0 f32[16]\n  Input() :name \"a\" :kind data :dtype f32 :shape [16]\n"
            "%1 f32[16]\n  Input() :name \"b\" :kind data :dtype f32 :shape [16]\n"
            "%2 f32[16]\n  Mul(%0, %1)\n");
}

TEST(Debug, what_the_graph_does_not_have_is_said) {
  EXPECT_EQ(debug({"--case", "mul", "--inspect-op", "Sin:map"}).out, "mul\nSin:map: there is none in the graph\n");
  EXPECT_EQ(debug({"--case", "mul", "--trace-first-missing-fact", "type_of", "--within-op", "Sin"}).out,
            "mul\nthere is no Sin in the graph\n");
  EXPECT_EQ(debug({"--case", "mul", "--trace-first-missing-fact", "type_of", "--within-op", "Input"}).out,
            "mul\nevery Input has type_of\n");
}

TEST(Debug, every_case_is_described) {
  const std::string list = debug({"--list"}).out;
  for (size_t at = 0; at < list.size(); at = list.find('\n', at) + 1) {
    const std::string line = list.substr(at, list.find('\n', at) - at);
    EXPECT_GT(line.find_last_not_of(' '), 12u) << line;
  }
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
