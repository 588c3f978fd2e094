// OpenBLAS, found when the program runs: products of matrices that compete with our own kernels.
#pragma once

#include <memory>
#include <string>

#include "lumen/codegen/library_product.h"

namespace lumen::cpu {

class MatrixLibrary;

// A product of given sizes, ready to run. It falls into units, which threads share: the rows of all batches, or the
// columns where there are more of them.
class MatrixProduct {
 public:
  int64_t units() const { return rows_ == 0 || columns_ == 0 ? 0 : batch_ * (split_rows_ ? rows_ : columns_); }
  // The units [begin, end), by the caller's thread alone. `in` and `out` are the buffers of the kernel.
  void run(const void* const* in, void* const* out, int64_t begin, int64_t end) const;

 private:
  friend class MatrixLibrary;
  // Where a matrix is, in elements.
  struct Matrix {
    uint32_t buffer = 0;
    int64_t offset = 0, batch_step = 0, pitch = 0;
    int64_t row_step = 0;  // from one row, or column, of the product to the next
    bool along_summed = false;
  };
  static Expected<Matrix> bind(const LibraryMatrix& matrix, const DimValues& dims);
  template <class T, class Multiply>
  void run_units(Multiply* multiply, const void* const* in, void* const* out, int64_t begin, int64_t end) const;

  std::shared_ptr<const MatrixLibrary> library_;
  Matrix left_, right_, result_;
  int64_t batch_ = 0, rows_ = 0, columns_ = 0, summed_ = 0;
  bool split_rows_ = true;
  bool wide_ = false;  // f64
};

class MatrixLibrary : public std::enable_shared_from_this<MatrixLibrary> {
 public:
  // LUMEN_BLAS, or libopenblas.so.0; once for the process. Null when there is none or it says `none`.
  static std::shared_ptr<const MatrixLibrary> from_flags();
  // An error says what was looked for. It stays for as long as the process lives.
  static Expected<std::shared_ptr<const MatrixLibrary>> load(const std::string& name);

  const std::string& version() const { return version_; }

  // `dims` are values of n0, n1, …. An error where sizes are beyond what the library counts with.
  Expected<std::shared_ptr<const MatrixProduct>> prepare(const LibraryProduct& product, const DimValues& dims) const;

  // While one lives the library starts no threads: ours call it. The number is the process's, and put back at the end.
  class OneThread {
   public:
    explicit OneThread(const MatrixLibrary& library);
    ~OneThread();
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

   private:
    const MatrixLibrary& library_;
    int before_;
  };

 private:
  friend class MatrixProduct;
  // As cblas.h has them, where integers are 32 bits.
  template <class T>
  using Multiply = void(int order, int left, int right, int rows, int columns, int summed, T alpha, const T* a, int lda,
                        const T* b, int ldb, T beta, T* c, int ldc);
  Multiply<float>* multiply_f32_ = nullptr;
  Multiply<double>* multiply_f64_ = nullptr;
  void (*set_threads_)(int) = nullptr;
  int (*get_threads_)() = nullptr;
  std::string version_;
};

}  // namespace lumen::cpu
