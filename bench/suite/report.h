// What `lumen bench` found out, and the JSON file that keeps it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/suite/case.h"
#include "bench/suite/limits.h"
#include "bench/suite/subject.h"
#include "lumen/base/statistics.h"

namespace lumen::bench {

struct Result {
  std::string name;
  std::string group;
  std::string size;
  DType dtype = DType::f32;
  Unit unit = Unit::vector;
  bool fused = false;
  double flops = 0;
  double bytes = 0;
  CompileFacts compile = {};
  Summary time = {};         // seconds of a run
  std::string problem = {};  // why there is no time; else empty

  double bytes_per_second() const { return bytes / time.median; }
  double flops_per_second() const { return flops / time.median; }
  // Shares of what the machine was measured to do with this many bytes, with these flops.
  double memory_share(const Limits& limits) const { return bytes_per_second() / limits.copy_rate(bytes); }
  double compute_share(const Limits& limits) const;
};

struct Report {
  std::string suite;     // "micro" or "patterns"
  std::string version;   // of Lumen
  std::string date;      // UTC, as 2026-11-15T10:20:59Z
  std::string machine;   // the processor's name
  std::string hardware;  // CpuFeatures::fingerprint()
  bool cold = false;     // compiled with an empty cache
  Limits limits;
  std::vector<Result> results;
};

std::string print_report(const Report& report);
// The inverse. An error names the file and the field that is missing or wrong.
Expected<Report> parse_report(std::string_view text, const std::string& file);

struct Comparison {
  struct Row {
    std::string name;
    Summary before, after;
    Change change;
  };
  std::vector<Row> rows;                // of cases with a time in both
  std::vector<std::string> only_after;  // without a time before
  std::vector<std::string> lost;        // with a time before only, though they were asked for now
  int64_t slower() const;
};
// An error when the thread counts differ: such times cannot be compared.
Expected<Comparison> compare_reports(const Report& before, const Report& after);

}  // namespace lumen::bench
