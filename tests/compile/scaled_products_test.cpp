// Products of floats of 8 bits and their scales as cuBLASLt gives them on a GPU, against the reference. Skipped where
// there is none that can.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lumen/backend/cuda/cuda_device.h"
#include "lumen/backend/reference/interpreter.h"
#include "lumen/frontend/ops.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/tune.h"

namespace lumen {
namespace {

constexpr int kFirstBytes = 89;  // the compute capability that multiplies floats of 8 bits

struct Scaled {
  const char* about;
  std::vector<Shape> scales;
  double constant = 1;
  size_t steps = 1;  // of the kernel
};

std::shared_ptr<const Graph> scaled_product(const Scaled& how, int64_t rows, DType left, DType right, DType result) {
  Graph graph;
  const Tensor x = cast(graph.input("x", {rows, 256}, left), f32), w = cast(graph.input("w", {48, 256}, right), f32);
  Tensor y = matmul(x, transpose(w)) * how.constant;
  for (const Shape& scale : how.scales) y = y * graph.input(fmt::format("scale{}", graph.inputs().size()), scale);
  cast(y, result).output("y");
  return rewrite(graph).value().candidates[0].graph;
}

// Small integers, whose products and sums are exact, and scales.
HostTensor drawn(const TensorType& type, std::mt19937_64& random) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate({}).value());
  for (Lane& lane : tensor.lanes) {
    const auto number = static_cast<double>(random() % 9);
    lane = Scalar::of(type.dtype, type.dtype == f32 ? 0.1 + number / 7 : number - 4).value;
  }
  return tensor;
}

std::vector<std::byte> stored(const HostTensor& tensor) {
  std::vector<std::byte> bytes(static_cast<size_t>(storage_bytes(tensor.dtype, tensor.numel())));
  pack(tensor.dtype, tensor.lanes, bytes);
  return bytes;
}

// Twice, with other numbers: the second time from where the first was captured.
void expect_right(const Graph& graph, Executable& executable, const std::string& about) {
  std::mt19937_64 random(7);
  ASSERT_TRUE(executable.prepare({}).ok());
  for (int time = 0; time < 2; ++time) {
    std::vector<HostTensor> inputs;
    for (const NodeId id : graph.inputs()) inputs.push_back(drawn(graph[id].type, random));
    std::vector<const HostTensor*> given;
    std::vector<std::vector<std::byte>> kept;
    std::vector<const void*> in;
    std::vector<int64_t> in_bytes;
    for (const HostTensor& input : inputs) {
      given.push_back(&input);
      kept.push_back(stored(input));
      in.push_back(kept.back().data());
      in_bytes.push_back(std::ssize(kept.back()));
    }
    const HostTensor wanted = interpret(*expand(graph), given, {}).value()[0];
    HostTensor got = HostTensor::poisoned(wanted.dtype, wanted.dims);
    std::vector<std::byte> made = stored(got);
    void* const out[] = {made.data()};
    const int64_t out_bytes[] = {std::ssize(made)};
    const Expected<void> ran = run_from_host(executable, in, in_bytes, out, out_bytes);
    ASSERT_TRUE(ran.ok()) << about << ": " << ran.diag().str();
    unpack(got.dtype, made, got.lanes);
    const double unit = std::ldexp(1.0, -info(wanted.dtype).mantissa_bits);
    for (size_t k = 0; k < wanted.lanes.size(); ++k) {
      const double right = wanted.lanes[k].f, found = got.lanes[k].f;
      ASSERT_LE(std::abs(found - right), 4 * unit * std::abs(right))
          << about << ": element " << k << " is " << found << ", not " << right;
    }
  }
}

TEST(ScaledProducts, are_those_of_the_reference_on_a_gpu) {
  const auto opened = cuda::CudaDevice::open(0);
  if (!opened.ok()) GTEST_SKIP() << opened.diag().str();
  const cuda::CudaDevice& device = **opened;
  const Target& target = device.target();
  if (!target.library) GTEST_SKIP() << "no cuBLASLt";
  if (target.sm < kFirstBytes) GTEST_SKIP() << "a GPU of compute capability " << target.sm;
  const Scaled cases[] = {{"nothing", {}},
                          {"one", {{1}}},
                          {"two", {{1}, {}}},
                          {"a constant", {}, 0.3},
                          {"two and a constant", {{1}, {1}}, 0.3},
                          {"those of rows are left to a step behind", {{1}, {37, 1}}, 1, 2}};
  for (const Scaled& how : cases) {
    for (const auto& [left, right] : {std::pair{f8e4m3, f8e4m3}, {f8e4m3, f8e5m2}, {f8e5m2, f8e4m3}}) {
      for (const DType result : {f32, bf16, f16}) {
        const std::shared_ptr<const Graph> body = scaled_product(how, 37, left, right, result);
        for (const char* const schedule : {"library", "library algorithm=1"}) {
          const std::string about =
              fmt::format("{}, {} by {} to {}, {}", how.about, name(left), name(right), name(result), schedule);
          const ProgramKernel kernel = search::make_kernel(body, schedule, target).value();
          EXPECT_EQ(kernel.text.steps.size(), how.steps) << about;
          std::vector<Program> programs;
          programs.push_back(search::alone(kernel).value());
          const auto executable = device.load(std::move(device.build(std::move(programs)).value()[0]));
          ASSERT_TRUE(executable.ok()) << about << ": " << executable.diag().str();
          ASSERT_NO_FATAL_FAILURE(expect_right(*body, **executable, about));
        }
      }
    }
  }
}

}  // namespace
}  // namespace lumen
