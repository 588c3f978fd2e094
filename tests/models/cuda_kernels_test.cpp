// Every kernel that models need on a GPU, assembled for every generation: no GPU is needed for that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "lumen/backend/cuda/joint_texts.h"
#include "lumen/backend/cuda/kernel_compiler.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/ops.h"
#include "lumen/ir/text.h"
#include "lumen/runtime/variants.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/roll.h"
#include "models/model.h"
#include "tests/support/drawn_gpu.h"
#include "tests/support/graphs/products.h"
#include "tests/support/nvrtc.h"
#include "tests/support/source_dir.h"

namespace lumen::models {
namespace {

// The texts of a graph's kernels, by name, each by the schedule that is proposed first.
void add_texts(const std::shared_ptr<const Graph>& graph, int sm, std::map<std::string, std::string>& texts) {
  const tests::DrawnGpu device(sm);
  std::vector<std::shared_ptr<const Graph>> parts;
  const std::vector<Carved> rolled = search::roll(*graph, tests::gpu_target()).value();
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
  std::map<int, std::map<std::string, std::string>> texts;  // by what they are drawn for
  for (const char* const name : {"llama-3-8b", "qwen3-30b-a3b"}) {
    std::ifstream file(tests::source_dir() / "bench/models" / (std::string(name) + ".json"));
    std::ostringstream config;
    config << file.rdbuf();
    const Model model = build_model(config.str(), {.batch = 1, .max_context = 512, .candidates = 64}).value();
    for (const DimRange& range : {DimRange{"seq", 1, 1}, DimRange{"seq", 2, 512}}) {
      for (const int sm : {80, 90}) add_texts(restricted(*model.graph, {range}).value(), sm, texts[sm]);
    }
  }
  const auto is_grouped = [](const auto& each) { return each.second.find("atomicAdd(starts") != std::string::npos; };
  EXPECT_EQ(std::ranges::count_if(texts[90], is_grouped), 2) << "tokens that have chosen the same expert, both ways";
  for (const int sm : {80, 90, 100}) {
    std::vector<std::string> all;
    for (const auto& [name, text] : texts[sm == 90 ? 90 : 80]) all.push_back(text);
    const auto objects = compiler.compile(all, sm);
    EXPECT_TRUE(objects.ok()) << objects.diag().str();
  }
}

// What the assembler says about a text for sm_90a.
std::string assembled(const cuda::RuntimeCompiler& nvrtc, const std::string& text) {
  void* program = nullptr;
  const std::string all = kernel_prelude(Syntax::cuda) + text;
  EXPECT_EQ(nvrtc.create(&program, all.c_str(), "kernels.cu", 0, nullptr, nullptr), 0);
  const char* const options[] = {"-arch=sm_90a", "-std=c++17", "--fmad=true", "-w", "--ptxas-options=-v"};
  EXPECT_EQ(nvrtc.compile(program, static_cast<int>(std::size(options)), options), 0) << text;
  size_t size = 0;
  nvrtc.log_size(program, &size);
  std::string log(size, '\0');
  nvrtc.log(program, log.data());
  nvrtc.destroy(&program);
  return log;
}

std::shared_ptr<const Graph> attention(int64_t width, DType dtype, bool causal) {
  Graph graph;
  const Expr rows = graph.dim("rows", 1, 8192);
  const auto read = [&](const char* name) { return cast(graph.input(name, {32, rows, width}, dtype), f32); };
  const Tensor q = read("q"), k = read("k"), v = read("v");
  Tensor scores = testing::product(q, "hqd", k, "hkd", "hqk") * 0.1;
  if (causal) {
    const Expr seen = le(Expr::index(1, rows), Expr::index(0, rows));
    scores = where(iota(graph, {rows, rows}, seen, bool_), scores, -INFINITY);
  }
  const Tensor weights = exp2((scores - max(scores, {-1}, true)) * 1.4426950408889634);
  cast(testing::product(weights, "hqk", v, "hkd", "hqd") / sum(weights, {-1}, true), dtype).output("o");
  return clone(graph);
}

// Nothing is spilled, and no product waits for the one before it, of which the assembler would give a notice (C75…).
TEST(CudaKernels, products_of_groups_run_on) {
  const auto nvrtc = cuda::load_compiler(tests::compilers_of_kernels());
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.diag().str();
  for (const bool causal : {false, true}) {
    for (const auto& [width, keys] : {std::pair{64, 128}, {96, 128}, {128, 128}, {128, 64}, {256, 64}}) {
      const std::string schedule =
          fmt::format("gpu-flash-wgmma rows=128 keys={} threads=384 stages={}", keys, keys == 128 ? 3 : 2);
      const DType dtype = width == 64 ? f16 : bf16;
      const auto kernel = print_kernel(*attention(width, dtype, causal), "k", schedule, tests::gpu_target());
      ASSERT_TRUE(kernel.ok()) << kernel.diag().str();
      const std::string log = assembled(**nvrtc, kernel->text);
      EXPECT_NE(log.find(" 0 bytes spill stores"), std::string::npos) << schedule << "\n" << log;
      EXPECT_EQ(log.find("(C75"), std::string::npos) << schedule << "\n" << log;
    }
  }
}

}  // namespace
}  // namespace lumen::models
