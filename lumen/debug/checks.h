// Looking for what is wrong, without being told where.
#pragma once

#include <string>
#include <vector>

#include "lumen/debug/lowering.h"

namespace lumen::debug {

struct Finding {
  std::string check;    // "missing-kernel", "dtype", "shape"
  std::string var;      // "%3", "#17", or empty
  std::string message;  // names the op, and the rule, fact or kind of kernel to blame
};

// `what` is one of the checks, or all.
//   missing-kernel   values that no kind of kernel computes: they are interpreted
//   dtype, shape     values whose type is not known, terms of another type than what they are equal to, and terms that
//                    their op refuses, with the rule that made them
//   facts            both of these: the fact type_of has both
// Findings that follow from another one (the type of what reads a value without type) are left out.
Expected<std::vector<Finding>> check(Inspection& inspection, const Expected<Lowering>& lowering, std::string_view what);

}  // namespace lumen::debug
