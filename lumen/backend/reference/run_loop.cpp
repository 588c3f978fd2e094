#include <fmt/format.h>

#include <algorithm>

#include "lumen/backend/reference/plan.h"
#include "lumen/hlir/loop.h"

namespace lumen::reference {

namespace {

HostTensor slice(const HostTensor& tensor, int64_t k) {
  HostTensor part{tensor.dtype, {tensor.dims.begin() + 1, tensor.dims.end()}, {}};
  const int64_t size = tensor.numel() / tensor.dims[0];
  part.lanes.assign(tensor.lanes.begin() + k * size, tensor.lanes.begin() + (k + 1) * size);
  return part;
}

}  // namespace

Expected<void> Plan::run_loop(Step& step) {
  const Node& node = (*graph_)[step.node];
  const hlir::Loop& loop = node.as<hlir::Loop>();
  const int64_t trip = LUMEN_TRY(evaluate(loop.trip, values_));
  if (trip < 0) return error(fmt::format("[Loop] {} iterations ({} when run)", trip, loop.trip.str()));
  const auto carried = static_cast<size_t>(loop.carried);
  const auto scanned = static_cast<size_t>(loop.scanned);
  std::vector<HostTensor> current;
  for (size_t k = 0; k < carried; ++k) current.push_back(*at_[at(node.operands[k])]);
  for (const NodeId id : step.results) {
    make(id, LUMEN_TRY((*graph_)[id].type.shape.evaluate(values_)));
  }
  if (trip > 0 && !step.body) step.body = std::make_unique<Plan>(LUMEN_TRY(compile(*loop.body.graph, values_)));
  for (int64_t t = 0; t < trip; ++t) {
    std::vector<HostTensor> slices;
    for (size_t k = 0; k < scanned; ++k) slices.push_back(slice(*at_[at(node.operands[carried + k])], t));
    std::vector<const HostTensor*> inputs;
    for (const HostTensor& tensor : current) inputs.push_back(&tensor);
    for (const HostTensor& tensor : slices) inputs.push_back(&tensor);
    for (size_t k = carried + scanned; k < node.operands.size(); ++k) inputs.push_back(at_[at(node.operands[k])]);
    std::vector<HostTensor> outputs = LUMEN_TRY(step.body->run(inputs));
    for (const NodeId id : step.results) {
      const int64_t result = (*graph_)[id].as<hlir::Loop>().result;
      if (result < loop.carried) continue;
      const HostTensor& part = outputs[static_cast<size_t>(result)];
      std::copy(part.lanes.begin(), part.lanes.end(), owned_[at(id)].lanes.begin() + t * part.numel());
    }
    for (size_t k = 0; k < carried; ++k) current[k] = std::move(outputs[k]);
  }
  for (const NodeId id : step.results) {
    const int64_t result = (*graph_)[id].as<hlir::Loop>().result;
    if (result < loop.carried) owned_[at(id)] = current[static_cast<size_t>(result)];
  }
  return {};
}

}  // namespace lumen::reference
