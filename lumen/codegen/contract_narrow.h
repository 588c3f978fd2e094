// Columns of bf16 and f16 in products with few rows, sixteen at a time: gcc turns neither into floats as fast as memory
// gives them.
#pragma once

#include "lumen/codegen/contract_skinny_frame.h"

namespace lumen {

// Halves in memory, along the summed axis.
struct Halves {
  DType dtype;
  std::string place;  // in C
};

// Of all sides; nothing when one is something else, or of another dtype than the first.
std::vector<Halves> halves_of_columns(const SkinnyFrame& frame);

// What the loop needs before its kernel.
std::string narrow_words(const std::string& name, DType dtype);
// The sums of `count` columns of a side.
std::string narrow_loop(const SkinnyFrame& frame, const Halves& columns, int64_t count);

}  // namespace lumen
