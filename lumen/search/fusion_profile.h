// Fusion profiles: how long patterns of ops take as one kernel, and with a kernel for each op, over shapes. A JSON file
// that people read, edit and ship; times are milliseconds.
//
//   {"unfused": {"add+rms_norm": {"[1, 512, 4096]": 0.91}},
//    "fused": {"add+rms_norm": {"[1, 512, 4096]": 0.32}},
//    "meta": {"hardware": "…", "setting": "threads=2", "dtype": "f32", "commit": "…", "date": "…",
//             "spread": {"unfused": {…}, "fused": {…}}}}
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/ir/dtype.h"

namespace lumen::search {

// Batch, sequence, features. Other ranks are read, but looked up are shapes of this one.
using FusionShape = std::vector<int64_t>;
constexpr size_t kFusionRank = 3;
std::string shape_text(const FusionShape& shape);  // "[1, 512, 4096]"
Expected<FusionShape> parse_fusion_shape(std::string_view text);

struct FusionTimes {
  double fused = 0, unfused = 0;                // milliseconds
  double fused_spread = 0, unfused_spread = 0;  // median absolute deviations; 0 where none is known
};

struct FusionProfile {
  std::string file = {};      // it came from, for messages
  std::string hardware = {};  // a fingerprint; empty where the file has no meta block
  std::string setting = {};   // what times depend on beside it
  std::string commit = {};    // of the program that measured
  std::string date = {};
  DType dtype = DType::f32;
  std::map<std::string, std::map<FusionShape, FusionTimes>> patterns = {};
};

std::string print_fusion_profile(const FusionProfile& profile);

// Refuses what is no profile: keys that are missing or there twice, times that are not positive, shapes that one half
// lacks, and patterns that are not `known`. An error has the file and what it found there.
Expected<FusionProfile> parse_fusion_profile(std::string_view text, const std::string& file,
                                             std::span<const std::string_view> known);

// An error for a pattern that is not there, with what was meant.
Expected<void> check_pattern(std::string_view name, std::span<const std::string_view> known);

// An error unless its times hold for this hardware and setting.
Expected<void> check_hardware(const FusionProfile& profile, std::string_view hardware, std::string_view setting);

}  // namespace lumen::search
