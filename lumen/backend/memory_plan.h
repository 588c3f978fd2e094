// Where values live between the calls that make and read them.
//
// A slot is a piece of one arena. Values whose lives do not meet share slots; which ones is decided once, for all sizes
// of the symbolic dims, so that new dims cost one pass over the sizes and no search:
//
//   call 0 makes a (400 bytes)      a: slot 0     slot 0 is as large as a and c together need: max(400, 300)
//   call 1 reads a, makes b (40)    b: slot 1
//   call 2 reads b, makes c (300)   c: slot 0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen {

// A value is alive from the call that makes it to the last one that reads it, both included: no call writes what it
// reads.
struct Lifetime {
  int64_t first = 0;
  int64_t last = 0;
  int64_t bytes = 0;  // about; a hint for which values share
};

struct MemoryPlan {
  std::vector<uint32_t> slots;  // by value
  uint32_t count = 0;           // of slots

  // Offsets of the slots for the values' true sizes, and behind the last one the size of the arena. Each is a multiple
  // of `align`.
  std::vector<int64_t> offsets(std::span<const int64_t> bytes, int64_t align) const;
};

MemoryPlan plan_memory(std::span<const Lifetime> values);

// Whether no two values that are alive at once share a slot; an error names two that do. Shares no code with
// plan_memory.
Expected<void> check_plan(const MemoryPlan& plan, std::span<const Lifetime> values);

}  // namespace lumen
