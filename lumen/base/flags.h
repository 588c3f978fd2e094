// Every LUMEN_* environment variable, in one table; the only place that reads the environment.
//
// A variable that starts with LUMEN_ and is not in the table is an error, as is a value of the wrong form.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lumen/base/expected.h"

namespace lumen {

// One member per row of the table in flags.cpp, with its default.
struct Flags {
  std::string backend;         // LUMEN_BACKEND; empty for cpu
  std::string blas;            // LUMEN_BLAS; empty for the usual one
  std::string cache;           // LUMEN_CACHE; empty for ~/.cache/lumen
  int64_t cache_mb = 2048;     // LUMEN_CACHE_MB
  std::string cc;              // LUMEN_CC; empty for the first of gcc, clang, cc
  int64_t debug = 0;           // LUMEN_DEBUG
  std::string dump;            // LUMEN_DUMP; empty for none
  std::string fusion;          // LUMEN_FUSION; empty for profile
  std::string fusion_profile;  // LUMEN_FUSION_PROFILE; empty for none
  std::string overrides;       // LUMEN_OVERRIDE; empty for none
  std::string rules;           // LUMEN_RULES; empty for the built-in ones
  int64_t seed = 0;            // LUMEN_SEED
  int64_t threads = 0;         // LUMEN_THREADS; 0 for the usable cores
  std::string worker;          // LUMEN_WORKER; empty for the usual one
  // What is read of the variables that belong to everyone.
  std::string home;       // HOME
  std::string path;       // PATH
  std::string cuda_home;  // CUDA_HOME

  // What LUMEN_CACHE comes to: a folder, or empty for none (because it says so, or there is no home).
  std::string cache_folder() const;
};

// From "NAME=value" strings; those that are neither LUMEN_* nor one of the last three are ignored.
Expected<Flags> parse_flags(std::span<const std::string> environment);

// Those of this process, read at the first call; throws Error when they are wrong.
const Flags& flags();

// docs/flags.md: the table, for people.
std::string flags_markdown();

}  // namespace lumen
