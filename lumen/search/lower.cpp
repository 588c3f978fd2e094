#include "lumen/search/lower.h"

#include <map>

#include "lumen/codegen/print_kernel.h"
#include "lumen/ir/text.h"
#include "lumen/search/split.h"

namespace lumen::search {

Expected<Lowered> lower(std::shared_ptr<const Graph> graph, FusionPolicy policy, Tuner& tuner) {
  const Reads reads(*graph);
  const Accepts accepts = [&](const Group& group) {
    if (policy == FusionPolicy::never) return false;
    return kernel_schedules(*carve(*graph, reads.with_free(group), reads.results_of(group)).body, tuner.target()).ok();
  };
  std::vector<Group> groups = group(reads, accepts);
  if (policy == FusionPolicy::profile) LUMEN_TRY(split_slow_groups(reads, tuner, groups));
  const std::vector<Carved> carved = LUMEN_TRY(carve_all(*graph, reads.parts_of(groups)));

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
    kernels.push_back(LUMEN_TRY(make_kernel(bodies[k], tuned[k].schedule, tuner.target())));
  }
  Lowered lowered;
  for (const uint32_t kernel : kernel_of) lowered.seconds += tuned[kernel].seconds;
  lowered.program = LUMEN_TRY(make_program(std::move(graph), carved, std::move(kernels), kernel_of));
  return lowered;
}

}  // namespace lumen::search
