// The text of a kernel, whatever its kind: the one way from a body to code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lumen/codegen/kernel_text.h"
#include "lumen/kernel/target.h"

namespace lumen {

// Schedules for a body, the most promising first: lines of text that print_kernel takes, and that a database keeps. An
// error says why no kind of kernel computes this body.
Expected<std::vector<std::string>> kernel_schedules(const Graph& body, const Target& target);

// `name` is what the names of its steps begin with.
Expected<KernelText> print_kernel(const Graph& body, const std::string& name, const std::string& schedule,
                                  const Target& target);

}  // namespace lumen
