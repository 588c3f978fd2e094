#include "lumen/backend/cuda/matrix_library.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/backend/cuda/dynamic_library.h"

namespace lumen::cuda {

namespace {

constexpr int kTransposeFirst = 3, kTransposeSecond = 4;  // attributes of a product
constexpr int kFirstScale = 17;                           // the second follows; by default one f32 for a factor
constexpr int kBatchCount = 5, kBatchStep = 6;            // of a layout
constexpr int kMostWorkspace = 1, kFirstAlignment = 5;    // of a preference: four alignments from here on
constexpr int kComputeF32 = 68, kComputeF64 = 70;
constexpr int kProposals = 8;
constexpr uint32_t kAlignment = 256;       // bytes, of buffers
constexpr Address kAnyScale = kAlignment;  // while algorithms are asked for, which reads nothing

Expected<void> check(Result result, const char* call) {
  if (result == 0) return {};
  return error(fmt::format("[cuda] {} failed (status {})", call, result));
}

// As the library numbers them.
Expected<int> type_number(DType dtype) {
  constexpr std::pair<DType, int> kNumbers[] = {{f32, 0}, {f64, 1}, {f16, 2}, {bf16, 14}, {f8e4m3, 28}, {f8e5m2, 29}};
  for (const auto& [each, number] : kNumbers) {
    if (each == dtype) return number;
  }
  return error(fmt::format("[cuda] cuBLASLt does not multiply {}", name(dtype)));
}

int64_t bytes_of(DType dtype) { return info(dtype).bits / 8; }

// What the addresses of a matrix are multiples of, at least.
Expected<uint32_t> alignment_of(const LibraryMatrix& matrix, const DimValues& dims) {
  const int64_t offset = LUMEN_TRY(evaluate(matrix.offset, dims)), step = LUMEN_TRY(evaluate(matrix.batch_step, dims));
  const auto both = static_cast<uint64_t>((offset | step) * bytes_of(matrix.dtype)) | kAlignment;
  return static_cast<uint32_t>(both & (~both + 1));
}

}  // namespace

#define LUMEN_CUDA_FIND(member, symbol, parameters) LUMEN_TRY(find_function(opened, symbol, library->call_.member));

Expected<std::shared_ptr<const MatrixLibrary>> MatrixLibrary::load(const std::vector<std::string>& names) {
  void* const opened = LUMEN_TRY(open_first(names, "the library of matrix products (libcublasLt)"));
  const auto library = std::make_shared<MatrixLibrary>();
  LUMEN_CUDA_MATRICES(LUMEN_CUDA_FIND)
  return std::shared_ptr<const MatrixLibrary>(library);
}

#undef LUMEN_CUDA_FIND

Expected<void*> MatrixLibrary::handle() const {
  if (handle_ == nullptr) LUMEN_TRY(check(call_.create(&handle_), "cublasLtCreate"));
  return handle_;
}

// The library's matrices have their neighbours in columns: our lines.
Expected<void*> MatrixLibrary::layout(const LibraryMatrix& matrix, int64_t length, int64_t lines,
                                      const LibraryProduct& product, const DimValues& dims) const {
  const int64_t pitch = LUMEN_TRY(evaluate(matrix.pitch, dims));
  const int type = LUMEN_TRY(type_number(matrix.dtype));
  void* made = nullptr;
  LUMEN_TRY(check(call_.layout_create(&made, type, static_cast<uint64_t>(length), static_cast<uint64_t>(lines),
                                      std::max(pitch, length)),
                  "cublasLtMatrixLayoutCreate"));
  const auto batch = static_cast<int32_t>(LUMEN_TRY(evaluate(product.batch, dims)));
  const int64_t step = LUMEN_TRY(evaluate(matrix.batch_step, dims));
  if (batch == 1) return made;
  LUMEN_TRY(check(call_.layout_set(made, kBatchCount, &batch, sizeof batch), "cublasLtMatrixLayoutSetAttribute"));
  LUMEN_TRY(check(call_.layout_set(made, kBatchStep, &step, sizeof step), "cublasLtMatrixLayoutSetAttribute"));
  return made;
}

// The result's lines are the library's columns, so that it computes columns times rows.
Expected<std::shared_ptr<const MatrixProduct>> MatrixLibrary::prepare(const LibraryProduct& product,
                                                                      const DimValues& dims) const {
  std::shared_ptr<MatrixProduct> made(new MatrixProduct(shared_from_this()));
  const int64_t rows = LUMEN_TRY(evaluate(product.row_count, dims));
  const int64_t columns = LUMEN_TRY(evaluate(product.column_count, dims));
  const int64_t summed = LUMEN_TRY(evaluate(product.summed, dims));
  made->wide_ = product.rows.dtype == f64;
  LUMEN_TRY(
      check(call_.descriptor_create(&made->descriptor_, made->wide_ ? kComputeF64 : kComputeF32, made->wide_ ? 1 : 0),
            "cublasLtMatmulDescCreate"));
  const int32_t transpose_columns = product.columns.along_summed ? 1 : 0;
  const int32_t transpose_rows = product.rows.along_summed ? 0 : 1;
  LUMEN_TRY(check(call_.descriptor_set(made->descriptor_, kTransposeFirst, &transpose_columns, sizeof(int32_t)),
                  "cublasLtMatmulDescSetAttribute"));
  LUMEN_TRY(check(call_.descriptor_set(made->descriptor_, kTransposeSecond, &transpose_rows, sizeof(int32_t)),
                  "cublasLtMatmulDescSetAttribute"));
  const auto factor = [&](const LibraryMatrix& matrix, int64_t lanes) {
    return layout(matrix, matrix.along_summed ? summed : lanes, matrix.along_summed ? lanes : summed, product, dims);
  };
  made->columns_ = LUMEN_TRY(factor(product.columns, columns));
  made->rows_ = LUMEN_TRY(factor(product.rows, rows));
  made->result_ = LUMEN_TRY(layout(product.result, columns, rows, product, dims));
  const auto offset = [&](const LibraryMatrix& matrix) -> Expected<uint64_t> {
    return static_cast<uint64_t>(LUMEN_TRY(evaluate(matrix.offset, dims)) * bytes_of(matrix.dtype));
  };
  made->row_offset_ = LUMEN_TRY(offset(product.rows));
  made->column_offset_ = LUMEN_TRY(offset(product.columns));
  made->result_offset_ = LUMEN_TRY(offset(product.result));
  made->constant_ = product.constant;
  LUMEN_TRY(made->set_scales(std::vector<Address>(product.scales.size(), kAnyScale)));
  LUMEN_TRY(choose(product, dims, *made));
  return std::shared_ptr<const MatrixProduct>(std::move(made));
}

Expected<void> MatrixLibrary::choose(const LibraryProduct& product, const DimValues& dims, MatrixProduct& made) const {
  void* preference = nullptr;
  LUMEN_TRY(check(call_.preference_create(&preference), "cublasLtMatmulPreferenceCreate"));
  const std::shared_ptr<void> owned(preference, [this](void* it) { call_.preference_destroy(it); });
  const auto set = [&](int attribute, const auto& value) {
    return check(call_.preference_set(preference, attribute, &value, sizeof value),
                 "cublasLtMatmulPreferenceSetAttribute");
  };
  LUMEN_TRY(set(kMostWorkspace, static_cast<size_t>(product.workspace)));
  int attribute = kFirstAlignment;
  for (const LibraryMatrix* matrix : {&product.columns, &product.rows, &product.result, &product.result}) {
    LUMEN_TRY(set(attribute++, LUMEN_TRY(alignment_of(*matrix, dims))));
  }
  MatmulProposal proposals[kProposals] = {};
  int found = 0;
  void* const own = LUMEN_TRY(handle());
  LUMEN_TRY(check(call_.propose(own, made.descriptor_, made.columns_, made.rows_, made.result_, made.result_,
                                preference, kProposals, proposals, &found),
                  "cublasLtMatmulAlgoGetHeuristic"));
  if (found == 0) return error("[cuda] cuBLASLt has no algorithm for a product");
  const MatmulProposal& chosen = proposals[std::min<int64_t>(product.algorithm, found - 1)];
  made.algorithm_ = chosen.algorithm;
  made.workspace_ = chosen.workspace;
  return {};
}

MatrixProduct::~MatrixProduct() {
  const MatrixFunctions& call = library_->call_;
  for (void* const layout : {rows_, columns_, result_}) {
    if (layout != nullptr) call.layout_destroy(layout);
  }
  if (descriptor_ != nullptr) call.descriptor_destroy(descriptor_);
}

// Whose scale it is does not matter: each multiplies the whole product.
Expected<void> MatrixProduct::set_scales(std::span<const Address> scales) const {
  int attribute = kFirstScale;
  for (const Address scale : scales) {
    LUMEN_TRY(check(library_->call_.descriptor_set(descriptor_, attribute++, &scale, sizeof scale),
                    "cublasLtMatmulDescSetAttribute"));
  }
  return {};
}

Expected<void> MatrixProduct::run(Address rows, Address columns, Address result, std::span<const Address> scales,
                                  Address workspace, Stream stream) const {
  const float zero = 0;
  const double wide_one = 1, wide_zero = 0;
  const auto at = [](Address address) { return reinterpret_cast<void*>(address); };
  void* const to = at(result + result_offset_);
  void* const own = LUMEN_TRY(library_->handle());
  LUMEN_TRY(set_scales(scales));
  return check(library_->call_.multiply(own, descriptor_, wide_ ? static_cast<const void*>(&wide_one) : &constant_,
                                        at(columns + column_offset_), columns_, at(rows + row_offset_), rows_,
                                        wide_ ? static_cast<const void*>(&wide_zero) : &zero, to, result_, to, result_,
                                        &algorithm_, at(workspace), workspace_, stream),
               "cublasLtMatmul");
}

}  // namespace lumen::cuda
