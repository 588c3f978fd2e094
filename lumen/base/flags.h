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
  int64_t debug = 0;  // LUMEN_DEBUG
  int64_t seed = 0;   // LUMEN_SEED
  std::string cache;  // LUMEN_CACHE; empty only where neither it nor XDG_CACHE_HOME nor HOME is set
};

// From "NAME=value" strings; of those that do not start with LUMEN_ only XDG_CACHE_HOME and HOME are read, which say
// where caches are when LUMEN_CACHE does not.
Expected<Flags> parse_flags(std::span<const std::string> environment);

// Those of this process, read at the first call; throws Error when they are wrong.
const Flags& flags();

// docs/flags.md: the table, for people.
std::string flags_markdown();

}  // namespace lumen
