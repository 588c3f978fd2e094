// Where tests find NVRTC.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lumen/backend/cuda/driver.h"
#include "tests/support/source_dir.h"

namespace lumen::tests {

// Installed, or beside the packages that tests compare with.
inline std::vector<std::string> compilers_of_kernels() {
  namespace fs = std::filesystem;
  std::vector<std::string> names = cuda::LibrarySearch::usual().compiler;
  const fs::path packages = source_dir() / ".venv" / "lib";
  std::error_code none;
  for (const fs::directory_entry& python : fs::directory_iterator(packages, none)) {
    names.push_back((python.path() / "site-packages/nvidia/cu13/lib/libnvrtc.so.13").string());
  }
  return names;
}

}  // namespace lumen::tests
