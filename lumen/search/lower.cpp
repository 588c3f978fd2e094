#include "lumen/search/lower.h"

#include <map>

#include "lumen/codegen/print_kernel.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/tuning_entry.h"

namespace lumen::search {

namespace {

// Bodies that print alike are one kernel.
class Kernels {
 public:
  explicit Kernels(const Target& target) : target_(target) {}

  Expected<uint32_t> number_of(const Carved& carved) {
    const std::string text = print(*carved.body);
    const auto [found, is_new] = numbers_.emplace(text, static_cast<uint32_t>(kernels_.size()));
    if (is_new) kernels_.push_back(LUMEN_TRY(make(carved.body, text)));
    return found->second;
  }
  std::vector<ProgramKernel> take() { return std::move(kernels_); }

 private:
  Expected<ProgramKernel> make(const std::shared_ptr<const Graph>& body, const std::string& content) const {
    const Expected<std::vector<std::string>> schedules = kernel_schedules(*body, target_);
    if (!schedules.ok()) return ProgramKernel{expand(*body), {}, "interpret"};
    const std::string& schedule = schedules->front();
    const std::string name = "k" + kernel_hash(content + schedule);
    KernelText text = LUMEN_TRY(print_kernel(*body, name, schedule, target_));
    return ProgramKernel{body, std::move(text), schedule};
  }

  const Target& target_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<ProgramKernel> kernels_;
};

}  // namespace

Expected<Program> lower(std::shared_ptr<const Graph> graph, FusionPolicy policy, const Target& target) {
  const Accepts merge = [&](std::span<const NodeId> part, std::span<const NodeId> results) {
    return policy != FusionPolicy::never && kernel_schedules(*carve(*graph, part, results).body, target).ok();
  };
  const std::vector<std::vector<NodeId>> parts = group(*graph, merge);
  const std::vector<Carved> carved = LUMEN_TRY(carve_all(*graph, parts));
  Kernels kernels(target);
  std::vector<uint32_t> kernel_of;
  for (const Carved& each : carved) kernel_of.push_back(LUMEN_TRY(kernels.number_of(each)));
  return make_program(std::move(graph), carved, kernels.take(), kernel_of);
}

}  // namespace lumen::search
