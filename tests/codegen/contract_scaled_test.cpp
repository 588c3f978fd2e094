// Products with few rows whose columns are quantised blocks: scales times small integers.
#include <gtest/gtest.h>

#include "lumen/codegen/contract.h"
#include "tests/codegen/contract_graphs.h"

namespace lumen {
namespace {

using namespace lumen::testing;

Target vectors() {
  Target target;
  target.vector_bytes = 64;
  return target;
}

// x [rows, depth] times blocks of 40 columns.
std::shared_ptr<Graph> block_product(BlockType type, DType dtype, int64_t rows, int64_t depth = 128) {
  auto graph = std::make_shared<Graph>();
  const Tensor x = cast(graph->input("a0", {rows, depth}, dtype), f32);
  const Tensor w = graph->input("a1", {40, depth / info(type).elements * info(type).bytes}, u8);
  product(x, "mk", cast(dequantise(w, type, dtype), f32), "nk", "mn").output("r0");
  return graph;
}

// Bytes of any value, in which the halves that begin blocks are scales of about 1.
HostTensor random_blocks(TensorType type, BlockType blocks, std::mt19937_64& random) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate({}).value());
  const auto size = static_cast<size_t>(info(blocks).bytes);
  for (size_t k = 0; k < tensor.lanes.size(); ++k) {
    tensor.lanes[k].i = static_cast<int64_t>(random() % 256);
    if (k % size == 1) tensor.lanes[k].i = 0x38 + static_cast<int64_t>(random() % 8);
  }
  return tensor;
}

HostTensor random_rows(TensorType type, std::mt19937_64& random) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate({}).value());
  for (Lane& lane : tensor.lanes) {
    lane = Scalar::of(type.dtype, static_cast<double>(random() % 2001) / 500 - 2).value;
  }
  return tensor;
}

struct Given {
  std::shared_ptr<Graph> body;
  KernelText kernel;
  std::vector<HostTensor> inputs;
};

Given given_product(BlockType type, DType dtype, int64_t rows, std::mt19937_64& random, const std::string& name = "k") {
  const std::shared_ptr<Graph> body = block_product(type, dtype, rows);
  const ContractSchedule schedule = contract_schedules(*body, vectors())[0];
  EXPECT_EQ(schedule.blocks, dtype == f32 ? 1 : 2) << schedule.str();
  Given given{body, print_contract(*body, name, schedule, vectors()).value(), {}};
  given.inputs.push_back(random_rows((*body)[body->inputs()[0]].type, random));
  given.inputs.push_back(random_blocks((*body)[body->inputs()[1]].type, type, random));
  return given;
}

// The same by a schedule.
Given given_product_by(const std::string& schedule, DType dtype, int64_t rows, int64_t depth, std::mt19937_64& random,
                       const std::string& name = "k") {
  const std::shared_ptr<Graph> body = block_product(BlockType::q4_0, dtype, rows, depth);
  Given given{body, print_contract(*body, name, ContractSchedule::parse(schedule).value(), vectors()).value(), {}};
  given.inputs.push_back(random_rows((*body)[body->inputs()[0]].type, random));
  given.inputs.push_back(random_blocks((*body)[body->inputs()[1]].type, BlockType::q4_0, random));
  return given;
}

std::vector<Lane> run_in(const CompiledText& compiled, const Given& given, std::mt19937_64& random) {
  const auto [got, fault] = testing::run({given.body, given.inputs, {}, given.kernel, ""}, compiled, random);
  EXPECT_EQ(fault, 0);
  return got[0].lanes;
}

// Each processor has words of its own.
const char* const kProcessors[] = {"-O3 " LUMEN_NATIVE " -ffp-contract=fast", "-O2 " LUMEN_OLDER, "-O1"};

void expect_near(const CompiledText& compiled, const Given& given, std::mt19937_64& random) {
  std::vector<const HostTensor*> in;
  for (const HostTensor& input : given.inputs) in.push_back(&input);
  const std::vector<Lane> wanted = interpret(*expand(*given.body), in, {}).value()[0].lanes;
  const std::vector<Lane> got = run_in(compiled, given, random);
  // The reference rounds weights to the dtype, and the kernel does not.
  const DType dtype = given.inputs[0].dtype;
  const double near = (dtype == bf16 ? 4e-3 : dtype == f16 ? 5e-4 : 2e-6) * largest(wanted);
  for (size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k].f, wanted[k].f, near) << name(dtype) << " " << k;
}

TEST(ContractScaled, multiplies_blocks) {
  std::mt19937_64 random(std::random_device{}());
  std::vector<Given> all;
  std::vector<KernelText> kernels;
  for (const BlockType type : {BlockType::q8_0, BlockType::q4_0}) {
    for (const DType dtype : {f32, bf16, f16}) {
      for (const int64_t rows : {1, 3, 11}) {
        all.push_back(given_product(type, dtype, rows, random, "k" + std::to_string(all.size())));
        kernels.push_back(all.back().kernel);
      }
    }
  }
  for (const char* const flags : kProcessors) {
    const CompiledText compiled = testing::compile(kernels, flags);
    for (const Given& given : all) expect_near(compiled, given, random);
  }
}

// Integers that share an exponent: exact where all of a block are about as large, a little off where one is not.
TEST(ContractScaled, rounds_to_a_part_of_the_largest_in_a_block) {
  std::mt19937_64 random(1);
  Given given = given_product(BlockType::q8_0, bf16, 1, random);
  for (size_t k = 0; k < 128; ++k) given.inputs[0].lanes[k].f = k < 32 ? 0 : 1.0 / 64;
  given.inputs[0].lanes[0].f = 4096;
  std::vector<double> exact(40, 0);
  for (size_t column = 0; column < 40; ++column) {
    for (size_t k = 0; k < 128; ++k) {
      const size_t block = (column * 4 + k / 32) * 34;
      given.inputs[1].lanes[block].i = 0;
      given.inputs[1].lanes[block + 1].i = 0x3c;  // 1
      const auto q = static_cast<int8_t>(given.inputs[1].lanes[block + 2 + k % 32].i);
      exact[column] += q * given.inputs[0].lanes[k].f;
    }
  }
  for (const char* const flags : kProcessors) {
    const std::vector<Lane> got = run_in(testing::compile({given.kernel}, flags), given, random);
    for (size_t column = 0; column < 40; ++column) {
      ASSERT_FLOAT_EQ(static_cast<float>(got[column].f), static_cast<float>(exact[column])) << flags << " " << column;
    }
  }
  given.inputs[0].lanes[1].f = 1.0 / 64;  // less than half of 4096 / 2^15
  const std::vector<Lane> got = run_in(testing::compile({given.kernel}), given, random);
  for (size_t column = 0; column < 40; ++column) ASSERT_NEAR(got[column].f, exact[column], 128 * 4096.0 / (1 << 16));
}

TEST(ContractScaled, a_row_that_is_not_finite_gives_nan) {
  std::mt19937_64 random(1);
  Given given = given_product(BlockType::q4_0, bf16, 1, random);
  given.inputs[0].lanes[77].f = std::numeric_limits<double>::quiet_NaN();
  const CompiledText compiled = testing::compile({given.kernel});
  for (const Lane& lane : run_in(compiled, given, random)) ASSERT_TRUE(std::isnan(lane.f));
  given.inputs[0].lanes[77].f = -std::numeric_limits<double>::infinity();
  for (const Lane& lane : run_in(compiled, given, random)) ASSERT_TRUE(std::isnan(lane.f));
}

// Numbers of blocks: even, odd, more than eight, whose scales are widened together, and than those of 64, which are
// kept. Rows and columns in groups and alone.
TEST(ContractScaled, multiplies_nibbles) {
  std::mt19937_64 random(std::random_device{}());
  std::vector<Given> all;
  std::vector<KernelText> kernels;
  for (const int64_t depth : {64, 96, 352, 2080}) {
    for (const char* const groups : {"mr=1 nr=4 nc=32", "mr=1 nr=1 nc=32", "mr=3 nr=2 nc=7"}) {
      for (const DType dtype : {bf16, f16}) {
        const std::string schedule = fmt::format("dot {} wide=1 blocks=2", groups);
        all.push_back(given_product_by(schedule, dtype, 7, depth, random, "k" + std::to_string(all.size())));
        ASSERT_NE(all.back().kernel.text.find("_nibbles("), std::string::npos) << all.back().kernel.text;
        kernels.push_back(all.back().kernel);
      }
    }
  }
  for (const char* const flags : kProcessors) {
    const CompiledText compiled = testing::compile(kernels, flags);
    for (const Given& given : all) expect_near(compiled, given, random);
  }
}

TEST(ContractScaled, multiplies_nibbles_of_every_magnitude) {
  std::mt19937_64 random(std::random_device{}());
  Given given = given_product_by("dot mr=1 nr=4 nc=32 wide=1 blocks=2", bf16, 1, 2080, random);
  const std::vector<Lane> rows = given.inputs[0].lanes;
  for (const char* const flags : kProcessors) {
    const CompiledText compiled = testing::compile({given.kernel}, flags);
    for (const int exponent : {-100, -30, 30, 110}) {
      for (size_t k = 0; k < rows.size(); ++k) {
        given.inputs[0].lanes[k].f = std::ldexp(rows[k].f, exponent);
        if (k / 32 % 5 == 3) given.inputs[0].lanes[k].f = 0;
      }
      expect_near(compiled, given, random);
    }
  }
}

// As many ones as a row's type has, so that nothing is left for the last bit of a byte to hold.
TEST(ContractScaled, multiplies_nibbles_exactly_at_the_ends_of_bytes) {
  std::mt19937_64 random(1);
  for (const auto& [dtype, most] : {std::pair(bf16, 255.0 / 128), std::pair(f16, 2047.0 / 1024)}) {
    Given given = given_product_by("dot mr=1 nr=4 nc=32 wide=1 blocks=2", dtype, 1, 96, random);
    for (Lane& lane : given.inputs[0].lanes) lane.f = most * (random() % 4 < 2 ? -1 : random() % 2 == 0 ? 1 : 0.5);
    for (size_t k = 0; k < 96 / 2; ++k) given.inputs[0].lanes[k].f = most;
    std::vector<double> exact(40, 0);
    for (size_t column = 0; column < 40; ++column) {
      for (size_t k = 0; k < 96; ++k) {
        const size_t block = (column * 3 + k / 32) * 18;
        given.inputs[1].lanes[block].i = 0;
        given.inputs[1].lanes[block + 1].i = 0x3c;  // 1
        HostTensor& bytes = given.inputs[1];
        if (column == 0) bytes.lanes[block + 2 + k % 16].i = 0xff;
        if (column == 1) bytes.lanes[block + 2 + k % 16].i = 0;
        const int64_t byte = bytes.lanes[block + 2 + k % 16].i;
        exact[column] += static_cast<double>((k % 32 < 16 ? byte & 15 : byte >> 4) - 8) * given.inputs[0].lanes[k].f;
      }
    }
    for (const char* const flags : kProcessors) {
      const std::vector<Lane> got = run_in(testing::compile({given.kernel}, flags), given, random);
      for (size_t column = 0; column < 40; ++column) {
        ASSERT_EQ(got[column].f, exact[column]) << flags << " " << name(dtype) << " " << column;
      }
    }
  }
}

// Two sides share their rows, and so the form these have.
TEST(ContractScaled, multiplies_nibbles_of_two_sides_where_both_are) {
  std::mt19937_64 random(std::random_device{}());
  for (const BlockType second : {BlockType::q4_0, BlockType::q8_0}) {
    const auto body = std::make_shared<Graph>();
    const Tensor x = cast(body->input("a0", {2, 96}, bf16), f32);
    const Tensor gate = body->input("a1", {40, 3 * 18}, u8);
    const Tensor up = body->input("a2", {40, 3 * info(second).bytes}, u8);
    const Tensor left = product(x, "mk", cast(dequantise(gate, BlockType::q4_0, bf16), f32), "nk", "mn");
    const Tensor right = product(x, "mk", cast(dequantise(up, second, bf16), f32), "nk", "mn");
    (left * right).output("r0");
    const auto schedule = ContractSchedule::parse("dot mr=2 nr=4 nc=32 wide=1 blocks=2").value();
    Given given{body, print_contract(*body, "k", schedule, vectors()).value(), {}};
    EXPECT_EQ(given.kernel.text.find("_nibbles(") != std::string::npos, second == BlockType::q4_0);
    given.inputs.push_back(random_rows((*body)[body->inputs()[0]].type, random));
    given.inputs.push_back(random_blocks((*body)[body->inputs()[1]].type, BlockType::q4_0, random));
    given.inputs.push_back(random_blocks((*body)[body->inputs()[2]].type, second, random));
    for (const char* const flags : kProcessors) expect_near(testing::compile({given.kernel}, flags), given, random);
  }
}

// What follows in memory, by a page: with blocks that are summed before they are scaled, and with others.
TEST(ContractScaled, fetches_blocks_ahead) {
  for (const BlockType type : {BlockType::q8_0, BlockType::q4_0, BlockType::q4_1, BlockType::mxfp4}) {
    const std::shared_ptr<Graph> body = block_product(type, f32, 1);
    const ContractSchedule schedule = contract_schedules(*body, vectors())[0];
    const std::string text = print_contract(*body, "k", schedule, vectors()).value().text;
    EXPECT_NE(text.find(" / 8 + 4096);"), std::string::npos) << schedule.str() << "\n" << text;
  }
}

TEST(ContractScaled, says_what_it_cannot_do) {
  const auto refused = [](BlockType type, DType dtype, const char* schedule) {
    const std::shared_ptr<Graph> body = block_product(type, dtype, 1);
    const auto text = print_contract(*body, "k", ContractSchedule::parse(schedule).value(), vectors());
    return text.ok() ? std::string("printed") : text.diag().message;
  };
  EXPECT_EQ(refused(BlockType::q8_0, f32, "dot mr=1 nr=4 nc=32 blocks=2"),
            "the schedule \"dot mr=1 nr=4 nc=32 blocks=2\" wants columns that are scaled integers, and rows that are "
            "bf16 or f16");
  EXPECT_EQ(refused(BlockType::mxfp4, f32, "dot mr=1 nr=4 nc=32 blocks=1"),
            "the schedule \"dot mr=1 nr=4 nc=32 blocks=1\" wants columns that are scaled integers");
  EXPECT_EQ(refused(BlockType::q8_0, bf16, "dot mr=1 nr=4 nc=32 blocks=1"),  // rounded to bf16
            "the schedule \"dot mr=1 nr=4 nc=32 blocks=1\" wants columns that are scaled integers");
  EXPECT_EQ(refused(BlockType::q8_0, bf16, "dot mr=1 nr=4 nc=32 wide=1 blocks=2"), "printed");
}

}  // namespace
}  // namespace lumen
