// Every kernel that models need on a GPU, assembled for every generation: no GPU is needed for that.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "lumen/backend/cuda/joint_texts.h"
#include "lumen/backend/cuda/kernel_compiler.h"
#include "lumen/ir/text.h"
#include "lumen/runtime/variants.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/roll.h"
#include "models/model.h"
#include "tests/support/gpu_target.h"
#include "tests/support/nvrtc.h"
#include "tests/support/source_dir.h"

namespace lumen::models {
namespace {

// Has the target of a GPU, and builds nothing.
class Drawing : public Device {
 public:
  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  std::string fingerprint() const override { return name_; }
  std::string setting() const override { return ""; }
  std::string compiler_version() const override { return ""; }
  std::vector<std::string> needs() const override { return {}; }
  Expected<std::vector<Binary>> build(std::vector<Program>) const override { return error("a drawing"); }
  Expected<std::shared_ptr<const Code>> load_code(std::string) const override { return error("a drawing"); }
  Expected<std::unique_ptr<Executable>> load(Binary) const override { return error("a drawing"); }

 private:
  std::string name_ = "drawing";
  Target target_ = tests::gpu_target();
};

// The texts of a graph's kernels, by name, each by the schedule that is proposed first.
void add_texts(const std::shared_ptr<const Graph>& graph, std::map<std::string, std::string>& texts) {
  const Drawing device;
  std::vector<std::shared_ptr<const Graph>> parts;
  const std::vector<Carved> rolled = search::roll(*graph).value();
  for (const Carved& part : rolled) parts.push_back(part.body);
  if (parts.empty()) parts.push_back(graph);
  std::set<std::string> seen;
  for (const std::shared_ptr<const Graph>& part : parts) {
    if (!seen.insert(print(*part)).second) continue;
    RewriteOptions options;
    options.candidates = 1;
    options.machine = machine_like(device.target());
    const Rewritten rewritten = rewrite(*part, options).value();
    search::Tuner tuner(device, {typical_dims(*part), false, nullptr});
    const search::Lowered lowered =
        search::lower(rewritten.candidates[0].graph, search::FusionPolicy::always, tuner).value();
    cuda::add_joint_texts(cuda::in_joint_waves(lowered.program).value(), texts);
    for (const ProgramKernel& kernel : lowered.program.kernels) {
      ASSERT_FALSE(kernel.text.steps.empty()) << "no kernel for\n" << print(*kernel.body);
      texts[kernel.text.steps[0].name] = kernel.text.text;
    }
  }
}

TEST(CudaKernels, of_models_are_assembled) {
  const auto nvrtc = cuda::load_compiler(tests::compilers_of_kernels());
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.diag().str();
  const cuda::KernelCompiler compiler(*nvrtc);
  std::map<std::string, std::string> texts;
  for (const char* const name : {"llama-3-8b", "qwen3-30b-a3b"}) {
    std::ifstream file(tests::source_dir() / "bench/models" / (std::string(name) + ".json"));
    std::ostringstream config;
    config << file.rdbuf();
    const Model model = build_model(config.str(), {.batch = 1, .max_context = 512, .candidates = 64}).value();
    for (const DimRange& range : {DimRange{"seq", 1, 1}, DimRange{"seq", 2, 512}}) {
      add_texts(restricted(*model.graph, {range}).value(), texts);
    }
  }
  std::vector<std::string> all;
  for (const auto& [name, text] : texts) all.push_back(text);
  for (const int sm : {80, 90, 100}) {
    const auto objects = compiler.compile(all, sm);
    EXPECT_TRUE(objects.ok()) << objects.diag().str();
  }
}

}  // namespace
}  // namespace lumen::models
