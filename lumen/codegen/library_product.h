// A product of matrices that a library computes: cuBLASLt on a GPU, OpenBLAS on a processor.
//
//   result[b, r, c] = constant * scales * sum over s of rows[b, r, s] * columns[b, c, s]
//
// Sums are at least as wide as f32; what they are multiplied by is f32, and the result is rounded after that.
#pragma once

#include <vector>

#include "lumen/ir/dtype.h"
#include "lumen/ir/expr.h"

namespace lumen {

// Expressions are over n0, n1, …: the body's dims; sizes are in elements.
struct LibraryMatrix {
  uint32_t buffer = 0;  // a factor: of the inputs; the result: of the outputs; scratch: the one after the last of them
  DType dtype{};
  Expr offset;                // of its first element
  Expr batch_step;            // from one batch to the next; 0: the same one for all
  Expr pitch;                 // from one line to the next; the elements of a line are neighbours
  bool along_summed = false;  // a line is a row, or a column, of the product; else it is a summed coordinate
};

constexpr size_t kMostScales = 2;  // one of each factor, for a library

struct LibraryProduct {
  LibraryMatrix rows, columns;
  LibraryMatrix result;  // its lines are rows
  Expr batch, row_count, column_count, summed;
  // Where both factors are floats of 8 bits; others are multiplied by nothing.
  float constant = 1;            // a normal number: neither 0 nor tiny nor infinite
  std::vector<uint32_t> scales;  // inputs that are one number of f32 each, kMostScales at most
  int64_t algorithm = 0;         // which of those that the library proposes
  int64_t workspace = 0;         // bytes that it may use, at the end of scratch
};

}  // namespace lumen
