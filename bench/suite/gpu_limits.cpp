#include <algorithm>
#include <cmath>

#include "bench/suite/run_suite.h"
#include "lumen/frontend/ops.h"

namespace lumen::bench {

namespace {

constexpr int64_t kGpuCopyBytes[] = {64 << 20, 256 << 20, 1 << 30};  // in all
constexpr int kTrials = 5;

Expected<double> fastest(Subject& subject) {
  double best = INFINITY;
  for (int k = 0; k < kTrials; ++k) best = std::min(best, LUMEN_TRY(subject.time(4)));
  return best;
}

Case copy_case(int64_t bytes) {
  Case c{.group = "copy"};
  c.build = [=](Graph& g) { (g.input("x", {bytes / 8}) + 1.0).output("out"); };
  return c;
}

Case product_case(int64_t n, DType dtype) {
  Case c{.group = "product", .dtype = dtype};
  c.build = [=](Graph& g) { matmul(g.input("x", {n, n}, dtype), g.input("y", {n, n}, dtype)).output("out"); };
  return c;
}

}  // namespace

Expected<GpuLimits> measure_gpu(const CompileOptions& options) {
  GpuLimits found;
  for (const int64_t bytes : kGpuCopyBytes) {
    Subject subject = LUMEN_TRY(Subject::make(copy_case(bytes), false, options));
    found.hardware = subject.hardware();
    const auto moved = static_cast<double>(bytes);
    found.limits.copies.push_back({moved, moved / LUMEN_TRY(fastest(subject))});
  }
  const auto rate = [&](int64_t n, DType dtype) -> Expected<double> {
    Subject subject = LUMEN_TRY(Subject::make(product_case(n, dtype), false, options));
    return 2 * std::pow(static_cast<double>(n), 3) / LUMEN_TRY(fastest(subject));
  };
  found.limits.f32_flops = LUMEN_TRY(rate(4096, f32));
  found.limits.bf16_flops = LUMEN_TRY(rate(8192, bf16));
  found.limits.f16_flops = found.limits.bf16_flops;  // the same units, at the same rate
  return found;
}

}  // namespace lumen::bench
