// The shapes that `lumen fusion profile` measures.
#pragma once

#include <string>
#include <vector>

#include "lumen/search/fusion_profile.h"

namespace lumen::tools {

// Reading a prompt: batch 1, 16 to `most_tokens` tokens; writing: a token for 1 to 32 texts; at four widths. A few of
// these when quick.
std::vector<search::FusionShape> fusion_grid(bool quick, int64_t most_tokens);

// "1x512x4096,8x1x2048"; of three dims each.
Expected<std::vector<search::FusionShape>> parse_fusion_shapes(const std::string& text);

}  // namespace lumen::tools
