#include <gtest/gtest.h>

#include "tests/support/source_dir.h"
#include "tests/tools/program.h"

namespace lumen::tests {

// tests/error: every case is there in the output when it fails.
TEST(ErrorSnapshots, All) {
  const Finished run =
      run_program({"/usr/bin/env", "python3", source_dir() / "tests/error/run.py", "--lumen", lumen_program()});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_NE(run.out.find(" passed, 0 failed"), std::string::npos) << run.out;
}

}  // namespace lumen::tests
