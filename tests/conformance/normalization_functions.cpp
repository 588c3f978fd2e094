#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

auto along(Tensor (*f)(const Operand&, int64_t)) {
  return [f](const Call& c) -> Results { return {f(c.x(), c.integer("axis"))}; };
}

}  // namespace

std::span<const Function> normalization_functions() {
  static const std::vector<Function> table = {
      {"softmax", along(softmax)},
      {"log_softmax", along(log_softmax)},
      {"softmin", along(softmin)},
      {"mean_norm", along(mean_norm)},
      {"std_norm", [](const Call& c) -> Results { return {std_norm(c.x(), c.integer("axis"), c.real("eps"))}; }},
      {"layer_norm",
       [](const Call& c) -> Results {
         return {layer_norm(c.x(), c.integer("rank"), c.optional_operand(1), c.optional_operand(2), c.real("eps"))};
       }},
      {"rms_norm", [](const Call& c) -> Results { return {rms_norm(c.x(), c.optional_operand(1), c.real("eps"))}; }},
      {"normalize",
       [](const Call& c) -> Results { return {normalize(c.x(), c.real("p"), c.integer("axis"), c.real("eps"))}; }},
      {"batch_norm",
       [](const Call& c) -> Results {
         return {batch_norm(c.x(), c.operand(1), c.operand(2), c.optional_operand(3), c.optional_operand(4),
                            c.real("eps"))};
       }},
      {"group_norm",
       [](const Call& c) -> Results {
         return {group_norm(c.x(), c.integer("groups"), c.optional_operand(1), c.optional_operand(2), c.real("eps"))};
       }},
      {"instance_norm",
       [](const Call& c) -> Results {
         return {instance_norm(c.x(), c.optional_operand(1), c.optional_operand(2), c.real("eps"))};
       }},
  };
  return table;
}

}  // namespace lumen::conformance
