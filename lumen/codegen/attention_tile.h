// Tiles of attention: products of rows as they lie with a packed panel of columns.
//
//   static void name(int64_t count, const float* a, const float* b, float* t)
//
// t[i*t_step + j] becomes, or grows by, the sum over k < count of a[i*a_step + k] * b[k*columns + j].
#pragma once

#include <cstdint>
#include <string>

namespace lumen {

struct RowTile {
  std::string name;
  int64_t rows = 0, columns = 0;  // columns: a multiple of the lanes of a vector
  int64_t a_step = 0, t_step = 0;
  bool adds = false;
  int vector_bytes = 0;
};
std::string print_row_tile(const RowTile& tile);

}  // namespace lumen
