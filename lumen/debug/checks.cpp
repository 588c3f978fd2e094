#include "lumen/debug/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lumen/debug/facts.h"
#include "lumen/search/check_terms.h"

namespace lumen::debug {

namespace {

using Kind = TermFault::Kind;

constexpr std::string_view kMissingKernel = "missing-kernel", kDType = "dtype", kShape = "shape", kFacts = "facts",
                           kAll = "all";

// The values of the graph that a kernel stands for.
std::string vars_in(const Inspection& inspection, const Lowering& lowering, size_t kernel) {
  std::vector<std::string> vars;
  for (const NodeId id : inspection.graph().order()) {
    const auto found = lowering.kernels_of.find(id);
    if (found == lowering.kernels_of.end() || !lowering.is_computed.at(id)) continue;
    const bool free =
        inspection.graph()[id].op->family == OpFamily::leaf || inspection.graph()[id].op->family == OpFamily::view;
    if (!free && std::ranges::find(found->second, kernel) != found->second.end()) vars.push_back(inspection.var(id));
  }
  return fmt::format("{}", fmt::join(vars, " "));
}

void find_missing_kernels(Inspection& inspection, const Expected<Lowering>& lowering, std::vector<Finding>& findings) {
  if (!lowering.ok()) {
    findings.push_back({std::string(kMissingKernel), "", lowering.diag().message});
    return;
  }
  for (size_t k = 0; k < lowering->kernels.size(); ++k) {
    const KernelView& kernel = lowering->kernels[k];
    if (kernel.problem.empty()) continue;
    findings.push_back({std::string(kMissingKernel), vars_in(inspection, *lowering, k),
                        fmt::format("no kernel computes {}: {}", kernel.title, kernel.problem)});
  }
}

bool belongs(std::string_view check, Kind kind) {
  return kind == Kind::refused || (check == kDType && kind == Kind::dtype) || (check == kShape && kind == Kind::shape);
}

Expected<void> find_wrong_types(Inspection& inspection, std::string_view check, std::vector<Finding>& findings) {
  const std::optional<NodeId> untyped = LUMEN_TRY(first_without_fact(inspection, "type_of", ""));
  if (untyped) {
    const FactTrace trace = LUMEN_TRY(trace_fact(inspection, "type_of", *untyped));
    const std::string& own = trace.steps[0].cause;
    findings.push_back({std::string(check), inspection.var(*untyped),
                        fmt::format("the {} of {} is not known: {}", check, inspection.graph()[*untyped].op->name,
                                    own.empty() ? trace.cause() : own)});
  }
  for (const TermFault& fault : term_faults(inspection.egraph(), inspection.saturated().encoding())) {
    if (!belongs(check, fault.kind)) continue;
    findings.push_back({std::string(check), inspection.value_text(inspection.tensor_sort(), fault.tensor),
                        fmt::format("{} made a term that is no tensor: {}",
                                    fault.rule.empty() ? "a rule" : "the rule " + fault.rule, fault.message)});
  }
  return {};
}

}  // namespace

Expected<std::vector<Finding>> check(Inspection& inspection, const Expected<Lowering>& lowering,
                                     std::string_view what) {
  const auto known = {kMissingKernel, kDType, kShape, kFacts, kAll};
  if (std::ranges::find(known, what) == known.end()) {
    return error(fmt::format("no check is called {}; there are {}", what, fmt::join(known, ", ")));
  }
  std::vector<Finding> findings;
  for (const std::string_view types : {kDType, kShape}) {
    if (what == types || what == kFacts || what == kAll) LUMEN_TRY(find_wrong_types(inspection, types, findings));
  }
  if (what == kMissingKernel || what == kAll) find_missing_kernels(inspection, lowering, findings);
  // What both checks of types say is said once.
  std::vector<Finding> distinct;
  for (Finding& each : findings) {
    const auto same = [&](const Finding& other) { return other.var == each.var && other.message == each.message; };
    if (std::ranges::none_of(distinct, same)) distinct.push_back(std::move(each));
  }
  return distinct;
}

}  // namespace lumen::debug
