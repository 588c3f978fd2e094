// Where tests find NVRTC and nvJitLink.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lumen/backend/cuda/driver.h"
#include "tests/support/source_dir.h"

namespace lumen::tests {

// Those that are installed, or one of this name beside the packages that tests compare with.
inline std::vector<std::string> cuda_libraries(std::vector<std::string> names, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path packages = source_dir() / ".venv" / "lib";
  std::error_code none;
  for (const fs::directory_entry& python : fs::directory_iterator(packages, none)) {
    names.push_back((python.path() / "site-packages/nvidia/cu13/lib" / name).string());
  }
  return names;
}

inline std::vector<std::string> compilers_of_kernels() {
  return cuda_libraries(cuda::LibrarySearch::usual().compiler, "libnvrtc.so.13");
}
inline std::vector<std::string> linkers_of_kernels() {
  return cuda_libraries(cuda::LibrarySearch::usual().linker, "libnvJitLink.so.13");
}

}  // namespace lumen::tests
