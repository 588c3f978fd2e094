#include "lumen/search/measuring_lock.h"

#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/search/rig.h"

namespace lumen::search::tests {
namespace {

// A child that takes the lock and says so, then holds it for a while.
pid_t start_holder(const Folder& folder, std::chrono::milliseconds held) {
  const pid_t child = in_child([&] {
    const MeasuringLock lock(folder.file("t.db"));
    folder.write("taken", "");
    std::this_thread::sleep_for(held);
    folder.write("done", "");
    return true;
  });
  while (folder.count("taken") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return child;
}

TEST(MeasuringLock, is_waited_for) {
  const Folder folder;
  const pid_t child = start_holder(folder, std::chrono::milliseconds(300));
  {
    const MeasuringLock lock(folder.file("t.db"));
    EXPECT_EQ(folder.count("done"), 1);
  }
  EXPECT_EQ(wait_for(child), 0);
}

TEST(MeasuringLock, ends_with_its_process) {
  const Folder folder;
  const pid_t child = start_holder(folder, std::chrono::hours(1));
  kill(child, SIGKILL);
  wait_for(child);
  const MeasuringLock lock(folder.file("t.db"));  // or the test would run into its time limit
  EXPECT_EQ(folder.count("done"), 0);
}

TEST(MeasuringLock, is_none_where_no_file_can_be) {
  const Folder folder;
  const MeasuringLock first(folder.file("no/such/folder/t.db")), second(folder.file("no/such/folder/t.db"));
  const MeasuringLock third(kMemory), fourth(kMemory);
  EXPECT_EQ(folder.count(""), 0);
}

}  // namespace
}  // namespace lumen::search::tests
