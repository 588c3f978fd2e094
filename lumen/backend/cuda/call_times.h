// How long the calls of a program took, of when its launches ended: kernels begin before those before them have ended,
// so every instant belongs to the launch that ends next, and all add up to the whole run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lumen/backend/executable.h"

namespace lumen::cuda {

// Neighbouring calls that are one launch, or a single one.
struct Launched {
  size_t first = 0, count = 1;
  double end = 0;  // seconds after the start of the run
};

// The ends of launches of what calls have noted, in nanoseconds of the GPU's clock (0: nothing); the run began at
// `start`.
void find_ends(std::span<const uint64_t> noted, uint64_t start, std::span<Launched> launched);

// Puts start, from `start` on, and seconds into the times of the calls. Calls of one launch have one after the other
// what is theirs by the bytes that they read and write.
void divide_time(std::span<const Launched> launched, double start, std::span<CallTime> times);

}  // namespace lumen::cuda
