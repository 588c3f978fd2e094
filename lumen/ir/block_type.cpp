#include "lumen/ir/block_type.h"

#include <algorithm>
#include <array>

namespace lumen {

namespace {

// In the order of the enumeration.
constexpr std::array kBlocks = {
    BlockInfo{BlockType::q8_0, "q8_0", 32, 34},   BlockInfo{BlockType::q4_0, "q4_0", 32, 18},
    BlockInfo{BlockType::q4_1, "q4_1", 32, 20},   BlockInfo{BlockType::q5_0, "q5_0", 32, 22},
    BlockInfo{BlockType::q5_1, "q5_1", 32, 24},   BlockInfo{BlockType::q2_k, "q2_k", 256, 84},
    BlockInfo{BlockType::q3_k, "q3_k", 256, 110}, BlockInfo{BlockType::q4_k, "q4_k", 256, 144},
    BlockInfo{BlockType::q5_k, "q5_k", 256, 176}, BlockInfo{BlockType::q6_k, "q6_k", 256, 210},
    BlockInfo{BlockType::mxfp4, "mxfp4", 32, 17},
};

}  // namespace

const BlockInfo& info(BlockType type) { return kBlocks[static_cast<size_t>(type)]; }

std::span<const BlockInfo> all_block_types() { return kBlocks; }

std::string_view name(BlockType type) { return info(type).name; }

std::optional<BlockType> parse_block_type(std::string_view text) {
  const auto found = std::find_if(kBlocks.begin(), kBlocks.end(), [&](const BlockInfo& b) { return b.name == text; });
  return found == kBlocks.end() ? std::nullopt : std::optional(found->type);
}

}  // namespace lumen
