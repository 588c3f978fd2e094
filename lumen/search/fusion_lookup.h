// What a fusion profile says about a shape: measured, in between of what was measured, or the nearest.
#pragma once

#include <optional>
#include <string_view>

#include "lumen/search/fusion_profile.h"

namespace lumen::search {

enum class FusionSource : uint8_t { exact, interpolated, nearest };
std::string_view name(FusionSource source);

struct FusionFound {
  FusionTimes times;
  FusionSource source = FusionSource::exact;
  FusionShape at;  // the shape that was measured, where it is the nearest
};

// Nothing when the profile has no such pattern, or none of that rank. In between is the smallest box of measured shapes
// around this one of which all corners are there: the logarithms of the times are interpolated linearly in the
// logarithm of each dim, which is exact for times that are powers of the dims.
std::optional<FusionFound> look_up(const FusionProfile& profile, const std::string& pattern, const FusionShape& shape);

// Fusing pays: t_unfused > t_fused * (1 + margin).
bool should_fuse(const FusionTimes& times, double margin);

}  // namespace lumen::search
