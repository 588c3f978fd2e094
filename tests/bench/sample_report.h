// A report with one of everything, for tests of what is made from reports.
#pragma once

#include "bench/suite/report.h"

namespace lumen::bench {

inline Result sample_result(const std::string& group, double seconds) {
  Result result{.name = group + "/8x8/bf16", .group = group, .size = "8x8", .dtype = DType::bf16};
  result.flops = 1000;
  result.bytes = 64 << 10;
  result.compile = {1.5, 3, 0.25, 2, 4};
  result.time = {seconds, seconds / 100, 7};
  return result;
}

inline Report sample_report() {
  Report report{.suite = "patterns",
                .version = "1.2.3",
                .date = "2026-11-15T10:20:59Z",
                .machine = "a <fast> & \"odd\" one",
                .hardware = "fingerprint",
                .cold = true,
                .limits = {},
                .results = {}};
  report.limits = {2, {{64 << 10, 1e11}, {256 << 20, 1e10}}, 1e12, 2e13, 0};
  report.results = {sample_result("matmul", 1e-6), sample_result("softmax", 2e-3), sample_result("broken", 1)};
  report.results[0].unit = Unit::matrix;
  report.results[1].fused = true;
  report.results[2].problem = "[Sort] not <here>";
  report.results[2].time = {};
  report.results[2].compile = {};
  return report;
}

}  // namespace lumen::bench
