// Floats of 32 bits that a matrix unit multiplies in pieces of bf16: as exact as floats, whatever the numbers are.
#include <gtest/gtest.h>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/target.h"
#include "lumen/codegen/contract.h"
#include "tests/codegen/contract_graphs.h"

namespace lumen {
namespace {

using namespace lumen::testing;

Target target_in_pieces() {
  Target target;
  target.vector_bytes = 64;
  target.vector_registers = 32;
  target.avx512 = target.amx_bf16 = true;
  return target;
}

bool is_here() { return cpu::cpu().amx_bf16 && cpu::cpu().avx512; }

// Floats with all their bits, of either sign, between 2^-8 and 2^8.
Lane some_float(DType dtype, std::mt19937_64& random) {
  const double size =
      std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 16) - 8);
  return Scalar::of(dtype, (random() & 1) != 0 ? size : -size).value;
}

using Change = std::function<void(std::vector<HostTensor>&)>;

// Runs a body by each schedule on floats, some of which are changed.
void expect_floats(const Graph& graph, const std::vector<std::string>& schedules, const DimValues& dims = {},
                   const Change& change = {}) {
  const std::shared_ptr<const Graph> body = clone(graph);
  std::mt19937_64 random(std::random_device{}());
  std::vector<HostTensor> inputs;
  for (const NodeId id : body->inputs()) {
    const TensorType type = (*body)[id].type;
    HostTensor& tensor = inputs.emplace_back(HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value()));
    for (Lane& lane : tensor.lanes) lane = is_float(type.dtype) ? some_float(type.dtype, random) : Lane{.i = 1};
  }
  if (change) change(inputs);
  std::vector<KernelText> kernels;
  for (const std::string& schedule : schedules) {
    const auto kernel = print_contract(*body, "k" + std::to_string(kernels.size()),
                                       ContractSchedule::parse(schedule).value(), target_in_pieces());
    ASSERT_TRUE(kernel.ok()) << kernel.diag().str();
    kernels.push_back(*kernel);
  }
  const CompiledText compiled = compile(kernels, "-O1 " LUMEN_NATIVE);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const Case given{body, inputs, dims, kernels[k], schedules[k]};
    const std::vector<HostTensor> wanted = wanted_of(given).value();
    const auto [got, fault] = testing::run(given, compiled, random);
    ASSERT_EQ(fault, 0);
    for (size_t out = 0; out < wanted.size(); ++out) {
      double most = 0;  // of numbers, which others may stand beside
      for (const Lane& lane : wanted[out].lanes) {
        if (std::isfinite(lane.f)) most = std::max(most, std::fabs(lane.f));
      }
      expect_same(got[out], wanted[out], 4, given, most);
    }
  }
}

Graph& multiply(Graph& graph, DType rows, DType columns, int64_t m, int64_t n, int64_t k, bool along) {
  const Tensor x = cast(graph.input("a0", {m, k}, rows), f32);
  const Tensor y = cast(graph.input("a1", along ? Shape{n, k} : Shape{k, n}, columns), f32);
  product(x, "mk", y, along ? "nk" : "kn", "mn").output("r0");
  return graph;
}

void expect_product(DType rows, DType columns, int64_t m, int64_t n, int64_t k, bool along,
                    const std::vector<std::string>& schedules, const Change& change = {}) {
  Graph graph;
  expect_floats(multiply(graph, rows, columns, m, n, k, along), schedules, {}, change);
}

const std::vector<std::string> kSchedules{
    "amx mr=32 nr=32 kc=96 kr=32 mc=64 nc=64", "amx mr=32 nr=32 kc=320 kr=160 mc=128 nc=64 own=1",
    "amx mr=16 nr=48 kc=64 mc=16 nc=48", "amx mr=16 nr=16 kc=320 mc=64 nc=32 own=1"};

TEST(ContractPieces, are_as_exact_as_floats) {
  if (!is_here()) GTEST_SKIP() << "no matrix unit for bf16";
  for (const bool along : {false, true}) {
    for (const int64_t k : {1, 2, 31, 33, 300}) expect_product(f32, f32, 70, 75, k, along, kSchedules);
    for (const auto& [rows, columns] :
         {std::pair(f32, bf16), {bf16, f32}, {f16, f32}, {f32, f16}, {f16, f16}, {bf16, f16}}) {
      expect_product(rows, columns, 40, 50, 100, along, kSchedules);
    }
  }
  expect_product(f32, f32, 1, 1, 0, true, kSchedules);
}

TEST(ContractPieces, read_the_side_that_is_bf16_where_it_lies) {
  if (!is_here()) GTEST_SKIP() << "no matrix unit for bf16";
  expect_product(bf16, f32, 70, 75, 96, true, {"amx mr=32 nr=32 kc=96 kr=32 mc=64 nc=64 direct=1"});
}

TEST(ContractPieces, are_computed_before_and_after) {
  if (!is_here()) GTEST_SKIP() << "no matrix unit for bf16";
  Graph graph;
  const Expr m = graph.dim("m", 0, 100), k = graph.dim("k", 0, 400);
  const Tensor x = graph.input("a0", {m, k}), scale = graph.input("a1", {k});
  const Tensor up = product(x * scale, "mk", graph.input("a2", {50, k}), "nk", "mn");
  const Tensor gate = product(x * scale, "mk", graph.input("a3", {50, k}), "nk", "mn");
  (maximum(gate, 0.0) * up).output("r0");
  cast(up + gate, bf16).output("r1");
  for (const int64_t rows : {0, 1, 100}) expect_floats(graph, kSchedules, {{"m", rows}, {"k", 130}});
  expect_floats(graph, kSchedules, {{"m", 33}, {"k", 0}});
  Graph batched;
  product(batched.input("a0", {3, 20, 70}), "bmk", batched.input("a1", {3, 70, 40}), "bkn", "bnm").output("r0");
  expect_floats(batched, kSchedules);
}

TEST(ContractPieces, are_of_windows) {
  if (!is_here()) GTEST_SKIP() << "no matrix unit for bf16";
  const AddContract add = [](const Graph& graph, const std::vector<DimValues>&) { expect_floats(graph, kSchedules); };
  for (const int64_t channels : {1, 3, 8}) add_windows(add, f32, f32, channels);
}

// What no sum of pieces says: infinities, NaN of any bits, numbers that round to infinity; only results that depend on
// them do so, and as sums of floats do. Numbers whose smaller pieces are too small for a bf16 are as good as 0 to them.
TEST(ContractPieces, are_right_for_what_is_no_sum_of_pieces) {
  if (!is_here()) GTEST_SKIP() << "no matrix unit for bf16";
  const float largest = std::numeric_limits<float>::max(), infinity = std::numeric_limits<float>::infinity();
  const float odd[] = {largest,     -largest, infinity,         -infinity, std::nanf(""),
                       0x1.ffp127f, 1e-40f,   0x1.234567p-120f, 0.0f};
  for (const bool along : {false, true}) {
    const Change change = [&](std::vector<HostTensor>& inputs) {
      int64_t place = 0;
      for (const float value : odd) {
        for (HostTensor& input : inputs) {
          input.lanes[static_cast<size_t>(place += 397) % input.lanes.size()].f = static_cast<double>(value);
        }
      }
    };
    expect_product(f32, f32, 70, 75, 100, along, kSchedules, change);
    // Where all sums are small the largest floats are multiplied as such.
    expect_product(f32, f32, 33, 33, 40, along, kSchedules, [&](std::vector<HostTensor>& inputs) {
      for (Lane& lane : inputs[0].lanes) lane.f = std::ldexp(lane.f, -60);
      inputs[1].lanes[5].f = static_cast<double>(largest);
      inputs[1].lanes[6].f = static_cast<double>(infinity);
    });
  }
}

// What the matrix unit takes for 0: numbers, products and sums below the smallest normal float.
TEST(ContractPieces, are_right_for_what_is_too_small) {
  if (!is_here()) GTEST_SKIP() << "no matrix unit for bf16";
  for (const auto& [rows, columns] : {std::pair(-70, -70), {-130, 0}, {0, -130}, {-100, 90}, {-60, -60}, {-40, -40}}) {
    expect_product(f32, f32, 33, 40, 70, true, kSchedules, [&](std::vector<HostTensor>& inputs) {
      for (Lane& lane : inputs[0].lanes) lane = Scalar::of(f32, std::ldexp(lane.f, rows)).value;
      for (Lane& lane : inputs[1].lanes) lane = Scalar::of(f32, std::ldexp(lane.f, columns)).value;
      for (size_t k = 0; k < 70; ++k) inputs[0].lanes[70 * 5 + k].f = inputs[1].lanes[70 * 7 + k].f = 0;
    });
  }
}

TEST(ContractPieces, compete_with_vectors) {
  Graph graph;
  multiply(graph, f32, f32, 256, 256, 256, true);
  const std::vector<ContractSchedule> schedules = contract_schedules(graph, target_in_pieces());
  const auto has = [&](ContractMethod method) {
    return std::ranges::any_of(schedules, [&](const ContractSchedule& s) { return s.method == method; });
  };
  EXPECT_TRUE(has(ContractMethod::amx) && has(ContractMethod::gemm));
  Graph doubles;
  product(doubles.input("a0", {64, 64}, f64), "mk", doubles.input("a1", {64, 64}, f64), "nk", "mn").output("r0");
  const auto refused = print_contract(doubles, "k", ContractSchedule::parse(kSchedules[0]).value(), target_in_pieces());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.diag().message.substr(0, 35), "no matrix unit multiplies f64 for \"");
}

}  // namespace
}  // namespace lumen
