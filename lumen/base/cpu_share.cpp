#include "lumen/base/cpu_share.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace lumen {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Version 2 writes "quota period" in one file, version 1 two files; "max" and -1 mean that there is none.
std::optional<double> quota_of(const std::string& folder) {
  double quota = 0, period = 0;
  std::istringstream both(read_text(folder + "/cpu.max"));
  if (!(both >> quota >> period)) {
    std::istringstream first(read_text(folder + "/cpu.cfs_quota_us"));
    std::istringstream second(read_text(folder + "/cpu.cfs_period_us"));
    if (!(first >> quota) || !(second >> period)) return {};
  }
  if (quota <= 0 || period <= 0) return {};
  return quota / period;
}

// Where the controllers of a line of /proc/self/cgroup are mounted; none for one that does not limit processor time.
std::vector<std::string> mounts(const std::string& root, std::string_view controllers) {
  if (controllers.empty()) return {root, root + "/unified"};
  const std::string listed = "," + std::string(controllers) + ",";
  if (listed.find(",cpu,") == std::string::npos) return {};
  return {root + "/" + std::string(controllers), root + "/cpu"};
}

int affinity_cores() {
#if defined(__linux__)
  // The kernel's mask may be longer than the usual 1024 bits; it says EINVAL until ours is long enough.
  for (int bits = 1024; bits <= 1 << 20; bits *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(bits));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(bits));
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

std::optional<double> cgroup_quota(const std::string& root, std::string_view memberships) {
  std::optional<double> least;
  std::istringstream lines{std::string(memberships)};
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    for (const std::string& mount : mounts(root, std::string_view(line).substr(first + 1, second - first - 1))) {
      // In a container the path may name a group that only the host sees; the groups around it still count.
      for (std::string group = line.substr(second + 1);; group.resize(group.rfind('/'))) {
        if (const auto quota = quota_of(mount + group)) least = std::min(least.value_or(*quota), *quota);
        if (group.rfind('/') == std::string::npos) break;
      }
    }
  }
  return least;
}

int current_core() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

bool leave_core([[maybe_unused]] int core, [[maybe_unused]] int again) {
#if defined(__linux__)
  cpu_set_t set;  // of 1024 cores; a machine with more refuses
  if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set) != 0) return false;
  if (again >= 0) CPU_SET(again, &set);
  CPU_CLR(core, &set);
  return CPU_COUNT(&set) > 0 && sched_setaffinity(0, sizeof set, &set) == 0;
#else
  return false;
#endif
}

int usable_cores() {
  const int cores = affinity_cores();
  const auto quota = cgroup_quota("/sys/fs/cgroup", read_text("/proc/self/cgroup"));
  if (!quota || *quota >= cores) return cores;
  return std::max(1, static_cast<int>(std::ceil(*quota)));
}

int64_t cache_bytes(int level) {
  for (int index = 0; index < 16; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", index);
    std::istringstream size(read_text(folder + "/size"));
    int64_t amount = 0;
    char unit = 'B';
    if (!(size >> amount)) break;
    size >> unit;
    const std::string type = read_text(folder + "/type");
    if (read_text(folder + "/level") != fmt::format("{}\n", level) || type == "Instruction\n") continue;
    return unit == 'M' ? amount << 20 : unit == 'K' ? amount << 10 : amount;
  }
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  if (level >= 1 && level <= 3) return std::max<int64_t>(0, sysconf(names[level - 1]));
#endif
  return 0;
}

}  // namespace lumen
