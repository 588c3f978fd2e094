#include "lumen/backend/cuda/joint_texts.h"

#include <set>

#include "lumen/backend/waves.h"
#include "lumen/codegen/cuda_together.h"

namespace lumen::cuda {

namespace {

constexpr size_t kMostJoint = 4;  // kernels of one launch

}  // namespace

Expected<Program> in_joint_waves(Program program) {
  const auto kind = [](const ProgramKernel& kernel) { return joint_kind(kernel.schedule, kernel.text.steps); };
  return in_waves(std::move(program), kind, kMostJoint);
}

std::vector<std::vector<uint32_t>> joint_kernels(const Program& program) {
  const Expected<Program> arranged = in_joint_waves(program);
  if (!arranged.ok()) return {};
  std::set<std::vector<uint32_t>> launches;
  for (const std::span<const ProgramCall> wave : waves_of(*arranged)) {
    std::set<uint32_t> kernels;
    for (const ProgramCall& call : wave) kernels.insert(call.kernel);
    if (wave.size() > 1) launches.insert({kernels.begin(), kernels.end()});
  }
  return {launches.begin(), launches.end()};
}

void add_joint_texts(const Program& program, std::map<std::string, std::string>& texts) {
  for (const std::span<const ProgramCall> wave : waves_of(program)) {
    if (wave.size() == 1) continue;
    std::vector<const KernelStep*> steps;
    std::vector<const std::string*> parts;
    for (const ProgramCall& call : wave) {
      const KernelText& kernel = program.kernels[call.kernel].text;
      steps.push_back(&kernel.steps.back());
      parts.push_back(&kernel.text);
    }
    std::string& text = texts[joint_step(steps).name];
    if (text.empty()) text = print_joint(steps, parts);
  }
}

}  // namespace lumen::cuda
