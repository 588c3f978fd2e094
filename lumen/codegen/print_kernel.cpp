#include "lumen/codegen/print_kernel.h"

#include <fmt/format.h>

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

namespace lumen {

namespace {

bool has_family(const Graph& body, OpFamily family) {
  const std::vector<NodeId> order = body.order();
  return std::any_of(order.begin(), order.end(), [&](NodeId id) { return body[id].op->family == family; });
}

// A kernel in which a word of the prelude means something else.
struct Word {
  const char *name, *usual, *here;
};
Expected<KernelText> with_word(Expected<KernelText> kernel, const Word& word) {
  if (!kernel.ok()) return kernel;
  const auto define = [&](const char* meaning) {
    return fmt::format("#undef {0}\n#define {0} {1}\n", word.name, meaning);
  };
  kernel->text = define(word.here) + kernel->text + define(word.usual);
  return kernel;
}

// On a CPU, results that no cache holds are stored past the caches.
constexpr Word kStreamed{"LUMEN_STORES", "plain", "streamed"};
// On a GPU, they leave the second cache after everything else: what reads them next finds some there, and fewer are
// written to memory while others are read. Rows that are held may be kept so, too: which is better differs.
constexpr Word kKeptResults{"LUMEN_KEPT_RESULTS", "false", "true"}, kKeptRows{"LUMEN_KEPT_ROWS", "false", "true"};
bool keeps_results(const Graph& body, const Target& target) {
  return target.cuda && result_bytes(body).lo >= kManyBytes;
}
Expected<KernelText> print_kept_fold(const Graph& body, const std::string& name, const Target& target) {
  if (!keeps_results(body, target)) return error("the results of this fold may fit into a cache");
  return with_word(print_fold(body, name), kKeptRows);
}

// Ways to run bodies without a Contract. The first plain one whose family a body has says the body's kind; the others
// of that family compete with it.
enum class Needs : uint8_t { nothing, large_results, blocks, registers };
struct Way {
  std::string_view name, kind;
  OpFamily family;
  Needs needs;
  Expected<KernelText> (*print)(const Graph& body, const std::string& name, const Target& target);
};
template <auto print>
Expected<KernelText> anywhere(const Graph& body, const std::string& name, const Target& /*target*/) {
  return print(body, name);
}
constexpr Way kWays[] = {
    {"scan", "scan", OpFamily::scan, Needs::nothing, anywhere<print_scan>},
    {"sort", "sort", OpFamily::sort, Needs::nothing, anywhere<print_sort>},
    {"gpu-sort", "sort", OpFamily::sort, Needs::blocks, print_cuda_sort},
    {"scatter", "scatter", OpFamily::scatter, Needs::nothing,
     anywhere<[](const Graph& body, const std::string& name) { return print_scatter(body, name); }>},
    {"gpu-scatter", "scatter", OpFamily::scatter, Needs::blocks, anywhere<print_cuda_scatter>},
    {"fold", "fold", OpFamily::reduce, Needs::nothing,
     anywhere<[](const Graph& body, const std::string& name) { return print_fold(body, name); }>},
    {"gpu-fold", "fold", OpFamily::reduce, Needs::blocks, print_cuda_fold},
    {"gpu-early-fold", "fold", OpFamily::reduce, Needs::registers, anywhere<print_cuda_early_fold>},
    {"gpu-held-fold", "fold", OpFamily::reduce, Needs::registers, anywhere<print_cuda_held_fold>},
    {"gpu-kept-fold", "fold", OpFamily::reduce, Needs::registers, print_kept_fold},
    {"stream-fold", "fold", OpFamily::reduce, Needs::large_results,
     anywhere<[](const Graph& body, const std::string& name) {
       return with_word(print_fold(body, name, {.stack_first = true}), kStreamed);
     }>},
    {"map", "map", OpFamily::leaf, Needs::nothing,
     [](const Graph& body, const std::string& name, const Target& target) {
       return print_map(body, name, {.pieces = target.cuda});
     }},
    {"gpu-full-map", "map", OpFamily::leaf, Needs::registers, anywhere<print_cuda_full_map>},
    {"stream-map", "map", OpFamily::leaf, Needs::large_results,
     anywhere<[](const Graph& body, const std::string& name) { return with_word(print_map(body, name), kStreamed); }>},
};

std::string_view kind_of(const Graph& body) {
  for (const Way& way : kWays) {
    if (has_family(body, way.family)) return way.kind;
  }
  return "map";
}

// Whether streaming may pay, and whether it is the more promising way.
struct Streaming {
  bool possible = false, promising = false;
};
Streaming streaming(const Graph& body, const Target& target) {
  if (target.cuda || target.vector_bytes < 32) return {};
  constexpr int64_t kSome = 8 << 20;
  const Interval bytes = result_bytes(body);
  return {bytes.hi >= kSome, bytes.lo >= kManyBytes};
}

// A library's ways stand behind the most promising one of our own: only so many are measured.
void add_library(const Graph& body, const Target& target, std::vector<std::string>& schedules) {
  std::vector<std::string> all;
  for (const LibrarySchedule& schedule : library_schedules(body, target)) all.push_back(schedule.str());
  schedules.insert(schedules.begin() + (schedules.empty() ? 0 : 1), all.begin(), all.end());
}

// Of bodies without a Contract, the most promising first.
std::vector<std::string> schedules_of(const Graph& body, std::string_view kind, const Target& target) {
  std::vector<std::string> schedules;
  const Streaming stream = streaming(body, target);
  for (const Way& way : kWays) {
    if (way.kind != kind) continue;
    // A body that blocks do not take is run as on a CPU; sums are anyway, another step is not always worth it.
    const bool replaces = way.needs == Needs::blocks && way.family != OpFamily::reduce;
    const bool is_of_gpu = way.needs == Needs::blocks || way.needs == Needs::registers;
    if (is_of_gpu && (!target.cuda || !way.print(body, "k", target).ok())) continue;
    if (way.needs == Needs::large_results && !stream.possible) continue;
    if (replaces) schedules.clear();
    const bool first = way.needs == Needs::blocks || (way.needs == Needs::large_results && stream.promising);
    schedules.insert(first ? schedules.begin() : schedules.end(), std::string(way.name));
  }
  return schedules;
}

// Of bodies with a Contract, on a GPU.
Expected<std::vector<std::string>> cuda_schedules(const Graph& body, const Target& target) {
  std::vector<std::string> schedules;
  for (const CudaContractSchedule& schedule : cuda_contract_schedules(body, target)) {
    schedules.push_back(schedule.str());
  }
  if (has_family(body, OpFamily::reduce)) {  // of rows, before the Contract; or it is attention
    if (!schedules.empty()) return schedules;
    for (const CudaAttentionSchedule& schedule : LUMEN_TRY(cuda_attention_schedules(body, target))) {
      schedules.push_back(schedule.str());
    }
    return schedules;
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
    schedules = schedules_of(body, kind_of(body), target);
  }
  LUMEN_TRY(print_kernel(body, "k", schedules[0], target));
  return schedules;
}

std::span<const std::string_view> kernel_kinds() {
  static constexpr std::string_view kKinds[] = {"map", "fold", "contract", "attention", "scan", "sort", "scatter"};
  return kKinds;
}

std::string_view kernel_kind(const std::string& schedule) {
  for (const Way& way : kWays) {
    if (schedule == way.name) return way.kind;
  }
  return is_attention_schedule(schedule) || is_cuda_attention_schedule(schedule) ? "attention" : "contract";
}

Expected<KernelText> print_kernel(const Graph& body, const std::string& name, const std::string& schedule,
                                  const Target& target) {
  for (const Way& way : kWays) {
    if (schedule != way.name) continue;
    Expected<KernelText> kernel = way.print(body, name, target);
    return keeps_results(body, target) ? with_word(std::move(kernel), kKeptResults) : std::move(kernel);
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
