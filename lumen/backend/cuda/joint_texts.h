// Calls that are one launch on a GPU, and the texts of those launches.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lumen/backend/program.h"

namespace lumen::cuda {

// The program in waves (backend/waves.h) of kernels that gain by being one launch.
Expected<Program> in_joint_waves(Program program);

// The distinct kernels of each launch of several, for a program in any order.
std::vector<std::vector<uint32_t>> joint_kernels(const Program& program);

// Adds the texts of launches of several kernels, by name.
void add_joint_texts(const Program& program, std::map<std::string, std::string>& texts);

}  // namespace lumen::cuda
