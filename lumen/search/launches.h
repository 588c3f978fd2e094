// Kernels that are one launch of a device: those that are the fastest alone need not be so beside others, whose blocks
// wait for the same shared memory, or are a few more than run at a time.
#pragma once

#include <span>
#include <vector>

#include "lumen/search/lower.h"

namespace lumen::search {

// The same program with other schedules of kernels that are launched together: those that the tuner found nearly as
// fast and that need less shared memory, or fewer blocks. None where nothing was measured.
Expected<std::vector<Lowered>> with_other_launch(const Lowered& lowered, std::span<const uint32_t> together,
                                                 Tuner& tuner);

}  // namespace lumen::search
