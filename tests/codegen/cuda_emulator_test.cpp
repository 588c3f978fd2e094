// The emulator itself: it finds what a GPU would leave to chance.
#include "tests/codegen/cuda_emulator.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "lumen/frontend/ops.h"

namespace lumen {
namespace {

using namespace lumen::testing;

// A kernel of one block of 64 threads over x, f32[64].
Case case_of(const std::string& statements) {
  Graph graph;
  (graph.input("a0", {64}) * 1.0).output("r0");
  Case given{clone(graph), {HostTensor::poisoned(f32, {64})}, {}, {}, ""};
  for (size_t k = 0; k < 64; ++k) given.inputs[0].lanes[k].f = static_cast<double>(k);
  given.kernel.text = kernel_head(graph, "k", 64) + statements + "  LUMEN_RETURN;\n}\n";
  given.kernel.steps = {{"k", 1}};
  given.kernel.steps[0].threads = 64;
  return given;
}

std::vector<double> run_case(const Case& given) {
  std::mt19937_64 random(1);
  const auto [got, fault] = Emulated({given.kernel}).run(given, random);
  std::vector<double> all;
  for (const Lane& lane : got[0].lanes) all.push_back(lane.f);
  return all;
}

TEST(CudaEmulator, hands_values_from_lane_to_lane) {
  const std::vector<double> got =
      run_case(case_of("  const int t = threadIdx.x;\n"
                       "  float x = a0[t];\n"
                       "  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);\n"
                       "  const float next = __shfl_down_sync(0xffffffffu, (float)t, 1);\n"
                       "  const float votes = __ballot_sync(0xffffffffu, t % 32 < 3);\n"
                       "  r0[t] = t % 2 == 0 ? x : next + votes;\n"));
  EXPECT_EQ(got[0], 496);
  EXPECT_EQ(got[62], 496 + 32 * 32);
  EXPECT_EQ(got[1], 2 + 7);
  EXPECT_EQ(got[31], 31 + 7);  // there is no lane behind it
}

const char* const kTurned =
    "  __shared__ float all[64];\n"
    "  all[threadIdx.x] = a0[threadIdx.x];\n"
    "  SYNC;\n"
    "  r0[threadIdx.x] = all[63 - threadIdx.x];\n";

TEST(CudaEmulator, waits_where_the_text_says_so_only) {
  const std::string given = kTurned;
  const auto with = [&](const std::string& word) {
    std::string text = given;
    return run_case(case_of(text.replace(text.find("SYNC"), 4, word)));
  };
  const std::vector<double> right = with("__syncthreads()");
  for (size_t k = 0; k < 64; ++k) EXPECT_EQ(right[k], 63 - static_cast<double>(k));
  EXPECT_NE(with(""), right);
}

TEST(CudaEmulator, reports_threads_that_wait_in_vain) {
  EXPECT_NONFATAL_FAILURE(run_case(case_of("  if (threadIdx.x != 5) __syncthreads();\n")), "some threads never reach");
  EXPECT_NONFATAL_FAILURE(run_case(case_of("  if (threadIdx.x < 32) __syncthreads();\n"
                                           "  else\n    __syncthreads();\n")),
                          "different barriers");
  EXPECT_NONFATAL_FAILURE(run_case(case_of("  if (threadIdx.x % 32 != 7) __shfl_xor_sync(0xffffffffu, 1, 1);\n")),
                          "wait for each other");
}

// The first warp hands 32 numbers to the second, again and again, through one place: LEAVES and COMES are what it does
// before it writes, and what the second does before it reads.
const char* const kHanded =
    "  __shared__ uint64_t gates[2];\n"
    "  __shared__ float handed[32];\n"
    "  const int lane = threadIdx.x % 32;\n"
    "  if (threadIdx.x == 0) lumen_set_gate(gates, 32), lumen_set_gate(gates + 1, 32);\n"
    "  __syncthreads();\n"
    "  float sum = 0;\n"
    "  for (int k = 0; k < 5; ++k) {\n"
    "    if (threadIdx.x < 32) {\n"
    "      LEAVES(gates + 1, 1 - k % 2);\n"
    "      handed[lane] = lane + 100 * k;\n"
    "      lumen_arrive(gates);\n"
    "    } else {\n"
    "      COMES(gates, k % 2);\n"
    "      sum += handed[31 - lane];\n"
    "      lumen_arrive(gates + 1);\n"
    "    }\n"
    "  }\n"
    "  r0[threadIdx.x] = sum;\n";

TEST(CudaEmulator, gates_open_when_all_have_arrived) {
  const auto with = [&](const std::string& leaves, const std::string& comes) {
    std::string text = kHanded;
    text.replace(text.find("LEAVES"), 6, leaves);
    std::mt19937_64 random(1);
    return reports_and_results(case_of(text.replace(text.find("COMES"), 5, comes)), random);
  };
  const std::vector<double> right = with("lumen_pass", "lumen_pass");
  ASSERT_EQ(right[0], 0);
  for (size_t k = 0; k < 32; ++k) EXPECT_EQ(right[33 + k], 1000 + 5 * (31 - static_cast<double>(k)));
  EXPECT_NE(with("(void)sizeof", "lumen_pass"), right);
  EXPECT_NE(with("lumen_pass", "(void)sizeof"), right);
  EXPECT_NONFATAL_FAILURE(run_case(case_of("  __shared__ uint64_t gate;\n  lumen_arrive(&gate);\n")), "was not set");
  EXPECT_NONFATAL_FAILURE(run_case(case_of("  __shared__ uint64_t gate;\n"
                                           "  if (threadIdx.x == 0) lumen_set_gate(&gate, 2);\n"
                                           "  __syncthreads();\n"
                                           "  if (threadIdx.x == 5) lumen_arrive(&gate);\n"
                                           "  lumen_pass(&gate, 0);\n")),
                          "wait for each other");
}

TEST(CudaEmulator, warps_meet_at_places) {
  const auto with = [&](const std::string& first) {
    return run_case(
        case_of("  __shared__ float all[64];\n"
                "  if (threadIdx.x < 32) {\n"
                "    all[threadIdx.x] = a0[threadIdx.x];\n    " +
                first +
                "\n    r0[threadIdx.x] = 0;\n"
                "  } else {\n"
                "    lumen_meet(3, 64);\n"
                "    r0[threadIdx.x] = all[63 - threadIdx.x];\n"
                "  }\n"));
  };
  for (const char* const first : {"lumen_let_go(3, 64);", "lumen_meet(3, 64);"}) {
    const std::vector<double> got = with(first);
    for (size_t k = 32; k < 64; ++k) EXPECT_EQ(got[k], 63 - static_cast<double>(k)) << first;
  }
  EXPECT_NONFATAL_FAILURE(with(""), "wait for each other");
  EXPECT_NONFATAL_FAILURE(with("lumen_let_go(3, 96);"), "disagree who meets");
  EXPECT_NONFATAL_FAILURE(run_case(case_of("  lumen_let_go(3, 96), lumen_let_go(3, 96);\n")), "go twice");
}

TEST(CudaEmulator, sees_what_is_written_behind_an_output) {
  EXPECT_NONFATAL_FAILURE(run_case(case_of("  r0[threadIdx.x + 1] = 0;\n")), "output 0");
}

}  // namespace
}  // namespace lumen
