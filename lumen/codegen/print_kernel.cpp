#include "lumen/codegen/print_kernel.h"

#include "lumen/codegen/attention.h"
#include "lumen/codegen/contract.h"
#include "lumen/codegen/fold.h"
#include "lumen/codegen/map.h"

namespace lumen {

namespace {

bool has_family(const Graph& body, OpFamily family) {
  for (const NodeId id : body.order()) {
    if (body[id].op->family == family) return true;
  }
  return false;
}

}  // namespace

Expected<std::vector<std::string>> kernel_schedules(const Graph& body, const Target& target) {
  if (!has_family(body, OpFamily::contract)) {
    const std::string only = has_family(body, OpFamily::reduce) ? "fold" : "map";
    LUMEN_TRY(print_kernel(body, "k", only, target));
    return std::vector{only};
  }
  std::vector<std::string> schedules;
  if (has_family(body, OpFamily::reduce)) {
    for (const AttentionSchedule& schedule : LUMEN_TRY(attention_schedules(body, target))) {
      schedules.push_back(schedule.str());
    }
    return schedules;
  }
  for (const ContractSchedule& schedule : contract_schedules(body, target)) schedules.push_back(schedule.str());
  LUMEN_TRY(print_kernel(body, "k", schedules.empty() ? ContractSchedule().str() : schedules[0], target));
  return schedules;
}

Expected<KernelText> print_kernel(const Graph& body, const std::string& name, const std::string& schedule,
                                  const Target& target) {
  if (schedule == "fold") return print_fold(body, name);
  if (schedule == "map") return print_map(body, name);
  if (is_attention_schedule(schedule)) {
    return print_attention(body, name, LUMEN_TRY(AttentionSchedule::parse(schedule)), target);
  }
  return print_contract(body, name, LUMEN_TRY(ContractSchedule::parse(schedule)), target);
}

}  // namespace lumen
