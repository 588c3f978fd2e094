#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace lumen::tests {

namespace {

constexpr const char* kRunGraph =
    "lumen 1\n"
    "dim n 1..100\n"
    "%x = Input() :name \"x\" :shape [n,2]\n"
    "%w = Input() :name \"w\" :kind weight :shape [n,2]\n"
    "%k = Input() :name \"k\" :dtype i32 :shape [n]\n"
    "%y = Add(%x, %w)\n"
    "output \"y\" = %y\n"
    "output \"k\" = %k\n";

class RunTest : public ::testing::Test {
 protected:
  Finished run(std::vector<std::string> arguments, const std::vector<std::string>& variables = {}) const {
    arguments.insert(arguments.begin(), {"run", "g.hlir"});
    return run_lumen(arguments, folder_.path(), "", variables);
  }
  void SetUp() override { folder_.write("g.hlir", kRunGraph); }

  TemporaryFolder folder_;
};

}  // namespace

TEST_F(RunTest, DiffFindsOneChangedValue) {
  ASSERT_EQ(run({"--dim", "n=5", "--outputs", "a.safetensors", "--seed", "1"}).status, 0);
  std::string bytes = folder_.read("a.safetensors");
  bytes[bytes.size() - 1] = '\x7f';  // the exponent of the last f32: huge, or NaN
  folder_.write("b.safetensors", bytes);
  const Finished same = run({"--dim", "n=5", "--seed", "1", "--diff", "a.safetensors"});
  EXPECT_EQ(same.status, 0) << same.out;
  EXPECT_NE(same.out.find("y: f32[5,2], equal\n"), std::string::npos) << same.out;
  EXPECT_NE(same.out.find("0 of 10 values (0%) beyond 1e-06 + 1e-05*|expected|"), std::string::npos) << same.out;
  const Finished other = run({"--dim", "n=5", "--seed", "1", "--diff", "b.safetensors"});
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(other.out.find("y: f32[5,2], DIFFERENT\n"), std::string::npos) << other.out;
  EXPECT_NE(other.out.find("1 of 10 values (10%)"), std::string::npos) << other.out;
  EXPECT_NE(other.out.find("worst at [4,1]"), std::string::npos) << other.out;
}

TEST_F(RunTest, DiffSeesAnotherSeed) {
  ASSERT_EQ(run({"--seed", "1", "--output", "y=y.npy"}).status, 0);
  EXPECT_EQ(run({"--seed", "2", "--diff", "y=y.npy"}).status, 1);
  EXPECT_EQ(run({"--seed", "1", "--diff", "y=y.npy"}).status, 0);
  EXPECT_EQ(run({"--seed", "2", "--diff", "y=y.npy", "--atol", "100"}).status, 0);
}

TEST_F(RunTest, TheSeedComesFromTheOptionThenTheVariable) {
  const Finished option = run({"--seed", "4"}, {"LUMEN_SEED=5"});
  EXPECT_EQ(option.err, "dim n = 7 (--dim sets it)\nseed 4 (--seed sets it)\n");
  const Finished variable = run({}, {"LUMEN_SEED=4"});
  EXPECT_EQ(variable.err, option.err);
  EXPECT_EQ(variable.out, option.out);
  EXPECT_NE(run({}).out, option.out);
}

TEST_F(RunTest, FilesGiveDimsAndValues) {
  ASSERT_EQ(run({"--dim", "n=3", "--output", "k=k.npy", "--range", "k=40..42"}).status, 0);
  const Finished again = run({"--input", "k=k.npy", "--output", "k=k2.npy"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.err, "seed 0 (--seed sets it)\n");  // n came from the file
  EXPECT_EQ(folder_.read("k2.npy"), folder_.read("k.npy"));
  EXPECT_NE(again.out.find("y: f32[3,2]\n"), std::string::npos) << again.out;
}

TEST_F(RunTest, RangesHold) {
  const Finished run_ints = run({"--dim", "n=100", "--range", "k=-3..-1", "--range", "x=5..6", "--range", "w=0..0"});
  ASSERT_EQ(run_ints.status, 0) << run_ints.err;
  EXPECT_NE(run_ints.out.find("min -3, max -1"), std::string::npos) << run_ints.out;
  EXPECT_NE(run_ints.out.find("min 5."), std::string::npos) << run_ints.out;
}

TEST_F(RunTest, UnknownTensorsOfAFileAreNoted) {
  ASSERT_EQ(run({"--outputs", "a.safetensors"}).status, 0);
  const Finished noted = run({"--inputs", "a.safetensors"});
  EXPECT_EQ(noted.status, 0) << noted.err;
  EXPECT_EQ(noted.err, "a.safetensors: not inputs, ignored: y\nseed 0 (--seed sets it)\n");
}

TEST_F(RunTest, NothingIsWrittenWhenTheRunFails) {
  const size_t before = folder_.count();
  EXPECT_EQ(run({"--output", "y=y.npy", "--output", "k=nowhere/k.npy"}).status, 1);
  EXPECT_EQ(run({"--output", "y=y.npy", "--dim", "n=101"}).status, 1);
  EXPECT_EQ(folder_.count(), before);
}

TEST_F(RunTest, OutputsAreSummarised) {
  folder_.write("g.hlir",
                "lumen 1\n%a = Iota() :shape [3,4] :value 4*i0 + i1 :dtype i64\noutput \"a\" = %a\n"
                "%b = Constant() :value f32(nan)\noutput \"b\" = %b\n"
                "%c = Constant() :value bool(true)\noutput \"c\" = %c\n");
  const Finished shown = run({});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(shown.err, "");
  EXPECT_EQ(shown.out,
            "a: i64[3,4]\n  0, 1, 2, 3, 4, 5, 6, 7, … (12 values)\n  min 0, max 11, mean 5.5, 0 NaN, 0 infinite\n"
            "b: f32[]\n  nan\n  all NaN\n"
            "c: bool[]\n  true\n  min 1, max 1, mean 1, 0 NaN, 0 infinite\n");
}

}  // namespace lumen::tests
