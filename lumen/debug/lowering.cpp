#include "lumen/debug/lowering.h"

#include <algorithm>
#include <set>

#include "lumen/backend/cpu/target.h"
#include "lumen/backend/program.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/kernel/title.h"
#include "lumen/search/extract.h"
#include "lumen/search/lower.h"

namespace lumen::debug {

using egraph::Value;
using search::Group;
using search::Reads;

namespace {

class Lowerer {
 public:
  Lowerer(Inspection& inspection, std::shared_ptr<const Graph> program)
      : inspection_(inspection), program_(std::move(program)), reads_(*program_), target_(cpu::target_of(cpu::cpu())) {}

  std::vector<KernelView> kernels() {
    std::vector<KernelView> kernels;
    for (const Output& output : program_->outputs()) {
      const bool free = !reads_.computes(output.value) && !(*program_)[output.value].is<Input>();
      if (free) kernels.push_back(view({output.value}, {output.value}));
    }
    for (const Group& group : search::group(reads_, [&](const Group& each) { return problem(each).empty(); })) {
      kernels.push_back(view(group, reads_.results_of(group)));
    }
    return kernels;
  }

  // By node of the program; what is free is in several.
  std::map<NodeId, std::vector<size_t>> members(const std::vector<KernelView>& kernels) const {
    std::map<NodeId, std::vector<size_t>> members;
    for (size_t k = 0; k < kernels.size(); ++k) {
      for (const NodeId id : reads_.with_free(kernels[k].values)) members[id].push_back(k);
    }
    return members;
  }

 private:
  // Why a group is no kernel; empty when it is one.
  std::string problem(const Group& group) { return problem(*body(group, reads_.results_of(group)), nullptr); }

  std::string problem(const Graph& body, std::string* kind) const {
    const Expected<std::vector<std::string>> schedules = kernel_schedules(body, target_);
    if (!schedules.ok()) return schedules.diag().message;
    const std::string found(kernel_kind(schedules->front()));
    if (kind != nullptr) *kind = found;
    const std::vector<std::string>& without = inspection_.options().without_kernels;
    return std::ranges::find(without, found) == without.end() ? "" : "kernels of the kind " + found + " are left out";
  }

  std::shared_ptr<const Graph> body(const Group& group, const std::vector<NodeId>& results) const {
    return carve(*program_, reads_.with_free(group), results).body;
  }

  KernelView view(const Group& group, const std::vector<NodeId>& results) const {
    const std::shared_ptr<const Graph> carved = body(group, results);
    KernelView kernel;
    kernel.values = group;
    kernel.title = kernel_title(*carved);
    kernel.problem = problem(*carved, &kernel.kind);
    if (!kernel.problem.empty()) kernel.kind = kInterpreted;
    return kernel;
  }

  Inspection& inspection_;
  std::shared_ptr<const Graph> program_;
  Reads reads_;
  Target target_;
};

void add_all(std::vector<size_t>& to, const std::vector<size_t>& from) {
  for (const size_t each : from) {
    if (std::ranges::find(to, each) == to.end()) to.push_back(each);
  }
}

// Follows every node of the graph to the kernels that have it, by way of its readers where the program has it not.
Expected<void> place_nodes(Inspection& inspection, const std::map<NodeId, std::vector<size_t>>& members,
                           Lowering& lowering) {
  const std::map<NodeId, Value> ids = LUMEN_TRY(inspection.saturated().encoding().encode_nodes(*lowering.program));
  LUMEN_TRY(inspection.egraph().rebuild());
  std::map<Value, std::vector<size_t>> by_class;
  for (const auto& [node, id] : ids) {
    const auto found = members.find(node);
    std::vector<size_t>& kernels = by_class[inspection.egraph().find(inspection.tensor_sort(), id)];
    if (found != members.end()) add_all(kernels, found->second);
  }
  const Graph& graph = inspection.graph();
  const std::vector<NodeId> order = graph.order();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const auto found = by_class.find(inspection.class_of(*id));
    lowering.is_computed[*id] = found != by_class.end();
    if (found != by_class.end()) lowering.kernels_of[*id] = found->second;
    if (found != by_class.end() || graph[*id].is<Input>()) continue;
    for (const NodeId reader : order) {
      const std::span<const NodeId> operands = graph[reader].operands;
      if (std::ranges::find(operands, *id) != operands.end()) {
        add_all(lowering.kernels_of[*id], lowering.kernels_of[reader]);
      }
    }
  }
  return {};
}

}  // namespace

Expected<Lowering> lower(Inspection& inspection) {
  const OpCost cost = roofline(machine_like(cpu::target_of(cpu::cpu())), typical_dims(inspection.graph()));
  const std::vector<Candidate> best = LUMEN_TRY(extract_best(inspection.saturated(), 1, cost));
  Lowering lowering;
  lowering.program = best[0].graph;
  lowering.cost = best[0].cost;
  Lowerer lowerer(inspection, lowering.program);
  lowering.kernels = lowerer.kernels();
  LUMEN_TRY(place_nodes(inspection, lowerer.members(lowering.kernels), lowering));
  return lowering;
}

}  // namespace lumen::debug
