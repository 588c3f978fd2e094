// Walking the coordinates of a concrete shape.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lumen::hlir {

// The next coordinates in row-major order; false, with all of them 0 again, after the last ones.
inline bool next_coordinates(std::span<int64_t> coords, std::span<const int64_t> dims) {
  for (size_t k = coords.size(); k-- > 0;) {
    if (++coords[k] < dims[k]) return true;
    coords[k] = 0;
  }
  return false;
}

// The coordinates of row-major position `flat`.
inline std::vector<int64_t> coordinates_at(int64_t flat, std::span<const int64_t> dims) {
  std::vector<int64_t> coords(dims.size());
  for (size_t k = dims.size(); k-- > 0; flat /= dims[k]) coords[k] = flat % dims[k];
  return coords;
}

// The distance of neighbours along each axis.
inline std::vector<int64_t> row_major(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t k = dims.size(); k-- > 0; stride *= dims[k]) strides[k] = stride;
  return strides;
}

// A shape seen from one axis: position (o, k, i) is at (o*size + k)*inner + i.
struct AxisSplit {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};
inline AxisSplit split_at(std::span<const int64_t> dims, int64_t axis) {
  AxisSplit split;
  const auto at = static_cast<size_t>(axis);
  for (size_t k = 0; k < at; ++k) split.outer *= dims[k];
  split.size = dims[at];
  for (size_t k = at + 1; k < dims.size(); ++k) split.inner *= dims[k];
  return split;
}

}  // namespace lumen::hlir
