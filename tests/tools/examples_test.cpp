#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/source_dir.h"
#include "tests/tools/program.h"

namespace lumen::tests {

namespace {

const std::filesystem::path kProgram = lumen_program();
const std::filesystem::path kExamples = source_dir() / "examples";

}  // namespace

// What README.md says that the example prints.
TEST(Examples, Readme) {
  const Finished run = run_program({(kProgram.parent_path() / "example_readme").string()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "[1, 2, 3, 3, 2, 4, 6, 6, 3, 6, 9, 9]\n");
  EXPECT_EQ(run.err, "");
}

TEST(Examples, GraphsAreValidAndFormattingIsStable) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples)) {
    if (entry.path().extension() != ".hlir") continue;
    ++count;
    const Finished once = run_lumen({"ir", "fmt", entry.path().string()});
    ASSERT_EQ(once.status, 0) << entry.path() << once.err;
    EXPECT_EQ(run_lumen({"ir", "fmt", "-"}, ".", once.out).out, once.out) << entry.path();
    EXPECT_EQ(run_lumen({"run", entry.path().string()}).status, 0) << entry.path();
  }
  EXPECT_GE(count, 3U);
}

TEST(Examples, SoftmaxRowsSumToOne) {
  const TemporaryFolder folder;
  const std::string graph = (kExamples / "softmax.hlir").string();
  const Finished run = run_lumen({"run", graph, "--dim", "rows=2", "--seed", "3"}, folder.path());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("y: f32[2,5]\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("mean 0.2, 0 NaN, 0 infinite"), std::string::npos) << run.out;
  EXPECT_EQ(run.err, "seed 3 (--seed sets it)\n");
}

}  // namespace lumen::tests
