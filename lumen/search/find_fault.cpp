#include "lumen/search/find_fault.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lumen/backend/cpu/work_dir.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/kernel/reduce_graph.h"
#include "lumen/kernel/title.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/verify.h"

namespace lumen::search {

namespace {

constexpr double kReduceSeconds = 10;
constexpr double kLongestOfKernel = 0.2;  // seconds

using GraphPtr = std::shared_ptr<const Graph>;

ReduceOptions for_a_while() {
  ReduceOptions options;
  options.seconds = kReduceSeconds;
  return options;
}

Expected<std::string> write_graph(const Graph& graph, std::string_view name) {
  cpu::WorkDir work = LUMEN_TRY(cpu::WorkDir::make());
  LUMEN_TRY(cpu::write_file(work.file(name), print(graph)));
  return work.keep_only(name);
}

// Whether a graph of llir_stage() and another compute the same, both by the reference.
Expected<bool> agree(const Graph& wanted, const Graph& got) {
  const std::unique_ptr<Executable> one = reference_executable(expand(wanted));
  const std::unique_ptr<Executable> other = reference_executable(expand(got));
  return compare_executables(wanted, small_dims(wanted), *one, *other).ok();
}

// Whether rewriting, without one rule, makes a program of the graph that computes something else.
Expected<bool> is_rewritten_wrongly(const Graph& graph, const Machine& machine, const std::string& without) {
  RewriteOptions options;
  options.machine = machine;
  options.dims = typical_dims(graph);
  if (!without.empty()) options.saturate.without = {without};
  const Expected<Rewritten> found = rewrite(graph, options);
  if (!found.ok()) return true;
  for (const Candidate& candidate : found->candidates) {
    if (!LUMEN_TRY(agree(graph, *candidate.graph))) return true;
  }
  return false;
}

Expected<std::string> find_wrong_rule(const GraphPtr& graph, const Graph& program, const Machine& machine) {
  if (interpreting_seconds(*graph, small_dims(*graph)) > kLongestOfKernel) return std::string();
  if (LUMEN_TRY(agree(*graph, program))) return std::string();
  if (!LUMEN_TRY(is_rewritten_wrongly(*graph, machine, ""))) {
    return std::string("the program is not one that the rules make of the graph: was it given, by LUMEN_OVERRIDE?");
  }
  const Interesting wrong = [&](const GraphPtr& each) { return is_rewritten_wrongly(*each, machine, ""); };
  const GraphPtr small = LUMEN_TRY(reduce_graph(graph, wrong, for_a_while())).graph;
  SaturateOptions unchecked;
  unchecked.check = false;
  const Saturated saturated = LUMEN_TRY(saturate(*small, unchecked));
  std::vector<std::string> culprits;
  for (const egraph::RuleReport& rule : saturated.report().rules) {
    if (rule.matches > 0 && !LUMEN_TRY(is_rewritten_wrongly(*small, machine, rule.name))) culprits.push_back(rule.name);
  }
  const std::string file = LUMEN_TRY(write_graph(*small, "rule.hlir"));
  if (culprits.empty()) return fmt::format("a rule is wrong; {} is the smallest graph that shows it", file);
  return fmt::format("a rule is wrong: all is well without {}; {} is the smallest graph that shows it",
                     fmt::join(culprits, ", or without "), file);
}

// What is wrong with a kernel that runs alone; empty when nothing is.
Expected<std::string> problem_of(const ProgramKernel& kernel, const Device& device) {
  std::vector<Program> programs;
  programs.push_back(LUMEN_TRY(alone(kernel)));
  std::vector<Binary> own = LUMEN_TRY(device.build(std::move(programs)));
  const std::unique_ptr<Executable> got = LUMEN_TRY(device.load(std::move(own[0])));
  const std::unique_ptr<Executable> wanted = LUMEN_TRY(plain_executable(kernel.body, device));
  const Expected<void> same = compare_executables(*kernel.body, small_dims(*kernel.body), *wanted, *got);
  return same.ok() ? std::string() : same.diag().str();
}

// The same for a body that is printed by a schedule; where it cannot be, nothing is wrong.
Expected<bool> is_printed_wrongly(const GraphPtr& body, const std::string& schedule, const Device& device) {
  const Expected<ProgramKernel> kernel = make_kernel(body, schedule, device.target());
  if (!kernel.ok()) return false;
  return !LUMEN_TRY(problem_of(*kernel, device)).empty();
}

Expected<std::string> find_wrong_kernel(const Binary& binary, const Device& device) {
  for (const ProgramKernel& kernel : binary.program.kernels) {
    if (kernel.text.steps.empty()) continue;
    const std::string problem = LUMEN_TRY(problem_of(kernel, device));
    if (problem.empty()) continue;
    GraphPtr body = kernel.body;
    const Interesting wrong = [&](const GraphPtr& each) { return is_printed_wrongly(each, kernel.schedule, device); };
    const Expected<Reduced> reduced = reduce_graph(body, wrong, for_a_while());
    if (reduced.ok()) body = reduced->graph;
    return fmt::format("the kernel {} ({}) is wrong: {}; {} is in {}", kernel_title(*kernel.body), kernel.schedule,
                       problem, reduced.ok() ? "the smallest body that shows it" : "its body",
                       LUMEN_TRY(write_graph(*body, "kernel.llir")));
  }
  return std::string();
}

}  // namespace

Expected<std::string> find_fault(const GraphPtr& graph, const Binary& binary, const Device& device) {
  std::string fault = LUMEN_TRY(find_wrong_rule(graph, *binary.program.graph, machine_like(device.target())));
  if (fault.empty()) fault = LUMEN_TRY(find_wrong_kernel(binary, device));
  return fault.empty() ? "every kernel is right on its own: a rule is wrong" : fault;
}

}  // namespace lumen::search
