#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/support/source_dir.h"
#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

constexpr const char* kEntries =
    R"({"format":"lumen-tuning","version":1,"entries":[
{"fingerprint":"cpu","kernel":"conv","shape":"","schedule":"tile 4","date":"2026-11-15T10:20:59Z","seconds":0.25,"spread":0,"trials":3},
{"fingerprint":"cpu","kernel":"matmul\n2","shape":"n=7","schedule":"tile 8","date":"2026-11-15T10:20:59Z","seconds":1.25e-05,"spread":2e-07,"trials":31},
{"fingerprint":"cpu","kernel":"matmul\n2","shape":"n=7","schedule":"tile 99","date":"2026-11-14T00:00:00Z","rejected":"wrong result"}
]}
)";

struct Tune {
  TemporaryFolder folder;
  Finished operator()(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), "tune");
    return run_lumen(arguments, folder.path(), input, {"LUMEN_CACHE=" + folder.path() + "/cache"});
  }
};

TEST(Tune, NothingMeasuredYetMakesNoFile) {
  const Tune tune;
  const Finished show = tune({"show"});
  EXPECT_EQ(show.status, 0) << show.err;
  EXPECT_EQ(show.out, "0 measured, 0 rejected\n");
  EXPECT_EQ(tune.folder.count(), 0U);
}

TEST(Tune, ShowsATable) {
  const Tune tune;
  const Finished taken = tune({"import", "-"}, kEntries);
  EXPECT_EQ(taken.out, "3 entries written\n") << taken.err;
  const Finished show = tune({"show", "--kernel", "matmul"});
  EXPECT_EQ(show.out.substr(0, show.out.find(' ')), "kernel");
  EXPECT_NE(show.out.find("  matmul\\n2\nshape     n=7\nhardware  cpu\n"), std::string::npos) << show.out;
  EXPECT_NE(show.out.find("\n     12.5 us     200 ns     31  2026-11-15T10:20:59Z  tile 8\n"), std::string::npos)
      << show.out;
  EXPECT_NE(show.out.find("\n    rejected                    2026-11-14T00:00:00Z  tile 99  wrong result\n"),
            std::string::npos)
      << show.out;
  EXPECT_TRUE(show.out.ends_with("\n1 measured, 1 rejected\n")) << show.out;
}

TEST(Tune, ExportIsWhatImportTook) {
  const Tune tune;
  ASSERT_EQ(tune({"import", "-", "--db", "a.db"}, kEntries).status, 0);
  EXPECT_EQ(tune({"export", "--db", "a.db"}).out, kEntries);
  EXPECT_EQ(tune({"show", "--json", "--db", "a.db"}).out, kEntries);
  EXPECT_EQ(tune({"export", "b.json", "--db", "a.db"}).out, "");
  EXPECT_EQ(tune.folder.read("b.json"), kEntries);
  EXPECT_EQ(tune({"import", "b.json", "--db", "a.db"}).out, "0 entries written\n");
  EXPECT_EQ(tune({"import", "b.json", "--db", "a.db", "--replace"}).out, "3 entries written\n");
  EXPECT_EQ(tune({"import", "b.json", "--db", "c.jsonl"}).out, "3 entries written\n");
  EXPECT_EQ(tune({"export", "--db", "c.jsonl"}).out, kEntries);
}

TEST(Tune, ClearRemovesTheChosen) {
  const Tune tune;
  ASSERT_EQ(tune({"import", "-"}, kEntries).status, 0);
  EXPECT_EQ(tune({"clear", "--kernel", "matmul"}).out, "2 entries removed\n");
  EXPECT_EQ(tune({"clear", "--hardware", "gpu"}).out, "0 entries removed\n");
  EXPECT_EQ(tune({"clear", "--all"}).out, "1 entry removed\n");
  EXPECT_EQ(tune({"show"}).out, "0 measured, 0 rejected\n");
}

// Times hold for the texts of kernels that were measured.
TEST(Tune, TimesOfOtherCodeAreNotTaken) {
  const Tune tune;
  const std::string graph = (source_dir() / "examples/softmax.hlir").string();
  const auto compile = [&](const std::string& cache) {
    return run_lumen({"compile", graph}, tune.folder.path(), "", {"LUMEN_CACHE=" + tune.folder.path() + "/" + cache});
  };
  ASSERT_EQ(compile("cache").status, 0);
  const std::string known = tune({"export"}).out;
  const std::regex version("code=[0-9a-f]{12} ");
  ASSERT_TRUE(std::regex_search(known, version)) << known;
  std::filesystem::create_directories(tune.folder.path() + "/same");
  std::filesystem::create_directories(tune.folder.path() + "/other");
  ASSERT_EQ(tune({"import", "-", "--db", "same/tuning.db"}, known).status, 0);
  ASSERT_EQ(tune({"import", "-", "--db", "other/tuning.db"}, std::regex_replace(known, version, "code=0 ")).status, 0);
  EXPECT_NE(compile("same").out.find(" 0 kernels measured"), std::string::npos);
  EXPECT_EQ(compile("other").out.find(" 0 kernels measured"), std::string::npos);
}

}  // namespace
}  // namespace lumen::tests
