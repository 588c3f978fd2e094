// What the program says goes somewhere: to stdout, to a file, or to a message that it could not.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/source_dir.h"
#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

std::string example(const std::string& name) { return (source_dir() / "examples" / name).string(); }

TEST(Output, a_full_stdout_is_an_error_of_every_command) {
  const TemporaryFolder folder;
  const std::string softmax = example("softmax.hlir");
  for (const std::string& command :
       {std::string("--help"), std::string("flags"), std::string("ops"), std::string("devices"),
        std::string("debug --list"), std::string("debug --case softmax"), std::string("debug --all --analyze"),
        std::string("debug --case mul --json -"), "egg " + example("math.egg"), "ir check " + softmax,
        "ir fmt " + softmax, "ir dot " + softmax, "run --backend reference " + softmax,
        "compile --no-measure " + softmax, "profile --rounds 1 " + softmax}) {
    const Finished done =
        run_program({"/bin/sh", "-c", lumen_program() + " " + command + " > /dev/full"}, folder.path());
    EXPECT_EQ(done.status, 1) << command;
    EXPECT_NE(done.err.find("lumen: stdout: cannot write: "), std::string::npos) << command << "\n" << done.err;
  }
}

TEST(Output, a_minus_is_stdout_and_text_goes_to_stderr) {
  const TemporaryFolder folder;
  const Finished answers = run_lumen({"debug", "--case", "mul", "--json", "-"}, folder.path());
  EXPECT_EQ(answers.status, 0) << answers.err;
  EXPECT_EQ(nlohmann::json::parse(answers.out)["graph"], "mul");
  EXPECT_TRUE(answers.err.starts_with("mul\n")) << answers.err;
  const Finished dump = run_lumen({"debug", "--case", "mul", "--dump-egraph", "-"}, folder.path());
  EXPECT_TRUE(nlohmann::json::parse(dump.out).contains("nodes"));
  const Finished page = run_lumen({"egg", example("math.egg"), "--html", "-"}, folder.path());
  EXPECT_TRUE(page.out.starts_with("<!DOCTYPE html>")) << page.out.substr(0, 80);
  EXPECT_EQ(page.err, "(Var \"a\")\n");
  const Finished explained = run_lumen({"explain", example("softmax.hlir"), "--no-measure", "-o", "-"}, folder.path());
  EXPECT_EQ(explained.status, 0) << explained.err;
  EXPECT_TRUE(explained.out.starts_with("<!DOCTYPE html>")) << explained.out.substr(0, 80);
  EXPECT_EQ(folder.count(), 0u);
}

}  // namespace
}  // namespace lumen::tests
