#include "lumen/backend/cpu/cpu_features.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "lumen/base/cpu_share.h"
#include "tests/support/scratch_dir.h"

namespace lumen::cpu {

using lumen::tests::ScratchDir;
namespace {

namespace fs = std::filesystem;

TEST(CpuFeatures, as_if_never_goes_up) {
  CpuFeatures small;
  small.avx2 = true;
  small.level = Level::avx2;
  const auto up = small.as_if(Level::amx);
  ASSERT_FALSE(up.ok());
  EXPECT_EQ(up.diag().str(), "[cpu] this processor has level avx2, not amx");
  EXPECT_FALSE(small.as_if(Level::avx512).ok());
  EXPECT_EQ(small.as_if(Level::avx2)->fingerprint(), small.fingerprint());
}

TEST(CpuFeatures, as_if_drops_what_is_above) {
  CpuFeatures full;
  full.avx2 = full.avx512 = full.avx512_bf16 = full.avx512_fp16 = full.avx512_vnni = true;
  full.amx_tile = full.amx_bf16 = full.amx_int8 = true;
  full.level = Level::amx;
  const CpuFeatures wide = full.as_if(Level::avx512).value();
  EXPECT_TRUE(wide.avx2 && wide.avx512 && wide.avx512_bf16 && wide.avx512_fp16 && wide.avx512_vnni);
  EXPECT_FALSE(wide.amx_tile || wide.amx_bf16 || wide.amx_int8);
  EXPECT_FALSE(wide.as_if(Level::amx).ok());
  const CpuFeatures middle = full.as_if(Level::avx2).value();
  EXPECT_TRUE(middle.avx2);
  EXPECT_FALSE(middle.avx512 || middle.avx512_bf16 || middle.avx512_fp16 || middle.avx512_vnni || middle.amx_tile);
  const CpuFeatures none = full.as_if(Level::generic).value();
  EXPECT_FALSE(none.avx2 || none.avx512 || none.amx_bf16);
  EXPECT_EQ(none.level, Level::generic);
}

TEST(CpuFeatures, fingerprint_names_hardware_and_not_the_share_of_it) {
  CpuFeatures f;
  f.vendor = "GenuineIntel";
  f.family = 6;
  f.model_number = 207;
  f.stepping = 2;
  f.avx2 = f.avx512 = f.avx512_vnni = true;
  f.level = Level::avx512;
  f.l1d_bytes = 48 << 10;
  f.l2_bytes = 2 << 20;
  f.l3_bytes = 300 << 20;
  EXPECT_EQ(f.fingerprint(), "GenuineIntel-6.207.2-avx512+vnni-l1d48k-l2.2048k-l3.307200k");
  CpuFeatures fewer = f;
  fewer.cores = 77;
  EXPECT_EQ(fewer.fingerprint(), f.fingerprint());
  fewer.l2_bytes = 1 << 20;
  EXPECT_NE(fewer.fingerprint(), f.fingerprint());
  EXPECT_NE(f.as_if(Level::avx2)->fingerprint(), f.fingerprint());
  EXPECT_EQ(CpuFeatures().fingerprint(), "unknown-0.0.0-generic-l1d0k-l2.0k-l3.0k");
}

// The words of /proc/cpuinfo are another program's opinion about the same processor.
TEST(CpuFeatures, agree_with_the_kernel) {
  std::ifstream file("/proc/cpuinfo");
  std::string line, flags, model;
  while (std::getline(file, line)) {
    if (line.starts_with("flags") && flags.empty()) flags = line.substr(line.find(':') + 1) + " ";
    if (line.starts_with("model name") && model.empty()) model = line.substr(line.find(':') + 2);
  }
  if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo lists no x86 flags";
  const auto has = [&](const std::string& word) { return flags.find(" " + word + " ") != std::string::npos; };
  const CpuFeatures& f = cpu();
  EXPECT_EQ(f.model, model);
  EXPECT_EQ(f.avx2, has("avx2") && has("fma") && has("f16c"));
  EXPECT_EQ(f.avx512, has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"));
  EXPECT_EQ(f.avx512_bf16, has("avx512_bf16"));
  EXPECT_EQ(f.avx512_fp16, has("avx512_fp16"));
  EXPECT_EQ(f.avx512_vnni, has("avx512_vnni"));
  EXPECT_TRUE(!f.amx_bf16 || (has("amx_bf16") && has("amx_tile")));
  EXPECT_EQ(f.level == Level::amx, f.avx512 && f.amx_tile && f.amx_bf16 && f.amx_int8);
}

#if defined(__aarch64__)
TEST(CpuFeatures, have_the_extras_that_the_kernel_lists) {
  std::ifstream file("/proc/cpuinfo");
  std::string features;
  for (std::string line; std::getline(file, line) && features.empty();) {
    if (line.starts_with("Features")) features = line + " ";
  }
  ASSERT_FALSE(features.empty());
  EXPECT_EQ(cpu().dotprod, features.find(" asimddp ") != std::string::npos);
  EXPECT_FALSE(cpu().as_if(Level::generic)->dotprod);
}

TEST(CpuFeatures, name_the_part_that_the_kernel_names) {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, int> words;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with("CPU ") || colon == std::string::npos) continue;
    words[line.substr(4, line.find_last_not_of(" \t", colon - 1) - 3)] = std::stoi(line.substr(colon + 1), nullptr, 0);
  }
  if (!words.contains("part") || cpu().vendor.empty()) GTEST_SKIP() << "the kernel does not name the processor";
  EXPECT_EQ(cpu().family, words["architecture"]);
  EXPECT_EQ(cpu().model_number, words["part"]);
  EXPECT_EQ(cpu().stepping, words["variant"] * 16 + words["revision"]);
  EXPECT_EQ(cpu().vendor == "ARM", words["implementer"] == 0x41);
}
#endif

#if defined(__x86_64__)
// With the permission granted, a tile instruction does not kill the process.
TEST(CpuFeatures, tiles_can_be_used_where_they_are_announced) {
  if (!cpu().amx_tile) GTEST_SKIP() << "no AMX on this machine";
  alignas(64) uint8_t config[64] = {1};  // palette 1
  config[16] = 64;                       // tile 0: 64 bytes a row
  config[48] = 1;                        // one row
  alignas(64) uint8_t row[64] = {};
  for (int k = 0; k < 64; ++k) row[k] = static_cast<uint8_t>(k * 3 + 1);
  alignas(64) uint8_t out[64] = {0xee};
  asm volatile(
      "ldtilecfg %[config]\n\t"
      "tileloadd (%[row],%[stride],1), %%tmm0\n\t"
      "tilestored %%tmm0, (%[out],%[stride],1)\n\t"
      "tilerelease"
      :
      : [config] "m"(config), [row] "r"(row), [out] "r"(out), [stride] "r"(static_cast<long>(64))
      : "memory");
  EXPECT_TRUE(std::equal(row, row + 64, out));
}
#endif

TEST(CpuShare, cores_follow_the_affinity_mask) {
  const int before = usable_cores();
  EXPECT_EQ(cpu().cores, before);
  int narrowed = 0;
  std::thread([&] {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++c) {
      if (CPU_ISSET(c, &all)) CPU_SET(c, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
    narrowed = usable_cores();
  }).join();
  EXPECT_EQ(narrowed, 1);
  EXPECT_EQ(usable_cores(), before);
}

TEST(CpuShare, quota_of_both_versions) {
  const ScratchDir dir;
  const auto put = [&](const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(dir / path).parent_path());
    std::ofstream(dir / path) << text;
  };
  EXPECT_FALSE(cgroup_quota(dir.path(), "0::/\n").has_value());
  EXPECT_FALSE(cgroup_quota(dir.path(), "").has_value());
  EXPECT_FALSE(cgroup_quota(dir.path(), "garbage\n:\n::\n").has_value());
  put("a/cpu.max", "max 100000\n");
  EXPECT_FALSE(cgroup_quota(dir.path(), "0::/a\n").has_value());
  put("a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_quota(dir.path(), "0::/a/b\n"), 1.5);
  // The group around it is tighter, and a group that is not visible from here does not hide it.
  put("a/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_quota(dir.path(), "0::/a/b\n"), 0.5);
  EXPECT_EQ(cgroup_quota(dir.path(), "0::/a/unseen/deeper\n"), 0.5);
  put("cpu,cpuacct/x/cpu.cfs_quota_us", "400000\n");
  put("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_quota(dir.path(), "4:memory:/x\n3:cpu,cpuacct:/x\n"), 4.0);
  put("cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_FALSE(cgroup_quota(dir.path(), "3:cpu,cpuacct:/x\n").has_value());
  EXPECT_FALSE(cgroup_quota(dir.path(), "3:cpuset:/a\n").has_value());
}

TEST(CpuShare, caches_grow_with_their_level) {
  const int64_t l1 = cache_bytes(1), l2 = cache_bytes(2), l3 = cache_bytes(3);
  if (l1 == 0) GTEST_SKIP() << "this system does not say how large its caches are";
  EXPECT_GE(l1, 8 << 10);
  EXPECT_TRUE(l2 == 0 || l2 > l1);
  EXPECT_TRUE(l3 == 0 || l3 > l1);
  EXPECT_EQ(cache_bytes(9), 0);
}

}  // namespace
}  // namespace lumen::cpu
