// `lumen fusion`: what fusing gains, over shapes and in whole models.
#pragma once

#include <cstdint>
#include <string>

#include "tools/language.h"

namespace lumen::tools {

struct FusionProfileArguments {
  std::string patterns;  // NAME,…; empty: all
  std::string dtype = "f32";
  std::string shapes;          // 1x512x4096,…; empty: the grid
  int64_t most_mb = 256;       // of inputs and outputs; larger shapes are left out
  int64_t most_tokens = 8192;  // of the grid's prompts; a power of two
  int64_t trials = 9;          // of which a time is the median
  bool quick = false;
  std::string output = "fusion-profile.json";
};
Expected<int> profile_fusion(const FusionProfileArguments& arguments);

struct FusionBenchArguments {
  ModelArguments model;
  std::string strategies = "never,always,profile";
  int64_t runs = 0;    // of each case; 0: as many as a few seconds have
  bool quick = false;  // a few of the cases
  std::string json;
  std::string html;
};
// 1 when strategies write different texts, or `profile` loses a case to another one.
Expected<int> bench_fusion(const FusionBenchArguments& arguments);

}  // namespace lumen::tools
