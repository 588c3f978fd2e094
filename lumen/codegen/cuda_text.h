// Words of CUDA kernels that are single instructions (wide loads, asynchronous copies, matrix products), each with a
// twin in plain C++ for the emulator (tests/codegen/cuda_words.h); and what a block's threads do together.
#pragma once

#include <string>

namespace lumen::cuda_text {

extern const char* const kMemory;  // vectors of 16 bytes, what is in them, copies that run on
extern const char* const kMatrix;  // 16 x 8 x 16 products of a warp
extern const char* const kSort;    // lines that a block sorts in its shared memory
// Products of four warps, which describe tiles of shared memory: on Hopper only.
std::string group_words();

}  // namespace lumen::cuda_text
