#include <gtest/gtest.h>

#include <thread>

#include "lumen/base/cpu_share.h"

namespace lumen {
namespace {

TEST(Cores, a_thread_leaves_a_core_and_may_come_back) {
  bool stayed = false, left = false, alone = false;
  int before = -1, after = -1;
  std::thread([&] {
    before = current_core();
    stayed = !leave_core(-1, -1);
    if (usable_cores() < 2) {
      alone = true;
      return;
    }
    left = leave_core(before, -1);
    after = current_core();
    leave_core(after, before);
  }).join();
  if (before < 0 || alone) GTEST_SKIP() << "one core, or nobody says which";
  EXPECT_TRUE(stayed);
  EXPECT_TRUE(left);
  EXPECT_NE(after, before);
}

}  // namespace
}  // namespace lumen
