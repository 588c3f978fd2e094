// Words of kernels on a CPU that sum products lane by lane, more lanes than most processors' vectors have.
//
// gcc keeps vectors that are longer than a register in memory, so there they are registers side by side.
#pragma once

#include <string>

#include "lumen/ir/dtype.h"

namespace lumen {

// For a kernel `name` and so many lanes, 8 or 16:
//   name_part     floats of one register; `count` of name_sums' parts
//   name_sums     `lanes` floats: parts v[count]; {0} is zeros
//   name_load     name_sums (const float*), which may lie anywhere
//   name_add      name_sums (name_sums s, name_sums x, name_sums w): s + x * w
//   name_total    float (name_sums): the sum of the lanes, of halves of them for as long as these are vectors
std::string lane_words(const std::string& name, int64_t lanes);

// For 16 lanes: name_sums name_floats(from), where bf16, f16 (as uint16_t) or i8 lie.
std::string widening_words(const std::string& name, DType dtype);

}  // namespace lumen
