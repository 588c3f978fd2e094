// What a processor offers to generated code.
#pragma once

#include "lumen/backend/cpu/cpu_features.h"
#include "lumen/kernel/target.h"

namespace lumen::cpu {

Target target_of(const CpuFeatures& features);

}  // namespace lumen::cpu
