// Products by OpenBLAS on a processor: by the real one where it is installed, and by a library of the same interface.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "lumen/backend/cpu/cpu_device.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/runtime/program_file.h"
#include "lumen/search/tune.h"
#include "lumen/search/verify.h"
#include "tests/codegen/contract_graphs.h"
#include "tests/codegen/library_step.h"
#include "tests/support/scratch_dir.h"

namespace lumen::cpu {
namespace {

// It multiplies by one thread only, and takes no rows that overlap.
constexpr const char* kFakeBlas = R"C(
#define PRODUCT(NAME, T) \
  void NAME(int order, int left, int right, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, \
            T beta, T* c, int ldc) { \
    if (order != 101 || threads != 1 || lda < (left == 111 ? k : m) || ldb < (right == 111 ? n : k) || ldc < n) return; \
    for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { \
      double sum = 0; \
      for (int p = 0; p < k; ++p) \
        sum += (double)a[left == 111 ? (long)i * lda + p : (long)p * lda + i] * \
               b[right == 111 ? (long)p * ldb + j : (long)j * ldb + p]; \
      c[(long)i * ldc + j] = alpha * (T)sum + (beta == 0 ? 0 : beta * c[(long)i * ldc + j]); \
    } \
  }
static int threads = 5;
void openblas_set_num_threads(int n) { threads = n; }
int openblas_get_num_threads(void) { return threads; }
const char* openblas_get_config(void) { return "fake 1"; }
PRODUCT(cblas_sgemm, float)
PRODUCT(cblas_dgemm, double)
)C";

std::string make_library(const tests::ScratchDir& folder, const std::string& text) {
  std::ofstream(folder / "blas.c") << text;
  const std::string command = "cd " + folder.path() + " && cc -shared -fPIC -w -o blas.so blas.c";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return folder / "blas.so";
}

TEST(OpenBlas, says_what_is_missing) {
  const tests::ScratchDir folder;
  const auto none = MatrixLibrary::load("/nowhere/libopenblas.so");
  ASSERT_FALSE(none.ok());
  EXPECT_TRUE(none.diag().str().starts_with("[cpu] OpenBLAS cannot be loaded: /nowhere/libopenblas.so: cannot open"))
      << none.diag().str();
  const std::string other = make_library(folder, "int nothing;");
  EXPECT_EQ(MatrixLibrary::load(other).diag().str(), "[cpu] " + other + " has no function cblas_sgemm");
}

class OpenBlasTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const bool real = GetParam();
    Expected<std::shared_ptr<const MatrixLibrary>> loaded =
        MatrixLibrary::load(real ? "libopenblas.so.0" : make_library(folder_, kFakeBlas));
    if (real && !loaded.ok()) GTEST_SKIP() << loaded.diag().str();
    library_ = loaded.value();
  }
  CpuDevice device(int threads) const {
    return CpuDevice(Compiler::find().value(), {"-O1", "-w"}, std::make_shared<ThreadPool>(threads), library_);
  }

  tests::ScratchDir folder_;
  std::shared_ptr<const MatrixLibrary> library_;
};
INSTANTIATE_TEST_SUITE_P(Libraries, OpenBlasTest, ::testing::Values(false, true),
                         [](const auto& which) { return which.param ? "real" : "fake"; });

LibraryMatrix blas_matrix(DType dtype, uint32_t buffer, int64_t offset, int64_t batch_step, int64_t pitch, bool along) {
  return {buffer, dtype, offset, batch_step, pitch, along};
}

template <class T>
void expect_products(const MatrixLibrary& library, DType dtype) {
  std::mt19937 random(7);
  const Expr rows = Expr::dim("n0", 1, 100);
  for (int layout = 0; layout < 32; ++layout) {
    const bool rows_along = (layout & 1) != 0, columns_along = (layout & 2) != 0, shared = (layout & 4) != 0;
    const DimValues dims{{"n0", (layout & 8) != 0 ? 5 : 8}};
    LibraryProduct product;
    product.rows = blas_matrix(dtype, 1, 8, 100, rows_along ? 6 : 9, rows_along);
    product.columns = blas_matrix(dtype, 0, 64, shared ? 0 : 64, columns_along ? 5 : 8, columns_along);
    product.result = blas_matrix(dtype, 2, 2, 60, 7, false);
    product.batch = (layout & 16) != 0 ? 3 : 1;
    product.row_count = rows;
    product.column_count = 7;
    product.summed = 4;
    std::vector<T> a(400), b(400), wanted(200, -1), got(200, -1);
    for (T& x : a) x = static_cast<T>(static_cast<int>(random() % 9) - 4);
    for (T& x : b) x = static_cast<T>(static_cast<int>(random() % 9) - 4);
    lumen::testing::LibraryStep(product, dims)
        .run(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), std::as_writable_bytes(std::span(wanted)));
    const std::shared_ptr<const MatrixProduct> ready = library.prepare(product, dims).value();
    const void* const in[] = {b.data(), a.data()};
    void* const out[] = {nullptr, nullptr, got.data()};
    const MatrixLibrary::OneThread one_thread(library);
    for (int64_t begin = 0; begin < ready->units();) {
      const int64_t end = std::min<int64_t>(ready->units(), begin + 1 + static_cast<int64_t>(random() % 9));
      ready->run(in, out, std::exchange(begin, end), end);
    }
    EXPECT_EQ(got, wanted) << layout;
  }
}

TEST_P(OpenBlasTest, multiplies_every_layout_in_pieces) {
  LibraryProduct narrow;
  narrow.rows = narrow.columns = narrow.result = blas_matrix(bf16, 0, 0, 0, 4, true);
  EXPECT_EQ(library_->prepare(narrow, {}).diag().str(), "[cpu] OpenBLAS does not multiply bf16 by bf16 to bf16");
  expect_products<float>(*library_, f32);
  expect_products<double>(*library_, f64);
}

// Bodies of contract kernels that the library takes, as programs.
struct Bodies {
  std::vector<std::shared_ptr<const Graph>> graphs;
  std::vector<std::vector<DimValues>> dims;
  size_t refused = 0;

  explicit Bodies(const Target& target) {
    using namespace lumen::testing;
    const AddContract add = [&](const Graph& graph, const std::vector<DimValues>& values) {
      const std::shared_ptr<const Graph> body = clone(graph);
      const std::vector<std::string> schedules = kernel_schedules(*body, target).value();
      const bool taken = std::ranges::find(schedules, "library") != schedules.end();
      refused += taken ? 0 : 1;
      if (!taken) return;
      graphs.push_back(body);
      dims.push_back(values);
    };
    add_layouts(add);
    add_sizes(add);
    add_dtypes(add);
    add_surrounded(add);
    add_several(add);
    add_windows(add);
    Graph large;  // enough for several threads
    const Expr rows = large.dim("rows", 1, 4096);
    product(large.input("a0", {3, rows, 64}), "bmk", large.input("a1", {300, 64}), "nk", "bmn").output("r0");
    add(large, {{{"rows", 1}}, {{"rows", 200}}});
  }
};

TEST_P(OpenBlasTest, computes_bodies_of_kernels) {
  const CpuDevice device = this->device(3);
  const Bodies bodies(device.target());
  EXPECT_GE(bodies.graphs.size(), 20u);
  EXPECT_GE(bodies.refused, 10u);
  std::vector<Program> programs;
  for (const std::shared_ptr<const Graph>& body : bodies.graphs) {
    programs.push_back(search::alone(search::make_kernel(body, "library", device.target()).value()).value());
  }
  std::vector<Binary> binaries = device.build(std::move(programs)).value();
  for (size_t k = 0; k < binaries.size(); ++k) {
    const std::unique_ptr<Executable> wanted = reference_executable(expand(*bodies.graphs[k]));
    const std::unique_ptr<Executable> got = device.load(std::move(binaries[k])).value();
    for (const DimValues& dims : bodies.dims[k]) {
      const Expected<void> same = search::compare_executables(*bodies.graphs[k], dims, *wanted, *got);
      EXPECT_TRUE(same.ok()) << same.diag().str() << print(*bodies.graphs[k]);
    }
  }
}

TEST_P(OpenBlasTest, is_what_a_program_file_needs) {
  const CpuDevice device = this->device(1);
  Graph graph;
  lumen::testing::product(graph.input("a0", {5, 6}), "mk", graph.input("a1", {6, 7}), "kn", "mn").output("r0");
  const std::shared_ptr<const Graph> body = clone(graph);
  Program program = search::alone(search::make_kernel(body, "library", device.target()).value()).value();
  const Variant variant{{}, device.build({std::move(program)}).value()[0]};
  const std::string text = program_text(*body, std::span(&variant, 1), device);
  const Binary loaded = parse_program(text, "a.lumen").value().variants[0].binary;
  const auto without = make_executable(loaded, shared_pool(), nullptr);
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.diag().str(),
            "[cpu] the program multiplies matrices by OpenBLAS, which is not found here: install it, name it by "
            "LUMEN_BLAS, or compile the program again");
  const std::unique_ptr<Executable> got = make_executable(loaded, shared_pool(), library_).value();
  const std::unique_ptr<Executable> wanted = reference_executable(expand(*body));
  EXPECT_TRUE(search::compare_executables(*body, {}, *wanted, *got).ok());
}

}  // namespace
}  // namespace lumen::cpu
