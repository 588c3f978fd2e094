// Decisions of lowering as text that people edit: groups, schedules, the memory plan.
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

// A line for each group, "k3f…: %3 %4"; values as print() numbers those of the graph. What is left to readers is in a
// line "readers: %1 %2".
std::string print_groups(const Reads& reads, std::span<const Group> groups);
// Every value that computes must be in one group, or left to its readers; an error has `file` and the line.
struct ParsedGroups {
  std::vector<Group> groups;
  std::vector<NodeId> left;
};
Expected<ParsedGroups> parse_groups(std::string_view text, const Reads& reads, std::string_view file);

// A line for each kernel, "k3f…: fold"; "interpreted" for none.
using Schedules = std::map<std::string, std::string>;  // by kernel_name; "" interprets
std::string print_schedules(std::span<const std::string> names, std::span<const ProgramKernel> kernels);
Expected<Schedules> parse_schedules(std::string_view text, std::string_view file);

// The calls in order, as comments, and where what they make and their scratch live: "v7: slot 0", "scratch3: slot 1".
std::string print_plan(const Program& program, std::span<const std::string> names);
// A plan that puts every one of these somewhere; whether it can be is for check_memory to say.
Expected<MemoryPlan> parse_plan(std::string_view text, const Program& program, std::string_view file);

}  // namespace lumen::search
