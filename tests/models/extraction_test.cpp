// Programs that the search could choose for a model, at random: all must compute what the model does. They are
// interpreted, or compiled with LUMEN_BACKEND=cpu or cuda.
#include <gtest/gtest.h>

#include <ostream>
#include <set>

#include "lumen/backend/cpu/cpu_device.h"
#include "lumen/backend/cuda/cuda_device.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/base/flags.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/extract.h"
#include "lumen/search/lower.h"
#include "lumen/search/roll.h"
#include "lumen/search/verify.h"
#include "tests/models/tiny.h"

namespace lumen::models {
namespace {

constexpr uint64_t kPrograms = 32;

struct Architecture {
  std::string name;
  std::string changes;  // to tiny_config
  ModelOptions options = {};

  friend void PrintTo(const Architecture& each, std::ostream* stream) { *stream << each.name; }
};

// The bodies that compilation searches, each once.
std::vector<std::shared_ptr<const Graph>> distinct_parts(const std::shared_ptr<const Graph>& graph) {
  std::vector<std::shared_ptr<const Graph>> bodies;
  std::set<std::string> texts;
  const std::vector<Carved> parts = search::roll(*graph).value();
  for (const Carved& part : parts) {
    if (texts.insert(print(*part.body)).second) bodies.push_back(part.body);
  }
  if (bodies.empty()) bodies.push_back(graph);
  return bodies;
}

// Null where programs are interpreted.
std::shared_ptr<const Device> chosen_device() {
  if (flags().backend == "cuda") return cuda::CudaDevice::open(0, 0).value();
  if (flags().backend == "cpu") return cpu::CpuDevice::find({"-O1", "-w"}).value();
  return nullptr;
}

std::vector<std::unique_ptr<Executable>> executables_of(std::span<const std::shared_ptr<const Graph>> graphs,
                                                        const Device* device, const DimValues& dims) {
  std::vector<std::unique_ptr<Executable>> executables;
  if (device == nullptr) {
    for (const auto& graph : graphs) executables.push_back(reference_executable(expand(*graph)));
    return executables;
  }
  search::Tuner tuner(*device, {dims, false, nullptr});
  std::vector<Program> programs;
  for (const auto& graph : graphs) {
    programs.push_back(search::lower(graph, search::FusionPolicy::always, tuner).value().program);
  }
  std::vector<Binary> binaries = device->build(std::move(programs)).value();
  for (Binary& binary : binaries) executables.push_back(device->load(std::move(binary)).value());
  return executables;
}

class Extraction : public ::testing::TestWithParam<Architecture> {
 protected:
  // How many of the programs are different ones.
  size_t expect_agreement(const std::shared_ptr<const Graph>& body) {
    const DimValues dims = search::small_dims(*body);
    const std::unique_ptr<Executable> wanted = reference_executable(body);
    Saturated saturated = saturate(*body).value();
    EXPECT_EQ(saturated.report().limit, "");
    std::set<std::string> texts;
    std::vector<std::shared_ptr<const Graph>> programs;
    for (uint64_t seed = 0; seed < kPrograms; ++seed) {
      programs.push_back(extract_random(saturated, seed).value());
      if (!texts.insert(print(*programs.back())).second) programs.pop_back();
    }
    const std::vector<std::unique_ptr<Executable>> executables = executables_of(programs, device_.get(), dims);
    for (size_t k = 0; k < programs.size(); ++k) {
      const Expected<void> same = search::compare_executables(*body, dims, *wanted, *executables[k]);
      if (same.ok()) continue;
      ADD_FAILURE() << same.diag().str() << "\n" << print(*body) << print(*programs[k]);
      break;
    }
    return texts.size();
  }

  const std::shared_ptr<const Device> device_ = chosen_device();
};

TEST_P(Extraction, random_programs_of_every_part_agree) {
  const Model model = build_model(tiny_config(GetParam().changes), GetParam().options).value();
  const std::vector<std::shared_ptr<const Graph>> bodies = distinct_parts(model.graph);
  size_t most = 0;
  for (const std::shared_ptr<const Graph>& body : bodies) {
    most = std::max(most, expect_agreement(body));
  }
  EXPECT_GE(most, kPrograms / 2) << "too few programs to choose from";
}

constexpr const char* kMixture = R"("num_local_experts": 3, "num_experts_per_tok": 2, "num_hidden_layers": 3)";

INSTANTIATE_TEST_SUITE_P(
    Models, Extraction,
    ::testing::Values(Architecture{"llama", R"({"num_hidden_layers": 3})", {.max_context = 16}},
                      Architecture{"llama_bf16_paged",
                                   R"({"num_hidden_layers": 3})",
                                   {.batch = 2, .max_context = 16, .dtype = bf16, .paging = nn::Paging{4, 9}}},
                      Architecture{"gemma3",
                                   R"({"architectures": ["Gemma3ForCausalLM"], "head_dim": 4, "sliding_window": 3,
                         "num_hidden_layers": 4, "sliding_window_pattern": 2, "rope_local_base_freq": 70.0})",
                                   {.max_context = 16}},
                      Architecture{
                          "gpt2",
                          R"({"architectures": ["GPT2LMHeadModel"], "n_embd": 8, "n_positions": 256, "n_layer": 3,
                         "n_head": 2})",
                          {.max_context = 16}},
                      Architecture{"mixtral",
                                   std::string(R"({"architectures": ["MixtralForCausalLM"], )") + kMixture + "}",
                                   {.max_context = 16}},
                      Architecture{"gpt_oss",
                                   std::string(R"({"architectures": ["GptOssForCausalLM"], "head_dim": 4,
                                     "rope_parameters": {"rope_type": "default"}, )") +
                                       kMixture + "}",
                                   {.max_context = 16}},
                      Architecture{"bert", R"({"architectures": ["BertModel"], "num_hidden_layers": 3})"}),
    [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace lumen::models
