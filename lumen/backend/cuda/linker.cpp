#include "lumen/backend/cuda/linker.h"

#include <fmt/format.h>

#include "lumen/backend/cuda/dynamic_library.h"

namespace lumen::cuda {

namespace {

constexpr int kPtx = 2;  // a kind of input

}  // namespace

Expected<std::shared_ptr<const Linker>> Linker::load(const std::vector<std::string>& names) {
  void* const opened = LUMEN_TRY(open_first(names, "the linker of kernels (libnvJitLink)"));
  const auto linker = std::make_shared<Linker>();
  // Every symbol ends in the version that it is of; a library has all of its own generation.
  const bool is_of_13 = find_symbol(opened, "__nvJitLinkCreate_13_0").ok();
  const auto symbol = [&](const char* name) { return fmt::format("{}_{}_0", name, is_of_13 ? 13 : 12); };
#define LUMEN_CUDA_FIND(member, name, parameters) \
  LUMEN_TRY(find_function(opened, symbol(name).c_str(), linker->member##_));
  LUMEN_CUDA_LINKER(LUMEN_CUDA_FIND)
#undef LUMEN_CUDA_FIND
  return std::shared_ptr<const Linker>(linker);
}

Expected<std::string> Linker::assemble(const std::string& ptx, const std::string& architecture) const {
  const std::string target = "-arch=" + architecture;
  const char* const options[] = {target.c_str()};
  void* link = nullptr;
  const auto problem = [&](const char* what) {
    return error(fmt::format("[cuda] nvJitLink does not {} for {}", what, architecture));
  };
  if (create_(&link, 1, options) != 0) return problem("link");
  const std::shared_ptr<void> owned(link, [this](void* each) { destroy_(&each); });
  if (add_(link, kPtx, ptx.data(), ptx.size(), "kernels.ptx") != 0 || complete_(link) != 0) {
    return problem("assemble PTX");
  }
  size_t size = 0;
  if (object_size_(link, &size) != 0 || size == 0) return problem("make an object");
  std::string object(size, '\0');
  if (object_(link, object.data()) != 0) return problem("make an object");
  return object;
}

}  // namespace lumen::cuda
