#include "lumen/backend/cuda/dynamic_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lumen::cuda {

Expected<void*> open_first(const std::vector<std::string>& names, const char* what) {
  for (const std::string& name : names) {
    if (void* const opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return opened;
  }
  return error(fmt::format("[cuda] {} not found; tried {}", what, fmt::join(names, ", ")));
}

Expected<void*> find_symbol(void* opened, const char* symbol) {
  void* const found = dlsym(opened, symbol);
  if (found != nullptr) return found;
  return error(fmt::format("[cuda] the library has no function {}: it is too old", symbol));
}

}  // namespace lumen::cuda
