#include "lumen/backend/cuda/call_times.h"

#include <algorithm>

namespace lumen::cuda {

void find_ends(std::span<const uint64_t> noted, uint64_t start, std::span<Launched> launched) {
  double before = 0;
  for (Launched& launch : launched) {
    const uint64_t last = std::ranges::max(noted.subspan(launch.first, launch.count));
    if (last > start) before = static_cast<double>(last - start) * 1e-9;
    launch.end = before;
  }
}

void divide_time(std::span<const Launched> launched, double start, std::span<CallTime> times) {
  double before = 0;
  for (const Launched& launch : launched) {
    const std::span<CallTime> calls = times.subspan(launch.first, launch.count);
    const double whole = std::max(0.0, launch.end - before);
    double bytes = 0;
    for (const CallTime& call : calls) bytes += call.work.bytes;
    for (CallTime& call : calls) {
      const double share = bytes > 0 ? call.work.bytes / bytes : 1.0 / static_cast<double>(launch.count);
      call.start = start + before;
      call.seconds = whole * share;
      before += call.seconds;
    }
    before = std::max(before, launch.end);
  }
}

}  // namespace lumen::cuda
