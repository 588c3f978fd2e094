#include "lumen/codegen/cuda_together.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lumen/base/check.h"
#include "lumen/base/hash.h"

namespace lumen {

namespace {

// Kernels that take a few microseconds where there are few rows. The large ones keep their registers to themselves.
// Products of few rows are of one kind, by whatever method.
constexpr std::pair<std::string_view, std::string_view> kSmall[] = {
    {"map", "map"},         {"fold", "fold"},          {"gpu-scatter", "scatter"},
    {"gpu-dot", "product"}, {"gpu-blocks", "product"}, {"gpu-sweep", "product"}};

// A step's function in a text: a line that defines the names of its buffers, and LUMEN_KERNEL(name, threads, counts)
// {…}, or LUMEN_KERNEL_2 for as many blocks of a multiprocessor.
struct Function {
  std::string names;
  int blocks = 1;
  std::string counts;  // of inputs, outputs and dims
  std::string body;
};
Function function_named(const std::string& text, const std::string& name) {
  const size_t names = text.find(fmt::format("#define {}_NAMES(", name)), after = text.find('\n', names) + 1;
  const size_t open = text.find(fmt::format("({}, ", name), after);
  CHECK(names != std::string::npos && open != std::string::npos, "a text without the function of its step");
  const size_t counts = text.find(", ", open + name.size() + 3) + 2, close = text.find(')', counts);
  const size_t end = text.find("\n}\n", close) + 3;
  const size_t digits = text.find_last_not_of("0123456789", open - 1) + 1;
  return {text.substr(names, after - names), digits < open ? std::stoi(text.substr(digits, open - digits)) : 1,
          text.substr(counts, close - counts), text.substr(close + 1, end - close - 1)};
}

}  // namespace

std::string joint_kind(std::string_view schedule, std::span<const KernelStep> steps) {
  const std::string_view word = schedule.substr(0, schedule.find(' '));
  const auto* const known = std::ranges::find(kSmall, word, &std::pair<std::string_view, std::string_view>::first);
  if (steps.empty() || known == std::end(kSmall)) return "";
  const bool single = std::ranges::all_of(steps.first(steps.size() - 1), &KernelStep::copies);
  return single && !steps.back().product ? fmt::format("{} {}", known->second, steps.back().threads) : "";
}

JointStep joint_step(std::span<const KernelStep* const> parts) {
  JointStep joint;
  std::string names;
  for (const KernelStep* part : parts) {
    names += part->name + " ";
    CHECK(joint.threads == 0 || joint.threads == part->threads, "parts of one launch with other blocks");
    joint.threads = part->threads;
    joint.shared = std::max(joint.shared, part->shared);
  }
  joint.name = fmt::format("joint{}_{:016x}", parts.size(), hash_bytes(names));
  return joint;
}

// A part's function has names of its own for which block it is in, and how many there are.
std::string print_joint(std::span<const KernelStep* const> parts, std::span<const std::string* const> texts) {
  const JointStep joint = joint_step(parts);
  std::string functions, members, choices;
  int blocks = 1;
  for (size_t k = 0; k < parts.size(); ++k) {
    const Function function = function_named(*texts[k], parts[k]->name);
    blocks = k == 0 ? function.blocks : std::min(blocks, function.blocks);
    const std::string arguments = fmt::format("LumenArgs<{}>", function.counts);
    functions += function.names;
    functions += fmt::format("LUMEN_FN void {}_{}(const {}& args, LumenBlocks blockIdx, LumenBlocks gridDim){}",
                             joint.name, k, arguments, function.body);
    members += fmt::format("  {} part{};\n", arguments, k);
    choices += fmt::format(
        "  {0}if (block < args.ends[{1}]) {{\n"
        "    {2}_{1}(args.part{1}, {{(unsigned)(block - {3})}}, {{(unsigned)(args.ends[{1}] - {3})}});\n  }}",
        k == 0 ? "" : "else ", k, joint.name, k == 0 ? "0" : fmt::format("args.ends[{}]", k - 1));
    if (k + 1 < parts.size()) choices += "\n";
  }
  return functions +
         fmt::format(
             "struct {0}_args {{\n  int64_t ends[{1}];\n{2}}};\n"
             "extern \"C\" __global__ void __launch_bounds__({3}, {5}) {0}(const __grid_constant__ {0}_args "
             "args) {{\n  const int64_t block = blockIdx.x;\n{4}\n}}\n",
             joint.name, parts.size(), members, joint.threads, choices, blocks);
}

}  // namespace lumen
