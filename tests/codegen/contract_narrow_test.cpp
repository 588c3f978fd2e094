// Products with few rows whose columns are bf16 or f16, read as vectors.
#include <gtest/gtest.h>

#include "lumen/codegen/contract.h"
#include "tests/codegen/contract_graphs.h"

namespace lumen {
namespace {

using namespace lumen::testing;

struct NarrowCase {
  std::shared_ptr<Graph> body;
  KernelText kernel;
  std::vector<HostTensor> inputs;
};

// x [rows, depth] times one or two sides of 37 columns, which are rounded to another half first when one is given.
NarrowCase narrow_case(DType dtype, int64_t rows, int64_t depth, int sides, std::mt19937_64& random,
                       const std::string& name, std::optional<DType> rounded = std::nullopt) {
  NarrowCase made{std::make_shared<Graph>(), {}, {}};
  const Tensor x = made.body->input("a0", {rows, depth}, f32);
  const auto side = [&](const std::string& input) {
    const Tensor w = made.body->input(input, {37, depth}, dtype);
    return product(x, "mk", cast(rounded ? cast(w, *rounded) : w, f32), "nk", "mn");
  };
  Tensor result = side("a1");
  if (sides == 2) result = result * side("a2");
  result.output("r0");
  Target target;
  target.vector_bytes = 64;
  ContractSchedule schedule;
  schedule.method = ContractMethod::dot;
  schedule.mr = rows == 1 ? 1 : 2;
  schedule.nr = 4;
  schedule.nc = 32;
  schedule.wide = rounded ? 1 : 0;
  made.kernel = print_contract(*made.body, name, schedule, target).value();
  for (const NodeId input : made.body->inputs()) {
    const TensorType type = (*made.body)[input].type;
    HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate({}).value());
    for (Lane& lane : tensor.lanes) {
      lane = Scalar::of(type.dtype, static_cast<double>(random() % 2001) / 500 - 2).value;
    }
    made.inputs.push_back(std::move(tensor));
  }
  return made;
}

TEST(ContractNarrow, multiplies_halves) {
  std::mt19937_64 random(std::random_device{}());
  std::vector<NarrowCase> all;
  std::vector<KernelText> kernels;
  for (const DType dtype : {bf16, f16}) {
    for (const int64_t rows : {1, 3}) {
      for (const int64_t depth : {1, 15, 16, 64, 83}) {
        for (const int sides : {1, 2}) {
          all.push_back(narrow_case(dtype, rows, depth, sides, random, "k" + std::to_string(all.size())));
          kernels.push_back(all.back().kernel);
          const bool reads_vectors = kernels.back().text.find("_floats(") != std::string::npos;
          EXPECT_TRUE(reads_vectors || depth == 1) << name(dtype) << " " << depth;
        }
      }
    }
  }
  for (const char* const flags : {"-O3 " LUMEN_NATIVE " -ffp-contract=fast", "-O2 " LUMEN_OLDER, "-O1"}) {
    const CompiledText compiled = testing::compile(kernels, flags);
    for (const NarrowCase& each : all) {
      std::vector<const HostTensor*> in;
      for (const HostTensor& tensor : each.inputs) in.push_back(&tensor);
      const std::vector<Lane> wanted = interpret(*expand(*each.body), in, {}).value()[0].lanes;
      const auto [got, fault] = testing::run({each.body, each.inputs, {}, each.kernel, ""}, compiled, random);
      ASSERT_EQ(fault, 0);
      for (size_t k = 0; k < wanted.size(); ++k) {
        ASSERT_NEAR(got[0].lanes[k].f, wanted[k].f, 2e-6 * largest(wanted)) << flags << " " << each.kernel.text;
      }
    }
  }
}

// As f16 weights of a model in bf16 are: read as they are stored.
TEST(ContractNarrow, halves_need_not_be_rounded_to_other_halves) {
  std::mt19937_64 random(std::random_device{}());
  const uint64_t seed = random();
  for (const auto& [stored, rounded] : {std::pair(f16, bf16), std::pair(bf16, f16)}) {
    std::mt19937_64 one(seed), other(seed);
    const NarrowCase each = narrow_case(stored, 3, 83, 2, one, "k", rounded);
    const NarrowCase exact = narrow_case(stored, 3, 83, 2, other, "k");
    EXPECT_EQ(each.kernel.text, exact.kernel.text);
    const auto [got, fault] =
        testing::run({each.body, each.inputs, {}, each.kernel, ""}, testing::compile({each.kernel}, "-O2"), random);
    ASSERT_EQ(fault, 0);
    std::vector<const HostTensor*> in;
    for (const HostTensor& tensor : exact.inputs) in.push_back(&tensor);
    const std::vector<Lane> wanted = interpret(*expand(*exact.body), in, {}).value()[0].lanes;
    for (size_t k = 0; k < wanted.size(); ++k) ASSERT_NEAR(got[0].lanes[k].f, wanted[k].f, 2e-6 * largest(wanted));
  }
}

// Exactly: zeros, the smallest and the largest.
TEST(ContractNarrow, reads_small_and_large_halves) {
  std::mt19937_64 random(1);
  for (const DType dtype : {bf16, f16}) {
    NarrowCase each = narrow_case(dtype, 1, 16, 1, random, "k");
    for (const char* const flags : {"-O3 " LUMEN_NATIVE, "-O2 " LUMEN_OLDER, "-O1"}) {
      const CompiledText compiled = testing::compile({each.kernel}, flags);
      for (const double value : {0.0, -0.0, 0x1p-24, 0x1.8p-20, -0x1p-14, 65504.0, -65504.0}) {
        for (Lane& lane : each.inputs[0].lanes) lane.f = 0;
        each.inputs[0].lanes[5].f = 1;
        for (size_t column = 0; column < 37; ++column) {
          each.inputs[1].lanes[column * 16 + 5] = Scalar::of(dtype, value).value;
        }
        const auto [got, fault] = testing::run({each.body, each.inputs, {}, each.kernel, ""}, compiled, random);
        ASSERT_EQ(fault, 0);
        for (const Lane& lane : got[0].lanes) {
          ASSERT_EQ(lane.f, Scalar::of(dtype, value).value.f) << name(dtype) << " " << value << " " << flags;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lumen
