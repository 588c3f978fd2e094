// Tiles: the innermost loops of a Contract, which multiply a packed panel of rows by a packed panel of columns.
//
//   static void name(int64_t count, const S* a, const S* b, T* t, int64_t step, int fresh, const void* next)
//   static void name(int64_t count, const S* a, const S* b, T* t, int64_t step, int fresh, const int32_t* places)
//
// adds to t[mr][nr], whose rows are `step` apart, or sets it when `fresh`, the products of `count` summed elements;
// `count` is a multiple of what the panels are filled up to. `next` is there for a matrix unit with TileSteps::ahead:
// what is fetched into the second cache meanwhile, that many lines for each depth. `places` is there with
// TileSteps::places: of `count` coordinates and kPlacesAhead more, whatever these are.
#pragma once

#include <string>
#include <string_view>

#include "lumen/codegen/contract.h"

namespace lumen {

// Elements as tiles take them.
struct TileTypes {
  std::string packed;  // C type of what is multiplied
  std::string sum;     // C type of what products are added in
  int64_t sum_bytes = 4;
  int64_t group = 1;    // packed elements of one lane that lie together
  int64_t depth = 1;    // summed elements are filled up to a multiple of this
  std::string product;  // the instruction, where it is no multiplication and addition
  // Of a product of bytes that have a sign and bytes that have none: which is which. Where both sides are alike,
  // columns are `flipped`, packed with their top bits the other way: b + 128 without a sign, or b - 128 with one.
  bool rows_have_sign = false, flipped = false;
  // Of a matrix unit: an f32 is a sum of so many bf16, the largest first. What is multiplied lies piece by piece for
  // each depth.
  int64_t row_pieces = 1, column_pieces = 1;
};

inline constexpr int64_t kPlacesAhead = 4;

// How far apart what a tile reads lies, in packed elements.
struct TileSteps {
  int64_t row = 1;         // from one row to the next
  int64_t row_summed = 0;  // along the summed axis, one depth further
  int64_t column_summed = 0;
  int64_t ahead = 0;    // lines of 64 bytes
  bool places = false;  // the columns of summed coordinate k are at b + places[k], for vectors
  // Lanes of vectors are multiplied by: of rows, which lie together, or of one row's elements, if these do.
  bool by_lanes = false;
};

// Vectors of `vector_bytes`; works for every type with C's operators, and with the products of quad_types(), for which
// rows are packed and a multiple of tile_rows().
std::string print_vector_tile(const std::string& name, const TileTypes& types, const ContractSchedule& schedule,
                              int vector_bytes, const TileSteps& steps);

// A tile's rows are a multiple of this.
int64_t tile_rows(const TileTypes& types, int64_t lanes);

// Tiles of a matrix unit, whose registers hold 16 rows of 64 bytes.
std::string print_amx_tile(const std::string& name, const TileTypes& types, const ContractSchedule& schedule,
                           const TileSteps& steps);
// Statements before the first tile and after the last one of a thread.
std::string_view amx_begin();
std::string_view amx_end();

}  // namespace lumen
