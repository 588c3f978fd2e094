// nvJitLink, found when the program runs. It makes machine code of PTX for a GPU that is newer than NVRTC is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lumen/backend/cuda/driver.h"

namespace lumen::cuda {

// One row for each function: its member, its symbol without the version that ends it, its parameters.
#define LUMEN_CUDA_LINKER(ROW)                                                   \
  ROW(create, "__nvJitLinkCreate", (void**, uint32_t, const char* const*))       \
  ROW(destroy, "__nvJitLinkDestroy", (void**))                                   \
  ROW(add, "__nvJitLinkAddData", (void*, int, const void*, size_t, const char*)) \
  ROW(complete, "__nvJitLinkComplete", (void*))                                  \
  ROW(object_size, "__nvJitLinkGetLinkedCubinSize", (void*, size_t*))            \
  ROW(object, "__nvJitLinkGetLinkedCubin", (void*, void*))

class Linker {
 public:
  // An error says what was tried.
  static Expected<std::shared_ptr<const Linker>> load(const std::vector<std::string>& names);

  // What PTX is on an architecture, as "sm_130".
  Expected<std::string> assemble(const std::string& ptx, const std::string& architecture) const;

 private:
#define LUMEN_CUDA_MEMBER(member, symbol, parameters) Result(*member##_) parameters = nullptr;
  LUMEN_CUDA_LINKER(LUMEN_CUDA_MEMBER)
#undef LUMEN_CUDA_MEMBER
};

}  // namespace lumen::cuda
