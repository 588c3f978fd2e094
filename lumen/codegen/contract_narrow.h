// Columns of bf16, f16 and 8-bit integers in products with few rows, a vector at a time: gcc neither turns these into
// floats nor multiplies bytes as fast as memory gives them.
#pragma once

#include "lumen/codegen/contract_skinny_frame.h"

namespace lumen {

// Columns in memory, along the summed axis: halves whose sums are f32, or bytes whose sums are i32, of rows that were
// bytes and are held as 16-bit integers.
struct NarrowColumns {
  DType dtype;
  std::string place;  // in C
  bool are_bytes() const { return dtype == i8 || dtype == u8; }
};

// Of all sides; nothing when one is something else, or of another dtype than the first.
std::vector<NarrowColumns> narrow_columns(const SkinnyFrame& frame);

// What the loop needs before its kernel.
std::string narrow_words(const std::string& name, DType dtype);
// The sums of `count` columns of a side.
std::string narrow_loop(const SkinnyFrame& frame, const NarrowColumns& columns, int64_t count);

}  // namespace lumen
