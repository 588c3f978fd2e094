// Waves: calls of a program that can run at once, next to each other.
//
// On a GPU a small kernel takes as long as the way to it and back; kernels that do not need each other are then one
// launch (codegen/cuda_together.h). What a wave reads and writes is apart in memory.
#pragma once

#include <functional>
#include <string>

#include "lumen/backend/program.h"

namespace lumen {

// Kernels of one kind may be in one wave; those of the kind "" are alone.
using WaveKind = std::function<std::string(const ProgramKernel&)>;

// The program with its calls in another order, in waves of at most `most` calls, and its memory planned anew. The order
// depends on the program alone: what leads to the longest chain of calls is first.
Expected<Program> in_waves(Program program, const WaveKind& kind_of, size_t most);

// The calls of each wave; part of the program.
std::vector<std::span<const ProgramCall>> waves_of(const Program& program);

}  // namespace lumen
