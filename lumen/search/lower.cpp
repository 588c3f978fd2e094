#include "lumen/search/lower.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "lumen/codegen/print_kernel.h"
#include "lumen/ir/text.h"
#include "lumen/search/split.h"
#include "lumen/search/stage_text.h"

namespace lumen::search {

Accepts computed_by_one_kernel(const Reads& reads, const Target& target) {
  return [&reads, target](const Group& group) {
    const Carved carved = carve(reads.graph(), reads.with_free(group), reads.results_of(group));
    return kernel_schedules(*carved.body, target).ok();
  };
}

Expected<void> Decisions::check_known(std::span<const std::string> kernels) const {
  for (const auto& [name, schedule] : schedules) {
    if (std::ranges::find(kernels, name) != kernels.end()) continue;
    return error(fmt::format("{}: no kernel is called {}; there are {}", file, name, fmt::join(kernels, ", ")));
  }
  return {};
}

namespace {

// The first that holds all of them.
std::vector<NodeId> part_with(std::span<const std::vector<NodeId>> parts, std::span<const NodeId> results) {
  for (const std::vector<NodeId>& part : parts) {
    const auto holds = [&](NodeId id) { return std::ranges::find(part, id) != part.end(); };
    if (std::ranges::all_of(results, holds)) return part;
  }
  return {};
}

// What the guide leaves open is measured.
Expected<void> find_profiled_groups(const Reads& reads, Tuner& tuner, const FusionGuide& guide, Lowered& lowered) {
  const Accepts computed = computed_by_one_kernel(reads, tuner.target());
  const auto most = static_cast<size_t>(guide.gates.max_graph_size);
  const Accepts accepts = [&](const Group& each) { return (most == 0 || each.size() <= most) && computed(each); };
  Guided guided = LUMEN_TRY(guide_groups(reads, group(reads, accepts), guide, tuner.dims()));
  lowered.groups = std::move(guided.groups);
  lowered.decisions = std::move(guided.decisions);
  return split_slow_groups(reads, tuner, lowered.groups, &lowered.cuts, guided.settled);
}

Expected<void> find_groups(const Reads& reads, FusionPolicy policy, Tuner& tuner, const FusionGuide& guide,
                           Lowered& lowered) {
  const Accepts nothing = [](const Group&) { return false; };
  switch (policy) {
    case FusionPolicy::never:
      lowered.groups = group(reads, nothing);
      return {};
    case FusionPolicy::always:
      lowered.groups = group(reads, computed_by_one_kernel(reads, tuner.target()));
      return {};
    case FusionPolicy::profile:
      return find_profiled_groups(reads, tuner, guide, lowered);
  }
  return {};
}

// The schedule that was decided for a kernel takes the place of the tuner's.
Expected<ProgramKernel> make_decided_kernel(const std::shared_ptr<const Graph>& body, const std::string& name,
                                            const std::string& tuned, const Tuner& tuner, const Decisions& decided) {
  const auto given = decided.schedules.find(name);
  if (given == decided.schedules.end()) return make_kernel(body, tuned, tuner.target());
  Expected<ProgramKernel> kernel = make_kernel(body, given->second, tuner.target());
  if (kernel.ok()) return kernel;
  return error(
      fmt::format("{}: kernel {} cannot run as `{}`: {}", decided.file, name, given->second, kernel.diag().message));
}

}  // namespace

Expected<Lowered> lower(std::shared_ptr<const Graph> graph, FusionPolicy policy, Tuner& tuner, const Decisions& decided,
                        const FusionGuide& guide) {
  const Reads reads(*graph);
  Lowered lowered;
  if (decided.groups) {
    lowered.groups = *decided.groups;
  } else {
    LUMEN_TRY(find_groups(reads, policy, tuner, guide, lowered));
  }
  const std::vector<std::vector<NodeId>> parts = reads.parts_of(lowered.groups);
  const std::vector<Carved> carved = LUMEN_TRY(carve_all(*graph, parts));
  for (const Carved& each : carved) lowered.nodes.push_back(part_with(parts, each.results));

  std::vector<std::shared_ptr<const Graph>> bodies;  // distinct
  std::map<std::string, uint32_t> numbers;           // by text
  std::vector<uint32_t> kernel_of;
  for (const Carved& each : carved) {
    const auto [found, is_new] = numbers.emplace(print(*each.body), static_cast<uint32_t>(bodies.size()));
    if (is_new) bodies.push_back(each.body);
    kernel_of.push_back(found->second);
  }
  const std::vector<Tuned> tuned = LUMEN_TRY(tuner.tune(bodies));
  std::vector<ProgramKernel> kernels;
  for (size_t k = 0; k < bodies.size(); ++k) {
    lowered.names.push_back(kernel_name(*bodies[k]));
    kernels.push_back(LUMEN_TRY(make_decided_kernel(bodies[k], lowered.names[k], tuned[k].schedule, tuner, decided)));
  }
  for (const Tuned& each : tuned) lowered.kernel_seconds.push_back(each.seconds);
  for (const uint32_t kernel : kernel_of) lowered.seconds += tuned[kernel].seconds;
  lowered.program = LUMEN_TRY(make_program(std::move(graph), carved, std::move(kernels), kernel_of));
  return lowered;
}

}  // namespace lumen::search
