// cuBLASLt, found when the program runs: products of matrices that compete with our own kernels.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lumen/backend/cuda/driver.h"
#include "lumen/codegen/library_product.h"

namespace lumen::cuda {

// The library's own layouts.
struct MatmulAlgorithm {
  uint64_t data[8];
};
struct MatmulProposal {
  MatmulAlgorithm algorithm;
  size_t workspace;
  Result state;
  float waves;
  int reserved[4];
};

// One row for each function: its member, its symbol, its parameters.
#define LUMEN_CUDA_MATRICES(ROW)                                                                                  \
  ROW(create, "cublasLtCreate", (void**))                                                                         \
  ROW(descriptor_create, "cublasLtMatmulDescCreate", (void**, int, int))                                          \
  ROW(descriptor_destroy, "cublasLtMatmulDescDestroy", (void*))                                                   \
  ROW(descriptor_set, "cublasLtMatmulDescSetAttribute", (void*, int, const void*, size_t))                        \
  ROW(layout_create, "cublasLtMatrixLayoutCreate", (void**, int, uint64_t, uint64_t, int64_t))                    \
  ROW(layout_destroy, "cublasLtMatrixLayoutDestroy", (void*))                                                     \
  ROW(layout_set, "cublasLtMatrixLayoutSetAttribute", (void*, int, const void*, size_t))                          \
  ROW(preference_create, "cublasLtMatmulPreferenceCreate", (void**))                                              \
  ROW(preference_destroy, "cublasLtMatmulPreferenceDestroy", (void*))                                             \
  ROW(preference_set, "cublasLtMatmulPreferenceSetAttribute", (void*, int, const void*, size_t))                  \
  ROW(propose, "cublasLtMatmulAlgoGetHeuristic",                                                                  \
      (void*, void*, void*, void*, void*, void*, void*, int, MatmulProposal*, int*))                              \
  ROW(multiply, "cublasLtMatmul",                                                                                 \
      (void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*, void*, \
       void*, const MatmulAlgorithm*, void*, size_t, Stream))

struct MatrixFunctions {
#define LUMEN_CUDA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  LUMEN_CUDA_MATRICES(LUMEN_CUDA_MEMBER)
#undef LUMEN_CUDA_MEMBER
};

class MatrixLibrary;

// A product of given sizes, ready to run: by one thread at a time, as the library keeps the addresses of scales with
// what else it knows of the product.
class MatrixProduct {
 public:
  ~MatrixProduct();
  MatrixProduct(const MatrixProduct&) = delete;
  MatrixProduct& operator=(const MatrixProduct&) = delete;

  // Addresses of the buffers; what is in front of the matrices is skipped here. `scales`: as many as the product has.
  Expected<void> run(Address rows, Address columns, Address result, std::span<const Address> scales, Address workspace,
                     Stream stream) const;

 private:
  friend class MatrixLibrary;
  explicit MatrixProduct(std::shared_ptr<const MatrixLibrary> library) : library_(std::move(library)) {}
  Expected<void> set_scales(std::span<const Address> scales) const;

  std::shared_ptr<const MatrixLibrary> library_;
  void *descriptor_ = nullptr, *rows_ = nullptr, *columns_ = nullptr, *result_ = nullptr;
  uint64_t row_offset_ = 0, column_offset_ = 0, result_offset_ = 0;  // bytes
  bool wide_ = false;                                                // sums are f64
  float constant_ = 1;
  MatmulAlgorithm algorithm_{};
  size_t workspace_ = 0;
};

class MatrixLibrary : public std::enable_shared_from_this<MatrixLibrary> {
 public:
  // An error says what was tried.
  static Expected<std::shared_ptr<const MatrixLibrary>> load(const std::vector<std::string>& names);

  // `dims` are values of n0, n1, …. An error where the library has no way to do it.
  Expected<std::shared_ptr<const MatrixProduct>> prepare(const LibraryProduct& product, const DimValues& dims) const;

 private:
  friend class MatrixProduct;
  Expected<void*> handle() const;
  Expected<void*> layout(const LibraryMatrix& matrix, int64_t length, int64_t lines, const LibraryProduct& product,
                         const DimValues& dims) const;
  Expected<void> choose(const LibraryProduct& product, const DimValues& dims, MatrixProduct& made) const;

  MatrixFunctions call_;
  mutable void* handle_ = nullptr;  // made when it is first needed, which takes a while
};

}  // namespace lumen::cuda
