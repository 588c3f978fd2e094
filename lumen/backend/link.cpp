#include "lumen/backend/link.h"

#include <map>

#include "lumen/base/check.h"

namespace lumen {

namespace {

class Linker {
 public:
  explicit Linker(std::shared_ptr<const Graph> graph) {
    program_.graph = std::move(graph);
    for (const NodeId id : program_.graph->inputs()) values_.emplace(id, add_value((*program_.graph)[id].type));
  }

  void add(const Carved& part, const Program& from) {
    const size_t inputs = from.graph->inputs().size();
    CHECK(part.operands.size() == inputs && part.results.size() == from.outputs.size(), "another part's program");
    std::vector<uint32_t> value(from.values.size());  // here, by value there
    for (size_t k = 0; k < from.values.size(); ++k) {
      value[k] = k < inputs ? values_.at(part.operands[k]) : add_value(from.values[k]);
    }
    const std::vector<uint32_t>& kernel = kernels_of(from);
    for (const ProgramCall& call : from.calls) {
      ProgramCall here{kernel[call.kernel], {}, {}};
      for (const uint32_t k : call.operands) here.operands.push_back(value[k]);
      for (const uint32_t k : call.results) here.results.push_back(value[k]);
      program_.calls.push_back(std::move(here));
    }
    for (size_t k = 0; k < part.results.size(); ++k) values_.emplace(part.results[k], value[from.outputs[k]]);
  }

  Expected<Program> finish() {
    for (const Output& output : program_.graph->outputs()) program_.outputs.push_back(values_.at(output.value));
    LUMEN_TRY(plan_program(program_));
    return std::move(program_);
  }

 private:
  uint32_t add_value(const TensorType& type) {
    program_.values.push_back(type);
    return static_cast<uint32_t>(program_.values.size() - 1);
  }

  // Here, by number there. What is interpreted has no name.
  const std::vector<uint32_t>& kernels_of(const Program& from) {
    const auto [found, is_new] = kernels_.emplace(&from, std::vector<uint32_t>());
    if (!is_new) return found->second;
    for (const ProgramKernel& kernel : from.kernels) {
      const auto next = static_cast<uint32_t>(program_.kernels.size());
      uint32_t number = next;
      if (!kernel.text.steps.empty()) number = names_.emplace(kernel.text.steps[0].name, next).first->second;
      if (number == next) program_.kernels.push_back(kernel);
      found->second.push_back(number);
    }
    return found->second;
  }

  Program program_;
  std::map<NodeId, uint32_t> values_;
  std::map<const Program*, std::vector<uint32_t>> kernels_;
  std::map<std::string, uint32_t> names_;
};

}  // namespace

Expected<Program> link(std::shared_ptr<const Graph> graph, std::span<const Carved> parts,
                       std::span<const Program* const> programs) {
  Linker linker(std::move(graph));
  for (size_t k = 0; k < parts.size(); ++k) linker.add(parts[k], *programs[k]);
  return linker.finish();
}

}  // namespace lumen
