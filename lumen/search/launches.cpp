#include "lumen/search/launches.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace lumen::search {

namespace {

constexpr double kNearly = 1.15;  // times as long as the fastest

struct Choice {
  std::string schedule;
  int64_t shared = 0;  // bytes, of a block
  int64_t blocks = 0;
};

// Of one kernel: the fastest, the one of those nearly as fast with the least shared memory, that with the fewest
// blocks.
using Choices = std::array<Choice, 3>;

std::optional<Choice> choice_of(const ProgramKernel& kernel) {
  if (kernel.text.steps.empty()) return std::nullopt;
  const KernelStep& step = kernel.text.steps.back();
  const std::optional<int64_t> rows = step.rows.constant();
  if (!rows) return std::nullopt;
  return Choice{kernel.schedule, step.shared, (*rows + step.block_rows - 1) / step.block_rows};
}

Expected<std::optional<Choices>> choices_of(const ProgramKernel& kernel, const Tuner& tuner) {
  const std::optional<Choice> own = choice_of(kernel);
  if (!own) return std::optional<Choices>();
  Choices choices{*own, *own, *own};
  double fastest = 0;
  for (const TuningEntry& entry : LUMEN_TRY(tuner.contenders(*kernel.body))) {
    if (!entry.rejected.empty()) continue;
    if (fastest == 0) fastest = entry.seconds;
    if (entry.seconds > kNearly * fastest) break;
    const Expected<ProgramKernel> other = make_kernel(kernel.body, entry.schedule, tuner.target());
    const std::optional<Choice> choice = other.ok() ? choice_of(*other) : std::nullopt;
    if (!choice) continue;
    if (choice->shared < choices[1].shared) choices[1] = *choice;
    if (choice->blocks < choices[2].blocks) choices[2] = *choice;
  }
  return std::optional<Choices>(choices);
}

}  // namespace

Expected<std::vector<Lowered>> with_other_launch(const Lowered& lowered, std::span<const uint32_t> together,
                                                 Tuner& tuner) {
  const std::vector<ProgramKernel>& kernels = lowered.program.kernels;
  // What takes longest has a choice of its own; the others, often of one size, choose alike.
  std::vector<uint32_t> slowest_first(together.begin(), together.end());
  std::ranges::stable_sort(slowest_first, std::greater(), [&](uint32_t k) { return lowered.kernel_seconds[k]; });
  std::vector<Choices> choices;
  for (const uint32_t k : slowest_first) {
    const std::optional<Choices> own = LUMEN_TRY(choices_of(kernels[k], tuner));
    if (!own) return std::vector<Lowered>();
    choices.push_back(*own);
  }
  Decisions decided{.groups = lowered.groups, .left = lowered.left};
  for (size_t k = 0; k < kernels.size(); ++k) decided.schedules[lowered.names[k]] = kernels[k].schedule;
  std::set<std::map<std::string, std::string>> seen = {decided.schedules};
  std::vector<Lowered> others;
  for (size_t first = 0; first < std::size(Choices()); ++first) {
    for (size_t rest = 0; rest < std::size(Choices()); ++rest) {
      for (size_t k = 0; k < slowest_first.size(); ++k) {
        decided.schedules[lowered.names[slowest_first[k]]] = choices[k][k == 0 ? first : rest].schedule;
      }
      if (!seen.insert(decided.schedules).second) continue;
      Lowered& other =
          others.emplace_back(LUMEN_TRY(lower(lowered.program.graph, FusionPolicy::profile, tuner, decided)));
      other.cuts = lowered.cuts;
      other.decisions = lowered.decisions;
    }
  }
  return others;
}

}  // namespace lumen::search
