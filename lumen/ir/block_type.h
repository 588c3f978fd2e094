// Block-quantised storage: runs of elements that share scales, in ggml's layouts. A row holds whole blocks.
//
// These are no dtypes: no op computes in them. Bytes become numbers through the primitives (frontend/blocks.h), or on
// the host (import/blocks.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lumen {

enum class BlockType : uint8_t { q8_0, q4_0, q4_1, q5_0, q5_1, q2_k, q3_k, q4_k, q5_k, q6_k, mxfp4 };

struct BlockInfo {
  BlockType type;
  std::string_view name;  // "q8_0"; the spelling in options, messages and docs
  int64_t elements;       // of one block
  int64_t bytes;
};

const BlockInfo& info(BlockType);
std::span<const BlockInfo> all_block_types();
std::string_view name(BlockType);
std::optional<BlockType> parse_block_type(std::string_view);

}  // namespace lumen
