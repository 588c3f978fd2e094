#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace lumen::tests {

// tests/error: every case is there in the output when it fails.
TEST(ErrorSnapshots, All) {
  const Finished run =
      run_program({"/usr/bin/env", "python3", std::string(LUMEN_TEST_DIR) + "/error/run.py", "--lumen", LUMEN_PROGRAM});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_NE(run.out.find(" passed, 0 failed"), std::string::npos) << run.out;
}

}  // namespace lumen::tests
