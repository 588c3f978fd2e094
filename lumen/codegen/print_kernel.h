// The text of a kernel, whatever its kind: the one way from a body to code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/codegen/kernel_text.h"
#include "lumen/kernel/target.h"

namespace lumen {

// Schedules for a body, the most promising first: lines of text that print_kernel takes, and that a database keeps. An
// error says why no kind of kernel computes this body.
Expected<std::vector<std::string>> kernel_schedules(const Graph& body, const Target& target);

// What kinds of kernels there are, as --without-kernel and reports call them.
std::span<const std::string_view> kernel_kinds();
// The kind of a schedule that kernel_schedules gave.
std::string_view kernel_kind(const std::string& schedule);

// `name` is what the names of its steps begin with.
Expected<KernelText> print_kernel(const Graph& body, const std::string& name, const std::string& schedule,
                                  const Target& target);

}  // namespace lumen
