#include "lumen/search/lower.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "lumen/codegen/print_kernel.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/title.h"
#include "lumen/search/row_sums.h"
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

// Groups of as many ops as the gate lets through; what it held back is logged, each time the largest.
std::vector<Group> groups_within(const Reads& reads, const Accepts& computed, size_t most,
                                 std::vector<FusionDecision>& decisions) {
  if (most == 0) return group(reads, computed);
  std::vector<Group> refused;
  std::vector<Group> groups = group(reads, [&](const Group& each) {
    if (!computed(each)) return false;
    if (each.size() > most) refused.push_back(each);
    return each.size() <= most;
  });
  const auto is_part = [](const Group& part, const Group& of) {
    return part.size() < of.size() &&
           std::ranges::all_of(part, [&](NodeId id) { return std::ranges::find(of, id) != of.end(); });
  };
  for (const Group& each : std::set<Group>(refused.begin(), refused.end())) {
    if (std::ranges::any_of(refused, [&](const Group& other) { return is_part(each, other); })) continue;
    const Carved carved = carve(reads.graph(), reads.with_free(each), reads.results_of(each));
    decisions.push_back({.what = kernel_title(*carved.body),
                         .source = "gate",
                         .note = fmt::format("{} ops, more than max_graph_size={}", each.size(), most)});
  }
  return groups;
}

// What the guide leaves open is measured; about what cuts have left it is asked again.
Expected<void> find_profiled_groups(const Reads& reads, Tuner& tuner, const FusionGuide& guide, Lowered& lowered) {
  const std::vector<Group> fused = groups_within(reads, computed_by_one_kernel(reads, tuner.target()),
                                                 static_cast<size_t>(guide.gates.max_graph_size), lowered.decisions);
  Guided whole = LUMEN_TRY(guide_groups(reads, fused, guide, tuner.dims()));
  std::vector<Group> groups = whole.groups;
  Tries tries = LUMEN_TRY(split_slow_groups(reads, tuner, groups, whole.settled));
  const auto known = std::stable_partition(groups.begin(), groups.end(), [&](const Group& each) {
    return std::ranges::find(whole.groups, each) != whole.groups.end();
  });
  Guided parts = LUMEN_TRY(guide_groups(reads, {known, groups.end()}, guide, tuner.dims()));
  groups.erase(known, groups.end());
  std::ranges::move(parts.groups, std::back_inserter(groups));
  lowered.groups = std::move(groups);
  lowered.cuts = std::move(tries.cuts);
  for (std::vector<FusionDecision>* some : {&whole.decisions, &parts.decisions}) {
    std::ranges::move(*some, std::back_inserter(lowered.decisions));
  }
  std::ranges::move(decisions_of(tries.whole), std::back_inserter(lowered.decisions));
  return {};
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

// What the kernels of all groups take together.
Expected<double> seconds_of(const Reads& reads, std::span<const Group> groups, Tuner& tuner) {
  std::vector<std::shared_ptr<const Graph>> bodies;
  for (const Carved& each : LUMEN_TRY(carve_all(reads.graph(), reads.parts_of(groups)))) bodies.push_back(each.body);
  double seconds = 0;
  for (const Tuned& each : LUMEN_TRY(tuner.tune(bodies))) seconds += each.seconds;
  return seconds;
}

// Leaves norms of rows to their readers, besides those that are left already, where kernels can have them and, if that
// is asked, are faster with them. Whether it did.
Expected<bool> leave_norm(const Graph& graph, const std::vector<NodeId>& norm, FusionPolicy policy, Tuner& tuner,
                          const FusionGuide& guide, Lowered& lowered) {
  Lowered other;
  other.left = lowered.left;
  other.left.insert(other.left.end(), norm.begin(), norm.end());
  const Reads before(graph, lowered.left), reads(graph, other.left);
  LUMEN_TRY(find_groups(reads, policy, tuner, guide, other));
  if (!serve_row_norms(reads, other.groups, computed_by_one_kernel(reads, tuner.target()))) return false;
  if (policy == FusionPolicy::profile &&
      LUMEN_TRY(seconds_of(reads, other.groups, tuner)) >= LUMEN_TRY(seconds_of(before, lowered.groups, tuner))) {
    return false;
  }
  lowered = std::move(other);
  return true;
}

// All that kernels can have are tried together, as each try is measured; then one by one, if they are few.
Expected<void> leave_norms(const Graph& graph, FusionPolicy policy, Tuner& tuner, const FusionGuide& guide,
                           Lowered& lowered) {
  constexpr size_t kMostTried = 8;
  if (!tuner.target().cuda) return {};  // only kernels of a GPU sum rows
  std::vector<std::vector<NodeId>> norms;
  std::vector<NodeId> all;
  for (std::vector<NodeId>& norm : row_norms(Reads(graph))) {
    std::vector<NodeId> left = all;
    left.insert(left.end(), norm.begin(), norm.end());
    const Reads reads(graph, left);
    const Accepts computed = computed_by_one_kernel(reads, tuner.target());
    if (!serve_row_norms(reads, group(reads, computed), computed)) continue;
    all = std::move(left);
    norms.push_back(std::move(norm));
  }
  if (norms.empty() || LUMEN_TRY(leave_norm(graph, all, policy, tuner, guide, lowered))) return {};
  if (norms.size() == 1 || norms.size() > kMostTried) return {};
  for (const std::vector<NodeId>& norm : norms) LUMEN_TRY(leave_norm(graph, norm, policy, tuner, guide, lowered));
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
  Lowered lowered;
  if (decided.groups) {
    lowered.groups = *decided.groups;
    lowered.left = decided.left;
  } else {
    LUMEN_TRY(find_groups(Reads(*graph), policy, tuner, guide, lowered));
    if (policy != FusionPolicy::never) LUMEN_TRY(leave_norms(*graph, policy, tuner, guide, lowered));
  }
  const Reads reads(*graph, lowered.left);
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
