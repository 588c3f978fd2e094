#include "lumen/codegen/print_kernel.h"

#include <algorithm>

#include "lumen/codegen/attention.h"
#include "lumen/codegen/contract.h"
#include "lumen/codegen/fold.h"
#include "lumen/codegen/map.h"
#include "lumen/codegen/scan.h"
#include "lumen/codegen/scatter.h"
#include "lumen/codegen/sort.h"

namespace lumen {

namespace {

bool has_family(const Graph& body, OpFamily family) {
  const std::vector<NodeId> order = body.order();
  return std::any_of(order.begin(), order.end(), [&](NodeId id) { return body[id].op->family == family; });
}

// Kinds that run in one way only; the first whose family a body has is its kind.
struct Kind {
  const char* name;
  OpFamily family;
  Expected<KernelText> (*print)(const Graph& body, const std::string& name);
};
constexpr Kind kKinds[] = {
    {"scan", OpFamily::scan, print_scan},
    {"sort", OpFamily::sort, print_sort},
    {"scatter", OpFamily::scatter,
     [](const Graph& body, const std::string& name) { return print_scatter(body, name); }},
    {"fold", OpFamily::reduce, [](const Graph& body, const std::string& name) { return print_fold(body, name); }},
};
constexpr Kind kMap{"map", OpFamily::leaf, print_map};

}  // namespace

Expected<std::vector<std::string>> kernel_schedules(const Graph& body, const Target& target) {
  std::vector<std::string> schedules;
  if (has_family(body, OpFamily::contract) && has_family(body, OpFamily::reduce)) {
    for (const AttentionSchedule& schedule : LUMEN_TRY(attention_schedules(body, target))) {
      schedules.push_back(schedule.str());
    }
  } else if (has_family(body, OpFamily::contract)) {
    for (const ContractSchedule& schedule : contract_schedules(body, target)) schedules.push_back(schedule.str());
    if (schedules.empty()) schedules.push_back(ContractSchedule().str());
  } else {
    const Kind* kind = &kMap;
    for (const Kind& each : kKinds) {
      if (kind == &kMap && has_family(body, each.family)) kind = &each;
    }
    schedules.emplace_back(kind->name);
  }
  LUMEN_TRY(print_kernel(body, "k", schedules[0], target));
  return schedules;
}

Expected<KernelText> print_kernel(const Graph& body, const std::string& name, const std::string& schedule,
                                  const Target& target) {
  if (schedule == kMap.name) return kMap.print(body, name);
  for (const Kind& kind : kKinds) {
    if (schedule == kind.name) return kind.print(body, name);
  }
  if (is_attention_schedule(schedule)) {
    return print_attention(body, name, LUMEN_TRY(AttentionSchedule::parse(schedule)), target);
  }
  return print_contract(body, name, LUMEN_TRY(ContractSchedule::parse(schedule)), target);
}

}  // namespace lumen
