// Kernels as machine code of a GPU. Works without one: every kernel can be assembled anywhere NVRTC is.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lumen/backend/cpu/object_cache.h"
#include "lumen/backend/cuda/linker.h"

namespace lumen::cuda {

class KernelCompiler {
 public:
  // `cache` may be null: then nothing is kept. So may `linker`.
  explicit KernelCompiler(std::shared_ptr<const RuntimeCompiler> nvrtc,
                          std::shared_ptr<cpu::ObjectCache> cache = cpu::ObjectCache::from_flags(),
                          std::shared_ptr<const Linker> linker = nullptr)
      : nvrtc_(std::move(nvrtc)), cache_(std::move(cache)), linker_(std::move(linker)) {}

  const std::string& version() const { return nvrtc_->version_text; }

  // Objects with all texts, which follow the prelude of CUDA kernels: a few in each, made by as many processes as there
  // are cores, or from the cache. `sm` is the compute capability, as 90. An error has what the compiler said first,
  // with the line of the text it was about. For a GPU that NVRTC is too old for, they are PTX of the newest that it
  // knows, assembled by the linker; where that is missing or knows no more, the driver assembles them as it loads them.
  Expected<std::vector<std::string>> compile(std::span<const std::string> texts, int sm) const;

 private:
  struct Target {
    std::string architecture;  // of the GPU: "sm_90a"
    std::string virtual_one;   // of the PTX: "compute_90"; empty: NVRTC makes machine code
  };
  Expected<Target> target_for(int sm) const;
  // In this process.
  Expected<std::string> run(const std::string& text, const Target& target) const;
  // In others: NVRTC takes one text at a time, whatever threads ask it.
  Expected<std::vector<std::string>> run_all(std::span<const std::string> texts, const Target& target) const;

  std::shared_ptr<const RuntimeCompiler> nvrtc_;
  std::shared_ptr<cpu::ObjectCache> cache_;
  std::shared_ptr<const Linker> linker_;
};

// "sm_90a": what is special to a generation from Hopper on is used.
std::string architecture_name(int sm);

}  // namespace lumen::cuda
