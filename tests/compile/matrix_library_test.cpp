// cuBLASLt as Lumen calls it, where there is none (fake_matrices.h).
#include "lumen/backend/cuda/matrix_library.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "tests/codegen/library_step.h"
#include "tests/compile/fake_matrices.h"
#include "tests/support/scratch_dir.h"

namespace lumen::cuda {
namespace {

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

LibraryProduct product_of_8_bits() {
  LibraryProduct product;
  product.rows = product.columns = {0, f8e4m3, 0, 0, 32, true};
  product.result = {0, f32, 0, 0, 48, false};
  product.batch = 1;
  product.row_count = 5;
  product.column_count = 48;
  product.summed = 32;
  product.workspace = 64;
  return product;
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
  const std::shared_ptr<const MatrixLibrary> matrices = MatrixLibrary::load({library(tests::kFakeMatrices)}).value();
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
    ASSERT_TRUE(ready->run(address(a.data()), address(b.data()), address(got.data()), {}, address(workspace), {}).ok());
    EXPECT_EQ(got, wanted) << layout;
    EXPECT_EQ(workspace[0], 25601u) << "the last of the two, for columns at multiples of 256 bytes";
  }
}

TEST_F(MatrixLibraryTest, asks_for_floats_of_8_bits) {
  const std::shared_ptr<const MatrixLibrary> matrices = MatrixLibrary::load({library(tests::kFakeMatrices)}).value();
  // The types of columns, rows and result, as the library numbers them; 0: it has no algorithm.
  const auto asked = [&](DType rows, DType columns, DType result, bool along = true) -> uint64_t {
    LibraryProduct product = product_of_8_bits();
    product.rows.dtype = rows;
    product.columns = {0, columns, 0, 0, along ? 32 : 48, along};
    product.result.dtype = result;
    const auto ready = matrices->prepare(product, {});
    uint64_t workspace[8] = {};
    if (!ready.ok()) return 0;
    EXPECT_TRUE((*ready)->run(0, 0, 0, {}, reinterpret_cast<Address>(workspace), {}).ok());
    return workspace[0];
  };
  EXPECT_EQ(asked(f8e5m2, f8e5m2, f32), 0u);
  EXPECT_EQ(asked(f8e4m3, f8e4m3, f32, false), 0u);
  EXPECT_EQ(asked(f8e4m3, f8e4m3, f32), 282800u);
  EXPECT_EQ(asked(f8e4m3, f8e4m3, bf16), 282814u);
  EXPECT_EQ(asked(f8e5m2, f8e4m3, f32), 282900u);
  EXPECT_EQ(asked(f8e4m3, f8e5m2, bf16), 292814u);
}

// Scales are where they are when it runs, which may be elsewhere the next time.
TEST_F(MatrixLibraryTest, scales_floats_of_8_bits) {
  const std::shared_ptr<const MatrixLibrary> matrices = MatrixLibrary::load({library(tests::kFakeMatrices)}).value();
  const auto given = [&](float constant, const std::vector<float>& scales) {
    LibraryProduct product = product_of_8_bits();
    product.constant = constant;
    product.scales.resize(scales.size());
    const std::shared_ptr<const MatrixProduct> ready = matrices->prepare(product, {}).value();
    struct {
      uint64_t types;
      float first, second, constant;
      uint64_t rest[5];
    } workspace = {};
    for (const std::vector<float>& each : {std::vector<float>(scales.size(), 99), scales}) {
      std::vector<Address> addresses;
      for (const float& scale : each) addresses.push_back(reinterpret_cast<Address>(&scale));
      EXPECT_TRUE(ready->run(0, 0, 0, addresses, reinterpret_cast<Address>(&workspace), {}).ok());
    }
    return fmt::format("{} {} {}", workspace.first, workspace.second, workspace.constant);
  };
  EXPECT_EQ(given(1, {}), "0 0 1");
  EXPECT_EQ(given(1, {3}), "3 0 1");
  EXPECT_EQ(given(0.25F, {3, 5}), "3 5 0.25");
}

TEST_F(MatrixLibraryTest, says_that_it_cannot) {
  const std::shared_ptr<const MatrixLibrary> matrices = MatrixLibrary::load({library(tests::kFakeMatrices)}).value();
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
