// cuBLASLt as Lumen calls it, where there is none: a library of the same interface that multiplies on this machine.
#include "lumen/backend/cuda/matrix_library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "tests/codegen/library_step.h"
#include "tests/support/scratch_dir.h"

namespace lumen::cuda {
namespace {

// Matrices of f32 with their neighbours in columns. An algorithm leaves its number in the workspace.
constexpr const char* kFake = R"C(
#include <stdint.h>
#include <stdlib.h>
struct layout { int type; uint64_t rows, columns; int64_t pitch; int32_t batch; int64_t step; };
struct descriptor { int compute, scale; int32_t transposed[2]; };
struct preference { size_t workspace; uint32_t alignment[4]; };
struct proposal { uint64_t algorithm[8]; size_t workspace; int state; float waves; int reserved[4]; };
int cublasLtCreate(void** h) { *h = malloc(1); return 0; }
int cublasLtMatmulDescCreate(struct descriptor** d, int compute, int scale) {
  *d = calloc(1, sizeof **d); (*d)->compute = compute; (*d)->scale = scale; return 0;
}
int cublasLtMatmulDescDestroy(void* d) { free(d); return 0; }
int cublasLtMatmulDescSetAttribute(struct descriptor* d, int which, const int32_t* value, size_t size) {
  if (size != 4 || which < 3 || which > 4) return 7;
  d->transposed[which - 3] = *value; return 0;
}
int cublasLtMatrixLayoutCreate(struct layout** l, int type, uint64_t rows, uint64_t columns, int64_t pitch) {
  if (pitch < (int64_t)rows) return 7;
  *l = calloc(1, sizeof **l); **l = (struct layout){type, rows, columns, pitch, 1, 0}; return 0;
}
int cublasLtMatrixLayoutDestroy(void* l) { free(l); return 0; }
int cublasLtMatrixLayoutSetAttribute(struct layout* l, int which, const void* value, size_t size) {
  if (which == 5 && size == 4) { l->batch = *(const int32_t*)value; return 0; }
  if (which == 6 && size == 8) { l->step = *(const int64_t*)value; return 0; }
  return 7;
}
int cublasLtMatmulPreferenceCreate(struct preference** p) { *p = calloc(1, sizeof **p); return 0; }
int cublasLtMatmulPreferenceDestroy(void* p) { free(p); return 0; }
int cublasLtMatmulPreferenceSetAttribute(struct preference* p, int which, const void* value, size_t size) {
  if (which == 1 && size == 8) { p->workspace = *(const size_t*)value; return 0; }
  if (which >= 5 && which <= 8 && size == 4) { p->alignment[which - 5] = *(const uint32_t*)value; return 0; }
  return 7;
}
int cublasLtMatmulAlgoGetHeuristic(void* h, struct descriptor* d, struct layout* a, struct layout* b, struct layout* c,
                                   struct layout* r, struct preference* p, int wanted, struct proposal* out, int* found) {
  // Floats of 8 bits: the sum along lines of 16, and not both e5m2.
  int bytes = a->type >= 28 && b->type >= 28 && a->type + b->type < 58 && d->transposed[0] && !d->transposed[1] &&
              !(a->rows % 16 || a->columns % 16 || a->pitch % 16 || b->pitch % 16) && (r->type == 0 || r->type == 14);
  if (d->compute != 68 || d->scale != 0 || p->workspace < 64 ||
      !(bytes || (a->type == 0 && b->type == 0 && r->type == 0))) { *found = 0; return 0; }
  *found = 2;
  for (int k = 0; k < 2; ++k) { out[k].algorithm[0] = 100 * p->alignment[0] + k; out[k].workspace = 64; }
  return 0;
}
int cublasLtMatmul(void* h, struct descriptor* d, const float* alpha, const float* a, struct layout* al, const float* b,
                   struct layout* bl, const float* beta, const float* c, struct layout* cl, float* r, struct layout* rl,
                   const uint64_t* algorithm, uint64_t* workspace, size_t bytes, void* stream) {
  if (*alpha != 1 || *beta != 0 || bytes < 8) return 7;
  *workspace = al->type ? 10000 * al->type + 100 * bl->type + rl->type : *algorithm;
  if (al->type) return 0;
  uint64_t depth = d->transposed[0] ? al->rows : al->columns;
  for (int t = 0; t < rl->batch; ++t)
    for (uint64_t m = 0; m < rl->rows; ++m)
      for (uint64_t n = 0; n < rl->columns; ++n) {
        double sum = 0;
        for (uint64_t k = 0; k < depth; ++k)
          sum += (double)a[t * al->step + (d->transposed[0] ? m * al->pitch + k : k * al->pitch + m)] *
                 b[t * bl->step + (d->transposed[1] ? k * bl->pitch + n : n * bl->pitch + k)];
        r[t * rl->step + n * rl->pitch + m] = (float)sum;
      }
  return 0;
}
)C";

class MatrixLibraryTest : public ::testing::Test {
 protected:
  std::string library(const std::string& text) {
    std::ofstream(folder_ / "matrices.c") << text;
    const std::string command = "cd " + folder_.path() + " && cc -shared -fPIC -w -o matrices.so matrices.c";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return folder_ / "matrices.so";
  }
  tests::ScratchDir folder_;
};

LibraryMatrix matrix(int64_t offset, int64_t batch_step, int64_t pitch, bool along_summed) {
  return {0, f32, offset, batch_step, pitch, along_summed};
}

TEST_F(MatrixLibraryTest, says_that_there_is_none) {
  const auto none = MatrixLibrary::load({"/nowhere/libcublasLt.so"});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.diag().str(),
            "[cuda] the library of matrix products (libcublasLt) not found; tried /nowhere/libcublasLt.so");
  const auto old = MatrixLibrary::load({library("int nothing;")});
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.diag().str(), "[cuda] the library has no function cublasLtCreate: it is too old");
}

TEST_F(MatrixLibraryTest, multiplies_every_layout) {
  const std::shared_ptr<const MatrixLibrary> matrices = MatrixLibrary::load({library(kFake)}).value();
  std::mt19937 random(7);
  constexpr int64_t kBatch = 3, kRows = 5, kColumns = 7, kSummed = 4;
  const DimValues dims{{"n0", kRows}};
  const Expr rows = Expr::dim("n0", 1, 100);
  for (int layout = 0; layout < 8; ++layout) {
    const bool rows_along = (layout & 1) != 0, columns_along = (layout & 2) != 0, shared = (layout & 4) != 0;
    LibraryProduct product;
    product.rows = matrix(8, 100, rows_along ? 6 : 9, rows_along);
    product.columns = matrix(64, shared ? 0 : 64, columns_along ? 5 : 8, columns_along);
    product.result = matrix(2, 50, 7, false);
    product.batch = kBatch;
    product.row_count = rows;
    product.column_count = kColumns;
    product.summed = kSummed;
    product.algorithm = layout == 0 ? 1 : 5;  // of two
    product.workspace = 64;
    std::vector<float> a(400), b(400), wanted(200, -1), got(200, -1);
    for (float& x : a) x = static_cast<float>(static_cast<int>(random() % 9) - 4);
    for (float& x : b) x = static_cast<float>(static_cast<int>(random() % 9) - 4);
    lumen::testing::LibraryStep(product, dims)
        .run(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), std::as_writable_bytes(std::span(wanted)));
    uint64_t workspace[8] = {};
    const auto address = [](auto* data) { return reinterpret_cast<Address>(data); };
    const std::shared_ptr<const MatrixProduct> ready = matrices->prepare(product, dims).value();
    ASSERT_TRUE(ready->run(address(a.data()), address(b.data()), address(got.data()), address(workspace), {}).ok());
    EXPECT_EQ(got, wanted) << layout;
    EXPECT_EQ(workspace[0], 25601u) << "the last of the two, for columns at multiples of 256 bytes";
  }
}

TEST_F(MatrixLibraryTest, asks_for_floats_of_8_bits) {
  const std::shared_ptr<const MatrixLibrary> matrices = MatrixLibrary::load({library(kFake)}).value();
  // The types of columns, rows and result, as the library numbers them; 0: it has no algorithm.
  const auto asked = [&](DType rows, DType columns, DType result, bool along = true) -> uint64_t {
    LibraryProduct product;
    product.rows = {0, rows, 0, 0, 32, true};
    product.columns = {0, columns, 0, 0, along ? 32 : 48, along};
    product.result = {0, result, 0, 0, 48, false};
    product.batch = 1;
    product.row_count = 5;
    product.column_count = 48;
    product.summed = 32;
    product.workspace = 64;
    const auto ready = matrices->prepare(product, {});
    uint64_t workspace[8] = {};
    if (!ready.ok()) return 0;
    EXPECT_TRUE((*ready)->run(0, 0, 0, reinterpret_cast<Address>(workspace), {}).ok());
    return workspace[0];
  };
  EXPECT_EQ(asked(f8e5m2, f8e5m2, f32), 0u);
  EXPECT_EQ(asked(f8e4m3, f8e4m3, f32, false), 0u);
  EXPECT_EQ(asked(f8e4m3, f8e4m3, f32), 282800u);
  EXPECT_EQ(asked(f8e4m3, f8e4m3, bf16), 282814u);
  EXPECT_EQ(asked(f8e5m2, f8e4m3, f32), 282900u);
  EXPECT_EQ(asked(f8e4m3, f8e5m2, bf16), 292814u);
}

TEST_F(MatrixLibraryTest, says_that_it_cannot) {
  const std::shared_ptr<const MatrixLibrary> matrices = MatrixLibrary::load({library(kFake)}).value();
  LibraryProduct product;
  product.rows = product.columns = product.result = matrix(0, 0, 4, true);
  product.batch = product.row_count = product.column_count = product.summed = 4;
  const auto refused = matrices->prepare(product, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.diag().str(), "[cuda] cuBLASLt has no algorithm for a product");
  product.rows.dtype = i32;
  EXPECT_EQ(matrices->prepare(product, {}).diag().str(), "[cuda] cuBLASLt does not multiply i32");
}

}  // namespace
}  // namespace lumen::cuda
