#include "lumen/backend/cpu/matrix_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "lumen/base/flags.h"
#include "lumen/base/log.h"

namespace lumen::cpu {

namespace {

constexpr const char* kUsualName = "libopenblas.so.0";
constexpr int kRowMajor = 101, kAsIs = 111, kTransposed = 112;  // of cblas.h

template <class F>
Expected<void> find_function(void* opened, const std::string& library, const char* symbol, F*& function) {
  function = reinterpret_cast<F*>(dlsym(opened, symbol));
  if (function != nullptr) return {};
  return error(fmt::format("[cpu] {} has no function {}", library, symbol));
}

}  // namespace

Expected<std::shared_ptr<const MatrixLibrary>> MatrixLibrary::load(const std::string& name) {
  void* const opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* const why = dlerror();
    return error(fmt::format("[cpu] OpenBLAS cannot be loaded: {}", why == nullptr ? name : why));
  }
  auto library = std::make_shared<MatrixLibrary>();
  LUMEN_TRY(find_function(opened, name, "cblas_sgemm", library->multiply_f32_));
  LUMEN_TRY(find_function(opened, name, "cblas_dgemm", library->multiply_f64_));
  LUMEN_TRY(find_function(opened, name, "openblas_set_num_threads", library->set_threads_));
  LUMEN_TRY(find_function(opened, name, "openblas_get_num_threads", library->get_threads_));
  const char* (*version)() = nullptr;
  LUMEN_TRY(find_function(opened, name, "openblas_get_config", version));
  library->version_ = version();
  return std::shared_ptr<const MatrixLibrary>(std::move(library));
}

std::shared_ptr<const MatrixLibrary> MatrixLibrary::from_flags() {
  static const std::shared_ptr<const MatrixLibrary> found = []() -> std::shared_ptr<const MatrixLibrary> {
    const std::string& given = flags().blas;
    if (given == "none") return nullptr;
    Expected<std::shared_ptr<const MatrixLibrary>> loaded = load(given.empty() ? kUsualName : given);
    // Most machines have none; one that was asked for should be there.
    LUMEN_LOG(given.empty() || loaded.ok() ? 1 : 0, loaded.ok() ? (*loaded)->version() : loaded.diag().str());
    return loaded.ok() ? *loaded : nullptr;
  }();
  return found;
}

MatrixLibrary::OneThread::OneThread(const MatrixLibrary& library) : library_(library), before_(library.get_threads_()) {
  if (before_ != 1) library_.set_threads_(1);
}
MatrixLibrary::OneThread::~OneThread() {
  if (before_ != 1) library_.set_threads_(before_);
}

Expected<MatrixProduct::Matrix> MatrixProduct::bind(const LibraryMatrix& matrix, const DimValues& dims) {
  Matrix bound;
  bound.buffer = matrix.buffer;
  bound.offset = LUMEN_TRY(evaluate(matrix.offset, dims));
  bound.batch_step = LUMEN_TRY(evaluate(matrix.batch_step, dims));
  bound.pitch = LUMEN_TRY(evaluate(matrix.pitch, dims));
  bound.along_summed = matrix.along_summed;
  bound.row_step = matrix.along_summed ? bound.pitch : 1;
  return bound;
}

Expected<std::shared_ptr<const MatrixProduct>> MatrixLibrary::prepare(const LibraryProduct& product,
                                                                      const DimValues& dims) const {
  const DType dtype = product.rows.dtype;
  if ((dtype != f32 && dtype != f64) || product.columns.dtype != dtype || product.result.dtype != dtype) {
    return error(fmt::format("[cpu] OpenBLAS does not multiply {} by {} to {}", name(dtype),
                             name(product.columns.dtype), name(product.result.dtype)));
  }
  auto made = std::make_shared<MatrixProduct>();
  made->library_ = shared_from_this();
  made->batch_ = LUMEN_TRY(evaluate(product.batch, dims));
  made->rows_ = LUMEN_TRY(evaluate(product.row_count, dims));
  made->columns_ = LUMEN_TRY(evaluate(product.column_count, dims));
  made->summed_ = LUMEN_TRY(evaluate(product.summed, dims));
  // Where nothing is, no steps lead from one to the next.
  if (made->units() == 0) return std::shared_ptr<const MatrixProduct>(std::move(made));
  made->left_ = LUMEN_TRY(MatrixProduct::bind(product.rows, dims));
  made->right_ = LUMEN_TRY(MatrixProduct::bind(product.columns, dims));
  made->result_ = LUMEN_TRY(MatrixProduct::bind(product.result, dims));
  const int64_t largest = std::max(
      {made->rows_, made->columns_, made->summed_, made->left_.pitch, made->right_.pitch, made->result_.pitch});
  if (largest > INT_MAX) return error(fmt::format("[cpu] OpenBLAS does not count to {}", largest));
  made->split_rows_ = made->batch_ > 1 || made->rows_ >= made->columns_;
  made->wide_ = dtype == f64;
  return std::shared_ptr<const MatrixProduct>(std::move(made));
}

void MatrixProduct::run(const void* const* in, void* const* out, int64_t begin, int64_t end) const {
  if (wide_) return run_units<double>(library_->multiply_f64_, in, out, begin, end);
  return run_units<float>(library_->multiply_f32_, in, out, begin, end);
}

template <class T, class Multiply>
void MatrixProduct::run_units(Multiply* multiply, const void* const* in, void* const* out, int64_t begin,
                              int64_t end) const {
  const int64_t each = split_rows_ ? rows_ : columns_;  // units of a batch
  while (begin < end) {
    const int64_t batch = begin / each, first = begin % each;
    const int64_t count = std::min(each - first, end - begin);
    const int64_t row = split_rows_ ? first : 0, column = split_rows_ ? 0 : first;
    const T* const a =
        static_cast<const T*>(in[left_.buffer]) + left_.offset + batch * left_.batch_step + row * left_.row_step;
    const T* const b =
        static_cast<const T*>(in[right_.buffer]) + right_.offset + batch * right_.batch_step + column * right_.row_step;
    T* const c = static_cast<T*>(out[result_.buffer]) + result_.offset + batch * result_.batch_step +
                 row * result_.pitch + column;
    multiply(kRowMajor, left_.along_summed ? kAsIs : kTransposed, right_.along_summed ? kTransposed : kAsIs,
             static_cast<int>(split_rows_ ? count : rows_), static_cast<int>(split_rows_ ? columns_ : count),
             static_cast<int>(summed_), T(1), a, static_cast<int>(left_.pitch), b, static_cast<int>(right_.pitch), T(0),
             c, static_cast<int>(result_.pitch));
    begin += count;
  }
}

}  // namespace lumen::cpu
