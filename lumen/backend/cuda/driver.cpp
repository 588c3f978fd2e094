#include "lumen/backend/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lumen/backend/cuda/dynamic_library.h"
#include "lumen/base/flags.h"

namespace lumen::cuda {

namespace {

constexpr int kOldestDriver = 12000;  // CUDA 12.0: the first with all that is used

// NVRTC opens a second library by its name alone, which works where that is loaded already.
void load_builtins(const std::vector<std::string>& names) {
  std::error_code none;
  for (const std::string& name : names) {
    const std::filesystem::path folder = std::filesystem::path(name).parent_path();
    if (folder.empty()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      const bool fits = entry.path().filename().string().starts_with("libnvrtc-builtins.so");
      if (fits) dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
  }
}

}  // namespace

LibrarySearch LibrarySearch::usual() {
  LibrarySearch search;
  search.worker = WorkerOptions::usual();
  search.driver = {"libcuda.so.1", "libcuda.so", "/usr/local/nvidia/lib64/libcuda.so.1"};
  std::vector<std::string> folders = {""};
  if (!flags().cuda_home.empty()) folders.push_back(flags().cuda_home + "/lib64/");
  folders.emplace_back("/usr/local/cuda/lib64/");
  for (const std::string& folder : folders) {
    for (const char* const suffix : {".13", ".12", ""}) {
      search.compiler.push_back(folder + "libnvrtc.so" + suffix);
      search.matrices.push_back(folder + "libcublasLt.so" + suffix);
      search.linker.push_back(folder + "libnvJitLink.so" + suffix);
    }
  }
  return search;
}

Expected<void> Driver::check(Result result, const char* call) const {
  if (result == 0) return {};
  const char* text = nullptr;
  if (error_text == nullptr || error_text(result, &text) != 0 || text == nullptr) text = "unknown error";
  return error(fmt::format("[cuda] {} failed: {} ({})", call, text, result));
}

#define LUMEN_CUDA_FIND(member, symbol, parameters) LUMEN_TRY(find_function(handle, symbol, library->member));

Expected<std::shared_ptr<const Driver>> load_driver(const std::vector<std::string>& names) {
  void* const handle = LUMEN_TRY(open_first(names, "the driver (libcuda)"));
  auto library = std::make_shared<Driver>();
  LUMEN_CUDA_DRIVER(LUMEN_CUDA_FIND)
  int version = 0;
  LUMEN_TRY(library->check(library->driver_version(&version), "cuDriverGetVersion"));
  if (version < kOldestDriver) {
    return error(fmt::format("[cuda] the driver is for CUDA {}.{}; Lumen needs {}.{} or later", version / 1000,
                             version % 1000 / 10, kOldestDriver / 1000, kOldestDriver % 1000 / 10));
  }
  LUMEN_TRY(library->check(library->init(0), "cuInit"));
  return std::shared_ptr<const Driver>(std::move(library));
}

Expected<std::shared_ptr<const RuntimeCompiler>> load_compiler(const std::vector<std::string>& names) {
  load_builtins(names);
  void* const handle = LUMEN_TRY(open_first(names, "the compiler of kernels (libnvrtc)"));
  auto library = std::make_shared<RuntimeCompiler>();
  LUMEN_CUDA_COMPILER(LUMEN_CUDA_FIND)
  int major = 0, minor = 0;
  if (library->version(&major, &minor) != 0) return error("[cuda] libnvrtc does not say its version");
  library->version_text = fmt::format("NVRTC {}.{}", major, minor);
  int count = 0;
  if (library->known_count(&count) != 0 || count < 1) return error("[cuda] libnvrtc knows no GPU");
  library->known_sm.resize(static_cast<size_t>(count));
  if (library->known(library->known_sm.data()) != 0) return error("[cuda] libnvrtc does not say what it knows");
  std::ranges::sort(library->known_sm);
  return std::shared_ptr<const RuntimeCompiler>(std::move(library));
}

#undef LUMEN_CUDA_FIND

}  // namespace lumen::cuda
