// LineReader: how a leaf (a whole tensor, a view of one, an iota) is read along a line of a domain.
//
// A line is fixed coordinates except along one axis. On it an affine index is base + stride*t, and a guard that is a
// conjunction of affine conditions is one range of t. What is not affine is tabulated once, over the dims it depends
// on, so that reading is again affine, in the table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/ir/dtype.h"
#include "lumen/ir/view.h"

namespace lumen::reference {

// Positions coords[axis] .. coords[axis] + count - 1 along `axis`.
struct Line {
  std::span<const int64_t> coords;
  size_t axis;
  int64_t count;
};

// offset + sum of strides[k]*coords[k]; one stride per dim of the domain, no value in the domain leaves 64 bits.
struct AffineMap {
  int64_t offset = 0;
  std::vector<int64_t> strides;

  int64_t operator()(std::span<const int64_t> coords) const {
    int64_t value = offset;
    for (size_t k = 0; k < strides.size(); ++k) value += strides[k] * coords[k];
    return value;
  }
};

class LineReader {
 public:
  // A tensor with the domain's dims.
  static LineReader whole(std::span<const int64_t> dims);
  // A view, with the domain's dims, of a source of `numel` elements.
  static Expected<LineReader> view(const View& view, std::span<const int64_t> dims, const DimValues& values,
                                   int64_t numel);
  // Integers given by their coordinates; read() takes no source.
  static Expected<LineReader> iota(Expr value, DType dtype, std::span<const int64_t> dims, const DimValues& values);

  // Lanes of the line: in `source` itself where they lie there in a row, else in `buffer`, which holds `line.count`.
  Expected<const Lane*> read(const Line& line, const Lane* source, Lane* buffer) const;

  // Distance in the source (or table) of neighbours along an axis.
  int64_t stride(size_t axis) const { return index_.strides[axis]; }
  // Whether axes `axis` and `axis`+1, of extent `inner`, can be walked as one; and the change to that domain.
  bool can_merge(size_t axis, int64_t inner) const;
  void merge(size_t axis);

 private:
  struct Range {
    int64_t begin;
    int64_t end;
  };
  Range guarded(const Line& line) const;
  Expected<void> tabulate(Expr value, Expr guard, std::span<const int64_t> dims, const DimValues& values);
  void read_table(const Line& line, const Lane* source, Lane* buffer) const;

  AffineMap index_;                // of the source, the table, or (iota) the value itself
  std::vector<AffineMap> guards_;  // all >= 0 where the source is read
  std::vector<int64_t> table_;     // source index (-1: fill), or value
  bool has_table_ = false;
  std::optional<DType> iota_;  // its dtype; none when there is a source
  std::optional<View> view_;
  int64_t numel_ = 0;
  Lane fill_{.i = 0};
};

}  // namespace lumen::reference
