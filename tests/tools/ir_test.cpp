#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace lumen::tests {

namespace {

constexpr const char* kByHand =
    "lumen 1  # by hand\ndim n 1..9\n%x = Input() :name \"x\" :shape [n]\n%y = Exp2(%x)\noutput \"y\" = %y\n";
constexpr const char* kCanonical =
    "lumen 1\n"
    "dim n 1..9\n"
    "%0 = Input() :name \"x\" :kind data :dtype f32 :shape [n] -> f32[n]\n"
    "%1 = Exp2(%0) -> f32[n]\n"
    "output \"y\" = %1\n";

}  // namespace

TEST(Ir, FormatInPlaceKeepsAWrongFile) {
  const TemporaryFolder folder;
  folder.write("a.hlir", "lumen 1\n%x = Nothing()\n");
  EXPECT_EQ(run_lumen({"ir", "fmt", "-i", "a.hlir"}, folder.path()).status, 1);
  EXPECT_EQ(folder.read("a.hlir"), "lumen 1\n%x = Nothing()\n");
}

TEST(Ir, FormatInPlace) {
  const TemporaryFolder folder;
  folder.write("a.hlir", kByHand);
  const Finished run = run_lumen({"ir", "fmt", "-i", "a.hlir"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(folder.read("a.hlir"), kCanonical);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(Ir, FormatFromStdin) { EXPECT_EQ(run_lumen({"ir", "fmt", "-"}, ".", kByHand).out, kCanonical); }

TEST(Ir, Check) {
  const Finished run = run_lumen({"ir", "check", "-"}, ".", kByHand);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out.rfind("-: ok, 2 nodes, 1 input, 1 output, 1 dim, hash ", 0), 0U) << run.out;
  EXPECT_EQ(run.out, run_lumen({"ir", "check", "-"}, ".", kCanonical).out);
}

TEST(Ir, Dot) {
  const Finished run = run_lumen({"ir", "dot", "-"}, ".", kByHand);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out.rfind("digraph", 0), 0U) << run.out;
  EXPECT_NE(run.out.find("Exp2"), std::string::npos);
}

}  // namespace lumen::tests
