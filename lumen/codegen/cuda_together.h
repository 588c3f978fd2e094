// Kernels for a GPU that are one launch: some blocks run one, some another.
//
// The launch's argument is, in 64-bit words: for each part the number of the first block that is not its own, then the
// LumenArgs of each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lumen/codegen/kernel_text.h"

namespace lumen {

// Kernels of one kind, which is a word for their schedules and the threads of a block, gain by being one launch; those
// of the kind "" may not be one. All steps of theirs but the last are only copies.
std::string joint_kind(std::string_view schedule, std::span<const KernelStep> steps);

struct JointStep {
  std::string name;
  int threads = 0;     // of a block
  int64_t shared = 0;  // bytes
};

// The launch of the last steps of these kernels.
JointStep joint_step(std::span<const KernelStep* const> parts);
// Its function, of the texts that have those of the parts.
std::string print_joint(std::span<const KernelStep* const> parts, std::span<const std::string* const> texts);

}  // namespace lumen
