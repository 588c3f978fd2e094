// The C text of the kernels that limits.h measures with.
#pragma once

#include <cstdint>

namespace lumen::bench {

// `copy` moves `bytes`, a multiple of 256, in one of kCopyWays ways; `multiply` does kChains multiply-adds of vectors
// each time, over kept[0] and kept[1], and gives the lanes of a vector.
extern const char* const kVectorKernels;
using CopyFunction = void(char* to, const char* from, int64_t bytes, int64_t times, int way);
using MultiplyFunction = int(int64_t times, float* kept);
inline constexpr int kCopyWays = 3;
inline constexpr int kChains = 12;

// `tiles` multiplies kTileProducts pairs of full tiles each time.
extern const char* const kTileKernel;
using TilesFunction = void(int64_t times, int i8);
inline constexpr int kTileProducts = 4;

}  // namespace lumen::bench
