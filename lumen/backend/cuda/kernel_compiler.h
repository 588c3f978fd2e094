// Kernels as machine code of a GPU. Works without one: every kernel can be assembled anywhere NVRTC is.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lumen/backend/cpu/object_cache.h"
#include "lumen/backend/cuda/driver.h"

namespace lumen::cuda {

class KernelCompiler {
 public:
  // `cache` may be null: then nothing is kept.
  explicit KernelCompiler(std::shared_ptr<const RuntimeCompiler> nvrtc,
                          std::shared_ptr<cpu::ObjectCache> cache = cpu::ObjectCache::from_flags())
      : nvrtc_(std::move(nvrtc)), cache_(std::move(cache)) {}

  const std::string& version() const { return nvrtc_->version_text; }

  // Objects with all texts, which follow the prelude of CUDA kernels: a few in each, made by as many processes as there
  // are cores, or from the cache. `sm` is the compute capability, as 90. An error has what the compiler said first,
  // with the line of the text it was about.
  Expected<std::vector<std::string>> compile(std::span<const std::string> texts, int sm) const;

 private:
  // In this process.
  Expected<std::string> run(const std::string& text, const std::string& architecture) const;
  // In others: NVRTC takes one text at a time, whatever threads ask it.
  Expected<std::vector<std::string>> run_all(std::span<const std::string> texts, const std::string& architecture) const;

  std::shared_ptr<const RuntimeCompiler> nvrtc_;
  std::shared_ptr<cpu::ObjectCache> cache_;
};

// "sm_90a": what is special to a generation from Hopper on is used.
std::string architecture_name(int sm);

}  // namespace lumen::cuda
