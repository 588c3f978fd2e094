// Libraries that stand for those of CUDA where there is no GPU, compiled from C when a test needs them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "lumen/backend/cuda/driver.h"
#include "tests/support/scratch_dir.h"

namespace lumen::tests {

// Every function of the driver, each of which does nothing and succeeds.
inline std::string idle_driver() {
  std::string text;
#define LUMEN_ROW(member, symbol, parameters) text += std::string("int ") + symbol + "(void) { return 0; }\n";
  LUMEN_CUDA_DRIVER(LUMEN_ROW)
#undef LUMEN_ROW
  return text;
}

// The text with one function's body in place of its own.
inline std::string with(std::string text, const std::string& symbol, const std::string& definition) {
  const std::string idle = "int " + symbol + "(void) { return 0; }\n";
  const size_t at = text.find(idle);
  EXPECT_NE(at, std::string::npos) << symbol;
  return text.replace(at, idle.size(), definition + "\n");
}

class CudaFakes : public ::testing::Test {
 protected:
  // A shared library of this C text.
  std::string library(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / (name + ".c")) << "#include <stddef.h>\n" << text;
    const std::string command = "cd " + folder_.path() + " && cc -shared -fPIC -w -o " + name + ".so " + name + ".c";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return folder_ / (name + ".so");
  }

  static std::string good_driver() {
    std::string text =
        with(idle_driver(), "cuDriverGetVersion", "int cuDriverGetVersion(int* v) { *v = 13000; return 0; }");
    text = with(text, "cuDeviceGetCount", "int cuDeviceGetCount(int* n) { *n = 1; return 0; }");
    text = with(text, "cuDeviceGetAttribute",
                "int cuDeviceGetAttribute(int* v, int which, int d) { *v = which == 75 ? 9 : which == 76 ? 0 : 1000; "
                "return 0; }");
    return with(text, "cuGetErrorString",
                "int cuGetErrorString(int code, const char** text) { *text = \"a reason\"; return 0; }");
  }
  static std::string good_compiler() {
    std::string text;
#define LUMEN_ROW(member, symbol, parameters) text += std::string("int ") + symbol + "(void) { return 0; }\n";
    LUMEN_CUDA_COMPILER(LUMEN_ROW)
#undef LUMEN_ROW
    text = with(text, "nvrtcGetNumSupportedArchs", "int nvrtcGetNumSupportedArchs(int* n) { *n = 1; return 0; }");
    text = with(text, "nvrtcGetSupportedArchs", "int nvrtcGetSupportedArchs(int* sm) { *sm = 90; return 0; }");
    text = with(text, "nvrtcGetCUBINSize", "int nvrtcGetCUBINSize(void* p, size_t* n) { *n = 4; return 0; }");
    return with(text, "nvrtcVersion", "int nvrtcVersion(int* a, int* b) { *a = 1; *b = 2; return 0; }");
  }

  ScratchDir folder_;
};

}  // namespace lumen::tests
