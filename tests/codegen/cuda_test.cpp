// The same kernels as CUDA C, assembled for every generation of GPUs. What they compute, cuda_emulator.h finds out.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "lumen/codegen/fold.h"
#include "lumen/codegen/map.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/codegen/scan.h"
#include "lumen/codegen/scatter.h"
#include "lumen/codegen/sort.h"
#include "lumen/frontend/ops.h"
#include "lumen/kernel/carve.h"
#include "tests/codegen/attention_graphs.h"
#include "tests/codegen/compiled.h"
#include "tests/support/gpu_target.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/scratch_dir.h"

namespace lumen {
namespace {

const char* const kGenerations =
    " -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a"
    " -gencode arch=compute_100a,code=sm_100a";

// What the compiler and the assembler say, and whether they accept the text.
CommandResult compile_cuda(const std::string& text) {
  const tests::ScratchDir folder;
  std::ofstream(folder / "kernels.cu") << text;
  CommandResult said = run_command(
      "cd " + folder.path() + " && nvcc -fatbin --threads 2 -Xptxas -v -w kernels.cu -o kernels.fatbin" + kGenerations);
  if (!std::filesystem::exists(folder / "kernels.fatbin")) said.status = -1;
  return said;
}

TEST(Cuda, accepts_what_is_printed) {
  if (run_command("nvcc --version").status != 0) GTEST_SKIP() << "no nvcc on this machine";
  EXPECT_NE(compile_cuda("int broken(").status, 0);  // it can say no
  std::string text = kernel_prelude(Syntax::cuda);
  int kernels = 0;
  const uint64_t first = std::random_device{}();
  for (uint64_t seed = first; kernels < 40; ++seed) {
    const testing::RandomGraph given = testing::make_random_graph(seed);
    for (const NodeId id : given.graph->order()) {
      if ((*given.graph)[id].is<Input>()) continue;
      const Carved carved = carve(*given.graph, std::vector<NodeId>{id}, std::vector<NodeId>{id});
      const std::string name = "k" + std::to_string(kernels);
      auto kernel = print_map(*carved.body, name, {.pieces = true});
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
  text += print_map(turned, "turned", {.pieces = true}).value().text;
  const CommandResult said = compile_cuda(text);
  EXPECT_EQ(said.status, 0) << "seeds from " << first << "\n" << said.output.substr(0, 4000);
}

// What a kernel does to memory in PTX, instruction by instruction: "ld.global.nc.v4.u32", "st.v4.u32", …
std::map<std::string, std::vector<std::string>> accesses_of(const std::string& ptx) {
  std::map<std::string, std::vector<std::string>> found;
  std::istringstream lines(ptx);
  std::string kernel;
  for (std::string line; std::getline(lines, line);) {
    const size_t entry = line.find(".visible .entry ");
    if (entry != std::string::npos) kernel = line.substr(entry + 16, line.find('(') - entry - 16);
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word.starts_with("@")) words >> word;
    const bool global = word.starts_with("ld.global") || word.starts_with("ld.L1") || word.starts_with("st.");
    if (global && !word.starts_with("st.shared") && !word.starts_with("st.local")) found[kernel].push_back(word);
  }
  return found;
}

// Rows of 16-bit and 32-bit elements are read and written by 16 bytes: no compiler makes such stores of single ones.
TEST(Cuda, maps_and_folds_read_and_write_16_bytes) {
  if (run_command("nvcc --version").status != 0) GTEST_SKIP() << "no nvcc on this machine";
  std::string text = kernel_prelude(Syntax::cuda);
  int kernels = 0;
  const auto add = [&](const Graph& graph) {
    const std::vector<std::string> schedules = kernel_schedules(graph, tests::gpu_target()).value();
    const std::string name = "k" + std::to_string(kernels++);
    text += print_kernel(graph, name, schedules[0], tests::gpu_target()).value().text;
  };
  for (const DType dtype : {f32, bf16}) {
    Graph sums, curves, rows, norms, soft;
    (sums.input("x", {8192, 8192}, dtype) + sums.input("y", {8192, 8192}, dtype)).output("z");
    add(sums);
    gelu(curves.input("x", {8192, 8192}, dtype)).output("z");
    add(curves);
    maximum(rows.input("x", {8192, 8192}, dtype) * rows.input("s", {8192}, dtype), 0).output("z");
    add(rows);
    rms_norm(norms.input("x", {8192, 8192}, dtype), norms.input("w", {8192}, dtype)).output("z");
    add(norms);
    softmax(soft.input("x", {8192, 8192}, dtype), 1).output("z");
    add(soft);
  }
  const tests::ScratchDir folder;
  std::ofstream(folder / "kernels.cu") << text;
  const CommandResult said =
      run_command("cd " + folder.path() + " && nvcc -ptx -w -arch=sm_90a kernels.cu -o kernels.ptx && cat kernels.ptx");
  ASSERT_EQ(said.status, 0) << said.output.substr(0, 4000);
  const auto found = accesses_of(said.output);
  ASSERT_EQ(found.size(), static_cast<size_t>(kernels));
  for (const auto& [kernel, accesses] : found) {
    EXPECT_GE(accesses.size(), 2u) << kernel;
    for (const std::string& each : accesses) EXPECT_NE(each.find(".v4."), std::string::npos) << kernel << ": " << each;
  }
}

// Where results are large, their lines are to stay in the second cache; of a kept fold the rows' lines, too.
TEST(Cuda, large_results_are_kept) {
  if (run_command("nvcc --version").status != 0) GTEST_SKIP() << "no nvcc on this machine";
  std::string text = kernel_prelude(Syntax::cuda);
  for (const auto& [name, rows, schedule] :
       {std::tuple{"large", 8192, "fold"}, {"small", 1024, "fold"}, {"kept", 8192, "gpu-kept-fold"}}) {
    Graph graph;
    softmax(graph.input("x", {rows, 4096}), 1).output("z");
    text += print_kernel(graph, name, schedule, tests::gpu_target()).value().text;
  }
  const tests::ScratchDir folder;
  std::ofstream(folder / "kernels.cu") << text;
  const CommandResult said =
      run_command("cd " + folder.path() + " && nvcc -ptx -w -arch=sm_80 kernels.cu -o kernels.ptx && cat kernels.ptx");
  ASSERT_EQ(said.status, 0) << said.output.substr(0, 4000);
  const auto found = accesses_of(said.output);
  ASSERT_EQ(found.size(), 3u);
  for (const auto& [kernel, accesses] : found) {
    for (const std::string& each : accesses) {
      const bool kept = kernel == "kept" || (kernel == "large" && each.starts_with("st."));
      EXPECT_EQ(each.find("L2::cache_hint") != std::string::npos, kept) << kernel << ": " << each;
    }
  }
}

// A layer norm takes three loops over a row; each input is read in one of them, by whoever holds it for the others.
TEST(Cuda, folds_read_their_rows_once) {
  if (run_command("nvcc --version").status != 0) GTEST_SKIP() << "no nvcc on this machine";
  std::string text = kernel_prelude(Syntax::cuda);
  std::map<std::string, size_t> wanted;
  for (const DType dtype : {f32, bf16}) {
    Graph graph;
    const auto input = [&](const char* called, Shape shape) { return cast(graph.input(called, shape, dtype), f32); };
    const Tensor x = input("x", {8192, 8192});
    const Tensor centred = x - sum(x, {1}, true) * (1.0 / 8192);
    const Tensor scale = rsqrt(sum(centred * centred, {1}, true) * (1.0 / 8192) + 1e-5);
    cast(centred * scale * input("w", {8192}) + input("b", {8192}), dtype).output("z");
    const std::string name = "norm_" + std::string(lumen::name(dtype));
    const KernelText kernel = print_fold(graph, name).value();
    text += kernel.text;
    const size_t width = 128 / static_cast<size_t>(info(dtype).bits);
    wanted[name] = 3 * 8192 / width / static_cast<size_t>(kernel.steps[0].threads);  // of each thread
  }
  const tests::ScratchDir folder;
  std::ofstream(folder / "kernels.cu") << text;
  const CommandResult said =
      run_command("cd " + folder.path() +
                  " && nvcc -ptx -w -arch=sm_90a kernels.cu -o kernels.ptx && cat kernels.ptx && "
                  "ptxas -v -arch=sm_90a kernels.ptx -o kernels.cubin 2>&1");
  ASSERT_EQ(said.status, 0) << said.output.substr(0, 4000);
  for (const auto& [kernel, accesses] : accesses_of(said.output)) {
    const auto is_load = [](const std::string& each) { return each.starts_with("ld.global"); };
    EXPECT_EQ(std::ranges::count_if(accesses, is_load), static_cast<ptrdiff_t>(wanted[kernel])) << kernel;
  }
  EXPECT_EQ(said.output.find("st.local"), std::string::npos);
  size_t kernels = 0;
  const std::string in_registers = " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
  for (size_t at = said.output.find(in_registers); at != std::string::npos;
       at = said.output.find(in_registers, at + 1)) {
    ++kernels;
  }
  EXPECT_EQ(kernels, wanted.size());
}

// One new token with a cache, by every schedule, and many with a mask, of heads of 128 in bf16; by methods that every
// generation has.
std::string attention_texts() {
  using namespace testing;
  Graph decode;
  const Expr n = decode.dim("n", 1, 4096);
  const auto narrow = [](Graph& graph, const char* name, Shape shape) {
    return cast(graph.input(name, shape, bf16), f32);
  };
  const Tensor keys = slice(narrow(decode, "a1", {8, 4096, 128}), 1, 0, n);
  const Tensor values = slice(narrow(decode, "a2", {8, 4096, 128}), 1, 0, n);
  const Tensor s = product(narrow(decode, "a0", {8, 4, 128}), "hgd", keys, "hkd", "hgk") * 0.0883;
  const Tensor e = exp2((s - max(s, {-1}, true)) * kLog2e);
  cast(product(e, "hgk", values, "hkd", "hgd") / sum(e, {-1}, true), bf16).output("r0");
  Graph prefill;
  const Tensor q = narrow(prefill, "a0", {1, 32, 512, 128}), k = narrow(prefill, "a1", {1, 32, 512, 128});
  const Tensor scores = causal(prefill, product(q, "bhqd", k, "bhkd", "bhqk") * 0.0883);
  cast(weighed(scores, narrow(prefill, "a2", {1, 32, 512, 128})), bf16).output("r0");
  std::string text;
  Target target = tests::gpu_target();
  target.sm = 80;
  const std::vector<std::string> schedules = kernel_schedules(decode, target).value();
  for (const std::string& schedule : schedules) {
    if (!schedule.starts_with("gpu-decode")) continue;
    text += print_kernel(decode, "k_decode" + std::to_string(text.size()), schedule, target).value().text;
  }
  return text + print_kernel(prefill, "prefill", kernel_schedules(prefill, target).value()[0], target).value().text;
}

// Contractions of models in bf16: all that is summed stays in registers.
TEST(Cuda, hot_contractions_do_not_spill) {
  if (run_command("nvcc --version").status != 0) GTEST_SKIP() << "no nvcc on this machine";
  const Target target = tests::gpu_target();
  struct Shapes {
    int64_t rows, columns;
    bool along_summed;
  };
  std::string text = kernel_prelude(Syntax::cuda);
  int kernels = 0;
  for (const Shapes& n : {Shapes{1, 4096, true},
                          {1, 1024, true},
                          {4, 4096, true},
                          {1, 4096, false},
                          {128, 4096, true},
                          {4096, 4096, false}}) {
    Graph graph;
    const Tensor x = cast(graph.input("a0", {n.rows, 4096}, bf16), f32);
    const Tensor w =
        cast(graph.input("a1", n.along_summed ? Shape{n.columns, 4096} : Shape{4096, n.columns}, bf16), f32);
    cast(testing::product(x, "mk", w, n.along_summed ? "nk" : "kn", "mn"), bf16).output("r0");
    const std::vector<std::string> schedules = kernel_schedules(graph, target).value();
    const size_t most = n.rows == 1 && !n.along_summed ? 1 : 2;
    for (size_t k = 0; k < most; ++k) {
      text += print_kernel(graph, "k" + std::to_string(kernels++), schedules[k], target).value().text;
    }
  }
  const CommandResult said = compile_cuda(text + attention_texts());
  EXPECT_EQ(said.status, 0) << said.output.substr(0, 4000);
  std::istringstream lines(said.output);
  std::string kernel;
  int seen = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Compiling entry function") != std::string::npos) kernel = line;
    const bool is_contract = kernel.find("'k") != std::string::npos;
    if (line.find("bytes spill stores") == std::string::npos || !is_contract) continue;
    ++seen;
    EXPECT_NE(line.find(" 0 bytes spill stores, 0 bytes spill loads"), std::string::npos) << kernel << line;
  }
  EXPECT_GE(seen, 3 * kernels);
}

}  // namespace
}  // namespace lumen
