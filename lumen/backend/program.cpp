#include "lumen/backend/program.h"

#include <algorithm>
#include <map>

#include "lumen/base/check.h"

namespace lumen {

namespace {

constexpr int64_t kTypicalDim = 512;

class ProgramMaker {
 public:
  ProgramMaker(std::shared_ptr<const Graph> graph, std::vector<ProgramKernel> kernels) {
    program_.graph = std::move(graph);
    program_.kernels = std::move(kernels);
    for (const NodeId id : program_.graph->inputs()) value_of(id);
  }

  Expected<Program> run(std::span<const Carved> carved, std::span<const uint32_t> kernel_of) {
    for (size_t k = 0; k < carved.size(); ++k) {
      ProgramCall call{kernel_of[k], {}, {}};
      for (const NodeId id : carved[k].operands) {
        CHECK(values_.contains(id), "a kernel reads what no kernel before it makes");
        call.operands.push_back(values_.at(id));
      }
      for (const NodeId id : carved[k].results) call.results.push_back(value_of(id));
      program_.calls.push_back(std::move(call));
    }
    for (const Output& output : program_.graph->outputs()) program_.outputs.push_back(values_.at(output.value));
    LUMEN_TRY(plan_program(program_));
    return std::move(program_);
  }

 private:
  uint32_t value_of(NodeId id) {
    const auto [found, is_new] = values_.emplace(id, static_cast<uint32_t>(program_.values.size()));
    if (is_new) program_.values.push_back((*program_.graph)[id].type);
    return found->second;
  }

  Program program_;
  std::map<NodeId, uint32_t> values_;
};

// By value: whether it is neither given nor an output. Outputs that are one of these already are copied.
std::vector<bool> place_outputs(Program& program) {
  std::vector<bool> inner(program.values.size(), true);
  std::fill_n(inner.begin(), program.graph->inputs().size(), false);
  for (size_t k = 0; k < program.outputs.size(); ++k) {
    const uint32_t value = program.outputs[k];
    if (!inner[value]) program.copies.push_back({value, static_cast<uint32_t>(k)});
    inner[value] = false;
  }
  return inner;
}

}  // namespace

Expected<void> plan_program(Program& program) {
  const std::vector<bool> inner = place_outputs(program);
  const DimValues dims = typical_dims(*program.graph);
  std::vector<Lifetime> lives(program.values.size());
  std::vector<Lifetime> scratches;
  for (size_t k = 0; k < program.calls.size(); ++k) {
    const auto now = static_cast<int64_t>(k);
    for (const uint32_t value : program.calls[k].results) lives[value].first = lives[value].last = now;
    for (const uint32_t value : program.calls[k].operands) lives[value].last = now;
    scratches.push_back({now, now, 0});
  }
  std::vector<Lifetime> planned;
  for (uint32_t value = 0; value < program.values.size(); ++value) {
    if (!inner[value]) continue;
    const Expected<int64_t> bytes = program.values[value].bytes(dims);
    lives[value].bytes = bytes.ok() ? *bytes : 0;
    program.inner.push_back(value);
    planned.push_back(lives[value]);
  }
  planned.insert(planned.end(), scratches.begin(), scratches.end());
  program.plan = plan_memory(planned);
  return check_plan(program.plan, planned);
}

DimValues typical_dims(const Graph& graph) {
  DimValues dims;
  for (const Expr& dim : graph.dims()) {
    const auto [lo, hi] = dim.dim_bounds();
    dims.set(dim.dim_name(), std::clamp(kTypicalDim, lo, hi));
  }
  return dims;
}

Expected<Program> make_program(std::shared_ptr<const Graph> graph, std::span<const Carved> carved,
                               std::vector<ProgramKernel> kernels, std::span<const uint32_t> kernel_of) {
  return ProgramMaker(std::move(graph), std::move(kernels)).run(carved, kernel_of);
}

}  // namespace lumen
