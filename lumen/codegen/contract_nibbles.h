// Columns whose blocks are an f16 scale and 16 bytes of nibbles, the low ones before the high ones, as Q4_0 has them.
//
// Where a processor adds up products of bytes four by four (AVX512-VNNI), nibbles are multiplied where they lie in
// their bytes. Four copies of the 16 bytes are a register, in which one `and` leaves low nibbles, high ones times 16,
// and both again. The rows are 16-bit integers with a scale for each block (contract_scaled.h), split into a low and a
// high byte with signs:
//
//   nibbles      low   high*16   low   high*16
//   x            low bytes       high bytes
//   counts       1     1/16      256   16         when lanes are added, once a column
//
// so that a block of 32 is one instruction. Nibbles are never made signed: their offset times the sums of x is where a
// block's sums begin. Scales of many blocks are widened together.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lumen/codegen/contract_scaled.h"
#include "lumen/codegen/contract_skinny_frame.h"

namespace lumen {

// A block of 32, over i0, i2 and i4.
struct NibbleBlocks {
  size_t integers = 0, scales = 0;  // the numbers of inputs; their bytes are read
  Expr byte;                        // the first of 16
  Expr scale, step;                 // in units of f16, and how much further the next block has its
  int64_t offset = 0;               // of the nibbles
  Spot nibble;                      // the low ones, over i5
};

// Of all sides; empty when one has other blocks, or another offset than the first.
std::vector<NibbleBlocks> nibble_columns(std::span<const FactorIn> columns, std::span<const ScaledRuns> runs);

// scaled_words() of 16-bit integers in blocks of 32, and where nibbles are multiplied in their bytes others. A constant
// `name_room` tells them apart: so many int16_t of name_fix's result belong to an element.
inline constexpr int64_t kMostRoom = 2;
std::string nibble_words(const std::string& name, int64_t offset);

// The sums of `count` columns, and on other processors the loop that is given.
std::string nibbles_loop(const SkinnyFrame& frame, size_t side, const NibbleBlocks& blocks, int64_t count,
                         const std::string& otherwise);

}  // namespace lumen
