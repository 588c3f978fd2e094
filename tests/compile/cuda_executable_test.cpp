// Runs of a GPU that are begun and finished apart, over a driver that writes down what it is asked.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lumen/backend/buffer.h"
#include "lumen/backend/cuda/cuda_device.h"
#include "lumen/backend/cuda/cuda_executable.h"
#include "lumen/codegen/contract_library.h"
#include "lumen/frontend/ops.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "tests/compile/fake_matrices.h"
#include "tests/compile/working_driver.h"

namespace lumen::cuda {
namespace {

class CudaRuns : public tests::CudaFakes {
 protected:
  CudaRuns() {
    const std::string head =
        "#include <stdio.h>\nstatic void say(const char* what, void* which) {\n  FILE* f = fopen(\"" + folder_.path() +
        "/calls\", \"a\");\n  fprintf(f, \"%s %p\\n\", what, which);\n  fclose(f);\n}\n"
        "static long long* sizes;\nstatic void tell_sizes(void) {\n  FILE* f = fopen(\"" +
        folder_.path() +
        "/sizes\", \"w\");\n  if (sizes) fprintf(f, \"%lld %lld\\n\", sizes[0], sizes[1]);\n  fclose(f);\n}\n";
    std::string text = tests::working_driver(good_driver(), folder_.path());
    const auto replace = [&](const std::string& symbol, const std::string& parameters, const std::string& body) {
      text = tests::with(std::move(text), symbol, "int " + symbol + "(" + parameters + ") { " + body + " return 0; }");
    };
    replace("cuGraphInstantiateWithFlags", "char** exec, void* g, unsigned long long f",
            "static char e[9]; static int n; *exec = e + n++;");
    replace("cuGraphLaunch", "void* exec, void* s", "say(\"launch\", exec); tell_sizes();");
    replace("cuEventCreate", "char** event, unsigned flags", "static char e[9]; static int n; *event = e + n++;");
    replace("cuEventRecordWithFlags", "void* event, void* s, unsigned f", "say(\"record\", event);");
    replace("cuEventSynchronize", "void* event", "say(\"wait\", event);");
    const std::string launched = "behave(config, name, parameters[0]);";
    text.replace(text.find(launched), 0, "if (parameters[0][1]) sizes = (long long*)parameters[0][1]; ");
    const std::string refusal = "return 500;";  // of a kernel that is not there
    text.replace(text.find(refusal), refusal.size(), "abort();");
    LibrarySearch search;
    search.driver = {library("driver", head + text)};
    search.compiler = {library("compiler", tests::text_compiler(good_compiler()))};
    std::string matrices = tests::kFakeMatrices;
    const std::string multiplies = "  uint64_t depth =";
    matrices.insert(matrices.find(multiplies),
                    "  FILE* f = fopen(\"" + folder_.path() +
                        "/products\", \"a\"); fprintf(f, \"%d \", (int)rl->columns); fclose(f);\n");
    const std::string noted = "  if (al->type) return 0;";
    matrices.insert(matrices.find(noted),
                    "  FILE* s = fopen(\"" + folder_.path() +
                        "/scales\", \"a\"); fprintf(s, \"%g %g, \", given[0], given[1]); fclose(s);\n");
    search.matrices = {library("matrices", "#include <stdio.h>\n" + matrices)};
    search.worker.command = {};
    device_ = CudaDevice::open(0, 0, search).value();

    Graph graph;
    sum(graph.input("x", {4, 64}), {-1}).output("y");
    executable_ = load(graph);
    EXPECT_TRUE(executable_->prepare({}).ok());
    for (const int64_t bytes : {4 * 64 * 4, 4 * 4, 4 * 4}) {
      buffers_.push_back(Buffer::make(device_->memory(), bytes).value());
    }
  }

  // Products are the library's.
  std::unique_ptr<Executable> load(const Graph& graph,
                                   search::FusionPolicy policy = search::FusionPolicy::always) const {
    search::Tuner tuner(*device_, {{}, false, nullptr});
    const std::shared_ptr<const Graph> plain = rewrite(graph).value().candidates[0].graph;
    std::vector<Program> programs;
    programs.push_back(search::lower(plain, policy, tuner).value().program);
    for (ProgramKernel& kernel : programs[0].kernels) {
      Expected<KernelText> product = print_library(*kernel.body, kernel.text.steps.back().name, {}, device_->target());
      if (product.ok()) kernel.text = std::move(*product);
    }
    return device_->load(std::move(device_->build(std::move(programs)).value()[0])).value();
  }

  Expected<void> start(size_t output) {
    const void* const in[] = {buffers_[0].data()};
    void* const out[] = {buffers_[1 + output].data()};
    return executable_->start(in, out);
  }
  // The calls since the last time, with names in place of addresses: what was met first is a.
  std::string calls() {
    std::ifstream file(folder_ / "calls");
    file.seekg(read_);
    std::string said;
    for (std::string what, which; file >> what >> which;) {
      const auto [name, is_new] = names_.try_emplace(which, 'a' + names_.size());
      said += what + " " + static_cast<char>(name->second) + ", ";
      read_ = file.tellg();
    }
    return said;
  }

  // The rows and the dim of the last kernel with dims that was captured, as they are when a graph is launched.
  std::vector<int64_t> sizes_at_the_last_launch() const {
    std::ifstream file(folder_ / "sizes");
    return {std::istream_iterator<int64_t>(file), {}};
  }

  std::shared_ptr<CudaDevice> device_;
  std::unique_ptr<Executable> executable_;
  std::vector<Buffer> buffers_;
  std::map<std::string, size_t> names_;
  std::streamoff read_ = 0;
};

TEST_F(CudaRuns, two_are_under_way) {
  ASSERT_TRUE(start(0).ok());
  ASSERT_TRUE(start(1).ok());
  EXPECT_EQ(calls(), "launch a, record b, launch c, record d, ");
  ASSERT_TRUE(executable_->finish().ok());
  EXPECT_EQ(calls(), "wait b, ") << "the first alone";
  const std::byte* const first = executable_->fetched(0);
  ASSERT_NE(first, nullptr);
  ASSERT_TRUE(start(0).ok());
  EXPECT_EQ(calls(), "launch a, record b, ") << "captured once";
  ASSERT_TRUE(executable_->finish().ok());
  EXPECT_EQ(calls(), "wait d, ");
  EXPECT_NE(executable_->fetched(0), first) << "each has a room of its own";
  ASSERT_TRUE(executable_->finish().ok());
  EXPECT_EQ(executable_->fetched(0), first);
}

TEST_F(CudaRuns, two_that_are_profiled_are_under_way) {
  executable_->set_profiling(true);
  ASSERT_TRUE(start(0).ok());
  ASSERT_TRUE(start(1).ok());
  const std::string said = calls();
  EXPECT_EQ(said.find("wait"), std::string::npos) << said;
  ASSERT_TRUE(executable_->finish().ok());
  const std::byte* const first = executable_->fetched(0);
  ASSERT_EQ(executable_->profile().size(), 1U);
  const CallTime before = executable_->profile()[0];
  ASSERT_TRUE(executable_->finish().ok());
  EXPECT_NE(executable_->fetched(0), first);
  const CallTime after = executable_->profile()[0];
  EXPECT_GE(after.start, before.start + before.seconds) << "one begins when the other has ended";
}

TEST_F(CudaRuns, sizes_of_a_bucket_are_one_graph) {
  Graph graph;
  const Expr n = graph.dim("n", 1, 1000);
  sum(graph.input("z", {n, 64}), {0}).output("all");
  sum(exp(graph.input("x", {n, 64})), {-1}).output("y");
  executable_ = load(graph);
  std::vector<Buffer> buffers;
  for (const int64_t bytes : {1000 * 64 * 4, 1000 * 64 * 4, 64 * 4, 1000 * 4}) {
    buffers.push_back(Buffer::make(device_->memory(), bytes).value());
  }
  const void* const in[] = {buffers[0].data(), buffers[1].data()};
  void* const out[] = {buffers[2].data(), buffers[3].data()};
  std::string graphs;
  for (const int64_t size : {97, 104, 105, 100, 112, 1000, 999, 97}) {
    ASSERT_TRUE(executable_->prepare(std::span(&size, 1)).ok());
    ASSERT_TRUE(executable_->run(in, out).ok());
    graphs += calls();
    EXPECT_EQ(sizes_at_the_last_launch(), (std::vector<int64_t>{size, size})) << "rows and the dim";
  }
  EXPECT_EQ(graphs, "launch a, launch a, launch b, launch a, launch b, launch c, launch c, launch d, ");
}

// Its rows in memory of the program's own, where there is room for those of the bucket; not so in the caller's.
TEST_F(CudaRuns, products_of_a_bucket_are_one) {
  const auto run = [&](bool is_inner) {
    Graph graph;
    const Tensor x = graph.input("x", {graph.dim("n", 1, 1000), 64}), w = graph.input("w", {64, 64});
    (is_inner ? exp(matmul(exp(x), w)) : matmul(x, w)).output("y");
    executable_ = load(graph, search::FusionPolicy::never);
    std::vector<Buffer> buffers;
    for (const int64_t bytes : {104 * 64 * 4, 64 * 64 * 4, 104 * 64 * 4}) {
      buffers.push_back(Buffer::make(device_->memory(), bytes).value());
    }
    const void* const in[] = {buffers[0].data(), buffers[1].data()};
    void* const out[] = {buffers[2].data()};
    for (const int64_t size : {97, 104, 100}) {
      EXPECT_TRUE(executable_->prepare(std::span(&size, 1)).ok());
      EXPECT_TRUE(executable_->run(in, out).ok());
    }
    names_.clear();
    std::ifstream products(folder_ / "products");
    const std::string rows{std::istreambuf_iterator<char>(products), {}};
    std::filesystem::remove(folder_ / "products");
    return calls() + rows;
  };
  EXPECT_EQ(run(true), "launch a, launch a, launch a, 104 104 ") << "before it is captured, and then";
  EXPECT_EQ(run(false), "launch a, launch b, launch c, 97 97 104 104 100 100 ");
}

// Captured with their addresses: in the caller's memory, and in the program's own.
TEST_F(CudaRuns, products_are_scaled_where_the_scales_are) {
  Graph graph;
  const Tensor x = cast(graph.input("x", {32, 64}, f8e4m3), f32), w = cast(graph.input("w", {64, 64}, f8e4m3), f32);
  const Tensor own = sum(graph.input("s", {64}), {0});
  (matmul(x, transpose(w)) * own * graph.input("t", {1})).output("y");
  executable_ = load(graph);
  std::vector<Buffer> buffers;
  for (const int64_t bytes : {32 * 64, 64 * 64, 64 * 4, 4, 4, 32 * 64 * 4}) {
    buffers.push_back(Buffer::make(device_->memory(), bytes).value());
  }
  EXPECT_TRUE(executable_->prepare({}).ok());
  for (const size_t scale : {3, 4, 3}) {
    *reinterpret_cast<float*>(buffers[scale].data()) = static_cast<float>(scale);
    const void* const in[] = {buffers[0].data(), buffers[1].data(), buffers[2].data(), buffers[scale].data()};
    void* const out[] = {buffers[5].data()};
    EXPECT_TRUE(executable_->run(in, out).ok());
  }
  std::ifstream scales(folder_ / "scales");
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(scales), {}}), "0 3, 0 3, 0 4, 0 4, ")
      << "before it is captured, and then; kernels do nothing here";
}

// The driver ends this process where it is asked for what is not there.
TEST_F(CudaRuns, kernels_are_asked_for_where_they_are) {
  const std::vector<std::string> objects = {"k_first k_second_2", "k_second"};
  const std::shared_ptr<const CudaCode> code = CudaCode::load(device_, objects).value();
  EXPECT_TRUE(code->function("k_first", 0).ok());
  EXPECT_TRUE(code->function("k_second", 0).ok());
  EXPECT_EQ(code->object_with("k_second").value(), "k_second");
  EXPECT_EQ(code->function("k_", 0).diag().message, "[cuda] the code has no kernel \"k_\"");
}

}  // namespace
}  // namespace lumen::cuda
