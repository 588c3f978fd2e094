// The same kernels as CUDA C. Compiled only: they run where there is a GPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "lumen/codegen/fold.h"
#include "lumen/codegen/map.h"
#include "lumen/codegen/scan.h"
#include "lumen/codegen/scatter.h"
#include "lumen/codegen/sort.h"
#include "lumen/frontend/ops.h"
#include "lumen/kernel/carve.h"
#include "tests/codegen/compiled.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/scratch_dir.h"

namespace lumen {
namespace {

// What the compiler says; empty when it accepts the text.
std::string compile_cuda(const std::string& text) {
  const tests::ScratchDir folder;
  std::ofstream(folder / "kernels.cu") << text;
  const CommandResult said =
      run_command("cd " + folder.path() + " && nvcc -cubin -arch=sm_90 -w kernels.cu -o kernels.cubin");
  if (said.status == 0 && std::filesystem::exists(folder / "kernels.cubin")) return "";
  return "nvcc ended with " + std::to_string(said.status) + ": " + said.output.substr(0, 4000);
}

TEST(Cuda, accepts_what_is_printed) {
  if (run_command("nvcc --version").status != 0) GTEST_SKIP() << "no nvcc on this machine";
  EXPECT_NE(compile_cuda("int broken("), "");  // it can say no
  std::string text = kernel_prelude(Syntax::cuda);
  int kernels = 0;
  const uint64_t first = std::random_device{}();
  for (uint64_t seed = first; kernels < 40; ++seed) {
    const testing::RandomGraph given = testing::make_random_graph(seed);
    for (const NodeId id : given.graph->order()) {
      if ((*given.graph)[id].is<Input>()) continue;
      const Carved carved = carve(*given.graph, std::vector<NodeId>{id}, std::vector<NodeId>{id});
      const std::string name = "k" + std::to_string(kernels);
      auto kernel = print_map(*carved.body, name);
      if (!kernel.ok()) kernel = print_fold(*carved.body, name);
      if (!kernel.ok()) kernel = print_scan(*carved.body, name);
      if (!kernel.ok()) kernel = print_sort(*carved.body, name);
      if (!kernel.ok()) kernel = print_scatter(*carved.body, name);
      if (!kernel.ok()) continue;
      text += kernel->text;
      ++kernels;
    }
  }
  Graph graph;
  const Expr n = graph.dim("n", 1, 4096);
  const Tensor x = graph.input("x", {8, n}, DType::bf16);
  softmax(x, 1).output("y");
  text += print_fold(graph, "softmax").value().text;
  Graph columns;
  const Tensor z = columns.input("z", {1000, 600});
  softmax(z, 0).output("y");
  argmax(z, 0).output("place");
  text += print_fold(columns, "columns").value().text;
  Graph turned;
  transpose(turned.input("x", {100, 200})).output("y");
  text += print_map(turned, "turned").value().text;
  EXPECT_EQ(compile_cuda(text), "") << "seeds from " << first;
}

}  // namespace
}  // namespace lumen
