// Decisions of lowering as text that people edit: groups, schedules; and the plan, to be read.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/backend/program.h"
#include "lumen/search/group.h"

namespace lumen::search {

// "k" and a hash of the body's text: the same in every run.
std::string kernel_name(const Graph& body);

// A line for each group, "k3f…: %3 %4"; values as print() numbers those of the graph.
std::string print_groups(const Reads& reads, std::span<const Group> groups);
// Every value that computes must be in one group; an error has `file` and the line.
Expected<std::vector<Group>> parse_groups(std::string_view text, const Reads& reads, std::string_view file);

// A line for each kernel, "k3f…: fold"; "interpreted" for none.
using Schedules = std::map<std::string, std::string>;  // by kernel_name; "" interprets
std::string print_schedules(std::span<const std::string> names, std::span<const ProgramKernel> kernels);
Expected<Schedules> parse_schedules(std::string_view text, std::string_view file);

// The calls in order, with what they read and give and where that lives.
std::string print_plan(const Program& program, std::span<const std::string> names);

}  // namespace lumen::search
