// Casts that must round once, and bitcasts, in map kernels.
#include <gtest/gtest.h>

#include "lumen/codegen/map.h"
#include "lumen/frontend/ops.h"
#include "lumen/hlir/cast.h"
#include "tests/codegen/kernel_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

// A few bits more than the dtype has, then a half of its last place, then something far below, or nothing.
double near_a_tie(DType to, std::mt19937_64& random) {
  const int bits = info(to).mantissa_bits;
  const auto leading = static_cast<double>((uint64_t{1} << bits) + random() % (uint64_t{1} << bits));
  const double below = std::ldexp(static_cast<double>(static_cast<int64_t>(random() % 3)) - 1, -30);
  const double x = std::ldexp(leading + 0.5 + below, static_cast<int>(random() % 24) - 12);
  return random() % 2 == 0 ? x : -x;
}
int64_t integer_near_a_tie(DType to, DType from, std::mt19937_64& random) {
  const int bits = info(to).mantissa_bits + 1;
  const int width = info(from).bits - (is_unsigned(from) ? 0 : 1);
  const uint64_t leading = (uint64_t{1} << (bits - 1)) | random() % (uint64_t{1} << (bits - 1));
  uint64_t x = (leading << 1 | 1) << (width - bits - 1);
  x += random() % 3 - 1;
  x >>= random() % 4;
  return is_unsigned(from) || random() % 2 == 0 ? static_cast<int64_t>(x) : -static_cast<int64_t>(x);
}

TEST(Cast, rounds_once) {
  KernelCases cases(map_text);
  for (const DType to : dtypes_of(kFloats)) {
    if (to == f64) continue;
    for (const DType from : {f64, i64, u64, i32, u32}) {
      if (to == f32 && from != f64 && info(from).bits == 32) continue;
      Graph graph;
      cast(graph.input("x", {1000}, from), to).output("y");
      cases.add(graph, {}, 0, "cast");
      for (Lane& lane : cases.last().inputs[0].lanes) {
        if (from == f64) {
          lane.f = near_a_tie(to, cases.random());
        } else {
          lane = {.i = wrap_to(from, integer_near_a_tie(to, from, cases.random()))};
        }
      }
      if (from != f64) continue;
      const double ends[] = {kNan, kInf, -kInf, 1e300, -1e300, 1e-300, 0.0, 3.4028235677973366e38, 1e-45, 7e-46};
      for (size_t k = 0; k < std::size(ends); ++k) cases.last().inputs[0].lanes[k].f = ends[k];
    }
  }
  cases.run_all();
}

// Of an input, and of what was computed: the one reads memory, the other puts bits together.
TEST(Bitcast, keeps_every_bit) {
  KernelCases cases(map_text);
  int pairs = 0;
  for (const DType from : dtypes_of(kAnyDType)) {
    for (const DType to : dtypes_of(kAnyDType)) {
      if (is_bool(from) != is_bool(to) && (is_bool(to) || info(to).bits > 8)) continue;  // other bytes are no bools
      Graph graph;
      const Tensor x = graph.input("x", {3, 96}, from);
      const Tensor turned = flip(x, {1});
      for (const Tensor& each : {x, turned}) {
        const auto node = graph.add(hlir::Bitcast{to}, std::vector<NodeId>{each.id});
        if (node.ok()) graph.add_output(each.id == x.id ? "read" : "made", *node).value();
      }
      if (graph.outputs().size() != 2) continue;
      cases.add(graph, {}, 0, "bitcast");
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 300);
  cases.run_all();
}

}  // namespace
}  // namespace lumen
