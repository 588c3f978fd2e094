// The CUDA backend where there is no GPU: libraries that lack something, and kernels that are assembled only.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/backend/cuda/cuda_device.h"
#include "lumen/codegen/map.h"
#include "lumen/frontend/ops.h"
#include "tests/compile/cuda_fakes.h"
#include "tests/support/nvrtc.h"

namespace lumen::cuda {
namespace {

template <class T>
std::string error_of(const Expected<T>& result) {
  return result.ok() ? "no error" : result.diag().str();
}

using tests::CudaFakes;
using tests::idle_driver;
using tests::with;

TEST_F(CudaFakes, says_that_there_is_no_driver) {
  EXPECT_EQ(error_of(devices({{"/nowhere/libcuda.so"}, {}})),
            "[cuda] the driver (libcuda) not found; tried /nowhere/libcuda.so");
}

TEST_F(CudaFakes, says_that_the_driver_is_too_old) {
  const std::string old =
      with(idle_driver(), "cuDriverGetVersion", "int cuDriverGetVersion(int* v) { *v = 11040; return 0; }");
  EXPECT_EQ(error_of(devices({{library("old", old)}, {}})),
            "[cuda] the driver is for CUDA 11.4; Lumen needs 12.0 or later");
  EXPECT_EQ(error_of(devices({{library("empty", "int nothing;")}, {}})),
            "[cuda] the library has no function cuInit: it is too old");
}

TEST_F(CudaFakes, says_that_there_is_no_gpu) {
  std::string text = good_driver();
  const size_t at = text.find("*n = 1");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 6, "*n = 0");
  const std::string driver = library("no_gpu", text);
  EXPECT_TRUE(devices({{driver}, {}}).value().empty());
  EXPECT_EQ(error_of(CudaDevice::open(0, 0, {{driver}, {}})), "[cuda] there is no GPU number 0: this machine has 0");
}

TEST_F(CudaFakes, says_that_the_driver_does_not_start) {
  const std::string broken = with(good_driver(), "cuInit", "int cuInit(unsigned f) { return 999; }");
  EXPECT_EQ(error_of(devices({{library("broken", broken)}, {}})), "[cuda] cuInit failed: a reason (999)");
}

TEST_F(CudaFakes, says_that_there_is_no_compiler) {
  const std::string driver = library("driver", good_driver());
  EXPECT_EQ(error_of(CudaDevice::open(0, 0, {{driver}, {"/nowhere/libnvrtc.so"}})),
            "[cuda] the compiler of kernels (libnvrtc) not found; tried /nowhere/libnvrtc.so");
  EXPECT_EQ(error_of(CudaDevice::open(3, 0, {{driver}, {}})), "[cuda] there is no GPU number 3: this machine has 1");
}

TEST_F(CudaFakes, says_how_much_memory_there_was) {
  std::string text = with(good_driver(), "cuMemGetInfo_v2",
                          "int cuMemGetInfo_v2(size_t* f, size_t* t) { *f = 3 << 20; *t = 16 << 20; return 0; }");
  const LibrarySearch search{{library("driver", text)}, {library("compiler", good_compiler())}};
  const std::shared_ptr<CudaDevice> device = CudaDevice::open(0, 8 << 20, search).value();
  EXPECT_EQ(error_of(device->memory()->allocate(9 << 20)),
            "[cuda] out of memory: 9 MiB more are needed on , which has 16 MiB, of which 8 MiB may be used; 0 MiB are "
            "in use here and 3 MiB are free");
  text = with(text, "cuMemAlloc_v2", "int cuMemAlloc_v2(void* p, size_t n) { return n > 1 << 20 ? 2 : 0; }");
  const LibrarySearch full{{library("full", text)}, {library("compiler", good_compiler())}};
  const std::shared_ptr<CudaDevice> small = CudaDevice::open(0, 0, full).value();
  const std::string said = error_of(small->memory()->allocate(2 << 20));
  EXPECT_TRUE(said.starts_with("[cuda] out of memory: 2 MiB more are needed")) << said;
}

TEST_F(CudaFakes, says_which_libraries_there_are) {
  EXPECT_EQ(libraries_text({{}, {library("compiler", good_compiler())}}), "NVRTC 1.2, no cuBLASLt, no nvJitLink");
  EXPECT_EQ(libraries_text({{}, {}}), "no NVRTC, no cuBLASLt, no nvJitLink");
}

TEST(CudaCompiler, assembles_for_every_generation) {
  const Expected<std::shared_ptr<const RuntimeCompiler>> nvrtc = load_compiler(tests::compilers_of_kernels());
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.diag().str();
  const KernelCompiler compiler(*nvrtc, nullptr);
  Graph graph;
  exp(graph.input("x", {100})).output("y");
  const std::string texts[] = {print_map(graph, "k").value().text};
  for (const int sm : {80, 90, 100}) EXPECT_EQ(compiler.compile(texts, sm).value().at(0).substr(1, 3), "ELF") << sm;
  const std::string wrong[] = {"__global__ void broken() { undeclared = 1; }\n"};
  const std::string said = error_of(compiler.compile(wrong, 90));
  EXPECT_NE(said.find("undeclared"), std::string::npos) << said;
  EXPECT_NE(said.find("__global__ void broken()"), std::string::npos) << said;
}

// A compiler of before the GPU.
TEST_F(CudaFakes, assembles_for_what_the_compiler_does_not_know) {
  const Expected<std::shared_ptr<const RuntimeCompiler>> nvrtc = load_compiler(tests::compilers_of_kernels());
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.diag().str();
  const auto old = std::make_shared<RuntimeCompiler>(**nvrtc);
  old->known_sm = {75, 80};
  Graph graph;
  exp(graph.input("x", {100})).output("y");
  const std::string texts[] = {print_map(graph, "k").value().text};
  EXPECT_EQ(error_of(KernelCompiler(old, nullptr).compile(texts, 70)),
            "[cuda] " + old->version_text + " makes no code for sm_70: sm_75 is the oldest it knows");
  const std::string ptx = KernelCompiler(old, nullptr).compile(texts, 90).value().at(0);
  EXPECT_NE(ptx.find(".target sm_80"), std::string::npos) << ptx.substr(0, 300);
  EXPECT_EQ(ptx.back(), '\0') << "the driver reads it up to there";
  const auto linked_by = [&](const std::string& name, const std::string& text) {
    const auto linker = Linker::load({library(name, text)}).value();
    return KernelCompiler(old, nullptr, linker).compile(texts, 90).value().at(0);
  };
  const auto fake = [](int version, const char* complete) {
    std::string text;
    const auto function = [&](const char* symbol, const std::string& body) {
      text += "int " + (symbol + fmt::format("_{}_0", version)) + body + "\n";
    };
    function("__nvJitLinkCreate", "(void** l, unsigned n, const char** o) { return strcmp(*o, \"-arch=sm_90\"); }");
    function("__nvJitLinkDestroy", "(void** l) { return 0; }");
    function("__nvJitLinkAddData",
             "(void* l, int kind, const char* data, size_t n, const char* name) "
             "{ return kind != 2 || strlen(data) + 1 != n; }");
    function("__nvJitLinkComplete", complete);
    function("__nvJitLinkGetLinkedCubinSize", "(void* l, size_t* n) { *n = 4; return 0; }");
    function("__nvJitLinkGetLinkedCubin", "(void* l, char* to) { memcpy(to, \"code\", 4); return 0; }");
    return "#include <string.h>\n" + text;
  };
  for (const int version : {12, 13}) {
    EXPECT_EQ(linked_by(fmt::format("linker{}", version), fake(version, "(void* l) { return 0; }")), "code");
  }
  EXPECT_EQ(linked_by("failing", fake(13, "(void* l) { return 5; }")), ptx) << "which is left to the driver";
  EXPECT_EQ(error_of(Linker::load({library("none", "int nothing;")})),
            "[cuda] the library has no function __nvJitLinkCreate_12_0: it is too old");
  const auto linker = Linker::load(tests::linkers_of_kernels());
  if (!linker.ok()) GTEST_SKIP() << linker.diag().str();
  EXPECT_EQ(KernelCompiler(old, nullptr, *linker).compile(texts, 90).value().at(0).substr(1, 3), "ELF");
}

}  // namespace
}  // namespace lumen::cuda
