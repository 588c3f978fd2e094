// The patterns that fusion profiles are about, as graphs; and reading a profile for a compilation.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/backend/device.h"
#include "lumen/ir/graph.h"
#include "lumen/search/cost.h"
#include "lumen/search/fusion_guide.h"

namespace lumen {

// "swiglu", "add+rms_norm", …
std::span<const std::string_view> fusion_pattern_names();

// Adds the pattern over rows of the shape's last dim, which is a constant; the last output has that shape. The name is
// one of the above.
void build_fusion_pattern(std::string_view name, Graph& graph, const Shape& shape, DType dtype);

// Times of another device are refused, or with `of_another` taken with a line in the log.
Expected<search::FusionProfile> read_fusion_profile(const std::string& file, const Device& device, bool of_another);

// Why a profile may have decided nothing in the compilation of these graphs, in words for a warning.
std::string why_unused(const search::FusionProfile& profile, std::span<const std::shared_ptr<const Graph>> graphs);

// Of every pattern in the profile: as it is written, and as the rules make it.
Expected<std::vector<search::FusionPattern>> make_patterns(const search::FusionProfile& profile,
                                                           const Machine& machine);

}  // namespace lumen
