#include "lumen/codegen/print_kernel.h"

#include <algorithm>

#include "lumen/codegen/attention.h"
#include "lumen/codegen/contract.h"
#include "lumen/codegen/contract_library.h"
#include "lumen/codegen/cuda_attention.h"
#include "lumen/codegen/cuda_contract.h"
#include "lumen/codegen/cuda_scatter.h"
#include "lumen/codegen/fold.h"
#include "lumen/codegen/map.h"
#include "lumen/codegen/scan.h"
#include "lumen/codegen/scatter.h"
#include "lumen/codegen/sort.h"
#include "lumen/ir/expr_bounds.h"

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

// On a CPU, results that no cache holds are stored past the caches.
Expected<KernelText> streamed(Expected<KernelText> kernel) {
  if (!kernel.ok()) return kernel;
  kernel->text = "#undef LUMEN_STORES\n#define LUMEN_STORES streamed\n" + kernel->text +
                 "#undef LUMEN_STORES\n#define LUMEN_STORES plain\n";
  return kernel;
}
constexpr Kind kStreamKinds[] = {
    {"stream-map", OpFamily::leaf,
     [](const Graph& body, const std::string& name) { return streamed(print_map(body, name)); }},
    {"stream-fold", OpFamily::reduce,
     [](const Graph& body, const std::string& name) {
       return streamed(print_fold(body, name, {.stack_first = true}));
     }},
};
std::string_view kind_of(const Kind& streaming) { return std::string_view(streaming.name).substr(7); }

// Whether streaming may pay, and whether it is the more promising way.
struct Streaming {
  bool possible = false, promising = false;
};
Streaming streaming(const Graph& body, const Target& target) {
  if (target.cuda || target.vector_bytes < 32) return {};
  constexpr int64_t kSome = 8 << 20, kMany = 32 << 20;
  int64_t most = 0, known = 0;
  for (const Output& output : body.outputs()) {
    const TensorType& type = body[output.value].type;
    const Interval count = bounds(type.shape.numel());
    if (is_packed(type.dtype)) return {};
    most += storage_bytes(type.dtype, std::clamp<int64_t>(count.hi, 0, kMany));
    known += storage_bytes(type.dtype, std::clamp<int64_t>(count.lo, 0, kMany));
  }
  return {most >= kSome, known >= kMany};
}

// On a GPU, what blocks do in another way; a body that they do not take is of the kind above.
struct CudaKind {
  std::string_view name;
  OpFamily family;
  std::string_view kind;
  Expected<KernelText> (*print)(const Graph& body, const std::string& name, const Target& target);
};
constexpr CudaKind kCudaKinds[] = {
    {"gpu-fold", OpFamily::reduce, "fold", print_cuda_fold},
    {"gpu-sort", OpFamily::sort, "sort", print_cuda_sort},
    {"gpu-scatter", OpFamily::scatter, "scatter",
     [](const Graph& body, const std::string& name, const Target&) { return print_cuda_scatter(body, name); }},
};

// A library's ways stand behind the most promising one of our own: only so many are measured.
void add_library(const Graph& body, const Target& target, std::vector<std::string>& schedules) {
  std::vector<std::string> all;
  for (const LibrarySchedule& schedule : library_schedules(body, target)) all.push_back(schedule.str());
  schedules.insert(schedules.begin() + (schedules.empty() ? 0 : 1), all.begin(), all.end());
}

// Of bodies with a Contract, on a GPU.
Expected<std::vector<std::string>> cuda_schedules(const Graph& body, const Target& target) {
  std::vector<std::string> schedules;
  if (has_family(body, OpFamily::reduce)) {
    for (const CudaAttentionSchedule& schedule : LUMEN_TRY(cuda_attention_schedules(body, target))) {
      schedules.push_back(schedule.str());
    }
    return schedules;
  }
  for (const CudaContractSchedule& schedule : cuda_contract_schedules(body, target)) {
    schedules.push_back(schedule.str());
  }
  add_library(body, target, schedules);
  if (schedules.empty()) schedules.push_back(CudaContractSchedule().str());
  return schedules;
}

}  // namespace

Expected<std::vector<std::string>> kernel_schedules(const Graph& body, const Target& target) {
  std::vector<std::string> schedules;
  if (target.cuda && has_family(body, OpFamily::contract)) {
    schedules = LUMEN_TRY(cuda_schedules(body, target));
  } else if (has_family(body, OpFamily::contract) && has_family(body, OpFamily::reduce)) {
    for (const AttentionSchedule& schedule : LUMEN_TRY(attention_schedules(body, target))) {
      schedules.push_back(schedule.str());
    }
  } else if (has_family(body, OpFamily::contract)) {
    for (const ContractSchedule& schedule : contract_schedules(body, target)) schedules.push_back(schedule.str());
    add_library(body, target, schedules);
    if (schedules.empty()) schedules.push_back(ContractSchedule().str());
  } else {
    const Kind* kind = &kMap;
    for (const Kind& each : kKinds) {
      if (kind == &kMap && has_family(body, each.family)) kind = &each;
    }
    for (const CudaKind& each : kCudaKinds) {
      if (!target.cuda || each.family != kind->family || !each.print(body, "k", target).ok()) continue;
      schedules.emplace_back(each.name);
    }
    // Another step is not always worth it.
    if (schedules.empty() || kind->family == OpFamily::reduce) schedules.emplace_back(kind->name);
    const Streaming stream = streaming(body, target);
    for (const Kind& each : kStreamKinds) {
      if (!stream.possible || each.family != kind->family) continue;
      schedules.insert(stream.promising ? schedules.begin() : schedules.end(), each.name);
    }
  }
  LUMEN_TRY(print_kernel(body, "k", schedules[0], target));
  return schedules;
}

std::span<const std::string_view> kernel_kinds() {
  static constexpr std::string_view kAll[] = {"map", "fold", "contract", "attention", "scan", "sort", "scatter"};
  return kAll;
}

std::string_view kernel_kind(const std::string& schedule) {
  for (const std::string_view kind : kernel_kinds()) {
    if (schedule == kind) return kind;
  }
  for (const CudaKind& each : kCudaKinds) {
    if (schedule == each.name) return each.kind;
  }
  for (const Kind& each : kStreamKinds) {
    if (schedule == each.name) return kind_of(each);
  }
  return is_attention_schedule(schedule) || is_cuda_attention_schedule(schedule) ? "attention" : "contract";
}

Expected<KernelText> print_kernel(const Graph& body, const std::string& name, const std::string& schedule,
                                  const Target& target) {
  if (schedule == kMap.name) return kMap.print(body, name);
  for (const Kind& kind : kKinds) {
    if (schedule == kind.name) return kind.print(body, name);
  }
  for (const Kind& kind : kStreamKinds) {
    if (schedule == kind.name) return kind.print(body, name);
  }
  for (const CudaKind& kind : kCudaKinds) {
    if (schedule == kind.name) return kind.print(body, name, target);
  }
  if (is_library_schedule(schedule)) {
    return print_library(body, name, LUMEN_TRY(LibrarySchedule::parse(schedule)), target);
  }
  if (is_cuda_contract_schedule(schedule)) {
    return print_cuda_contract(body, name, LUMEN_TRY(CudaContractSchedule::parse(schedule)), target);
  }
  if (is_cuda_attention_schedule(schedule)) {
    return print_cuda_attention(body, name, LUMEN_TRY(CudaAttentionSchedule::parse(schedule)), target);
  }
  if (is_attention_schedule(schedule)) {
    return print_attention(body, name, LUMEN_TRY(AttentionSchedule::parse(schedule)), target);
  }
  return print_contract(body, name, LUMEN_TRY(ContractSchedule::parse(schedule)), target);
}

}  // namespace lumen
