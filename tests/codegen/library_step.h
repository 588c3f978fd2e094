// What a library does in a step of a kernel (library_product.h), element by element.
#pragma once

#include <gtest/gtest.h>

#include "lumen/codegen/library_product.h"
#include "lumen/ir/host_tensor.h"

namespace lumen::testing {

class LibraryStep {
 public:
  // `dims` are values of n0, n1, ….
  LibraryStep(const LibraryProduct& product, const DimValues& dims) : product_(product), dims_(dims) {}

  // The bytes of the matrices' buffers; what the scales are.
  void run(std::span<const std::byte> rows, std::span<const std::byte> columns, std::span<std::byte> result,
           std::span<const float> scales = {}) const {
    EXPECT_EQ(scales.size(), product_.scales.size());
    float scale = product_.constant;
    for (const float each : scales) scale *= each;
    const int64_t row_count = value(product_.row_count), column_count = value(product_.column_count);
    const int64_t summed = value(product_.summed);
    for (int64_t b = 0; b < value(product_.batch); ++b) {
      for (int64_t r = 0; r < row_count; ++r) {
        for (int64_t c = 0; c < column_count; ++c) {
          double sum = 0;
          for (int64_t s = 0; s < summed; ++s) {
            sum += read(product_.rows, rows, factor_at(product_.rows, b, r, s)) *
                   read(product_.columns, columns, factor_at(product_.columns, b, c, s));
          }
          write(result, value(product_.result.batch_step) * b + value(product_.result.pitch) * r + c, sum * scale);
        }
      }
    }
  }

 private:
  int64_t value(Expr e) const { return evaluate(e, dims_).value(); }
  int64_t factor_at(const LibraryMatrix& matrix, int64_t b, int64_t lane, int64_t s) const {
    const int64_t line = matrix.along_summed ? lane : s, inside = matrix.along_summed ? s : lane;
    EXPECT_GE(value(matrix.pitch), value(matrix.along_summed         ? product_.summed
                                         : &matrix == &product_.rows ? product_.row_count
                                                                     : product_.column_count));
    return value(matrix.batch_step) * b + value(matrix.pitch) * line + inside;
  }
  template <class Bytes>
  Bytes element(const LibraryMatrix& matrix, Bytes bytes, int64_t at) const {
    const auto size = static_cast<size_t>(info(matrix.dtype).bits / 8);
    const auto place = static_cast<size_t>(value(matrix.offset) + at) * size;
    if (place + size > bytes.size()) throw std::out_of_range("a matrix is outside its buffer");
    return bytes.subspan(place, size);
  }
  double read(const LibraryMatrix& matrix, std::span<const std::byte> bytes, int64_t at) const {
    Lane lane{};
    unpack(matrix.dtype, element(matrix, bytes, at), std::span(&lane, 1));
    return lane.f;
  }
  void write(std::span<std::byte> bytes, int64_t at, double sum) const {
    const Lane lane = Scalar::of(product_.result.dtype, sum).value;
    pack(product_.result.dtype, std::span(&lane, 1), element(product_.result, bytes, at));
  }

  const LibraryProduct& product_;
  const DimValues& dims_;
};

}  // namespace lumen::testing
