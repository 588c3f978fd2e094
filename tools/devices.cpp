#include <fmt/format.h>

#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/backend/cuda/cuda_device.h"
#include "tools/commands.h"

namespace lumen::tools {

Expected<int> list_devices() {
  const cpu::CpuFeatures& here = cpu::cpu();
  fmt::print("cpu      {}, {} cores, {}\n", here.model, here.cores, cpu::level_name(here.level));
  const Expected<std::vector<cuda::DeviceInfo>> gpus = cuda::devices();
  if (!gpus.ok()) {
    fmt::print("cuda     none: {}\n", gpus.diag().str());
    return 0;
  }
  for (const cuda::DeviceInfo& gpu : *gpus) {
    fmt::print("cuda:{}   {}, {}, {} multiprocessors, {} MiB\n", gpu.number, gpu.name, cuda::architecture_name(gpu.sm),
               gpu.multiprocessors, gpu.memory_bytes >> 20);
  }
  if (!gpus->empty()) fmt::print("         {}\n", cuda::libraries_text());
  if (gpus->empty()) fmt::print("cuda     none: the driver is here, but no GPU\n");
  return 0;
}

}  // namespace lumen::tools
