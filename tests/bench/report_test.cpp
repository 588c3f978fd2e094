#include "bench/suite/report.h"

#include <gtest/gtest.h>

#include "bench/suite/table.h"
#include "tests/bench/sample_report.h"

namespace lumen::bench {

TEST(BenchReport, RefusesWhatIsNoReport) {
  const auto message = [](const std::string& text) {
    const Expected<Report> report = parse_report(text, "old.json");
    return report.ok() ? "ok" : report.diag().str();
  };
  EXPECT_EQ(message("{}"), "old.json: not a report of `lumen bench`");
  EXPECT_TRUE(message("[1").starts_with("old.json: ")) << message("[1");
  std::string text = print_report(sample_report());
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 9");
  EXPECT_EQ(message(text), "old.json: of version 9; this program reads version 1");
  text = print_report(sample_report());
  text.replace(text.find("\"bf16\""), 6, "\"f99\"");
  EXPECT_EQ(message(text), "old.json: matmul/8x8/bf16: no dtype `f99`");
  text = print_report(sample_report());
  text.replace(text.find("\"mad\""), 5, "\"mat\"");
  EXPECT_NE(message(text).find("key 'mad' not found"), std::string::npos) << message(text);
}

TEST(BenchReport, JsonRoundTrip) {
  const Report report = sample_report();
  const std::string text = print_report(report);
  const Report again = parse_report(text, "old.json").value();
  EXPECT_EQ(print_report(again), text);
  ASSERT_EQ(again.results.size(), 3U);
  EXPECT_EQ(again.machine, report.machine);
  EXPECT_TRUE(again.cold);
  EXPECT_EQ(again.limits.copies[1].rate, 1e10);
  EXPECT_EQ(again.results[0].unit, Unit::matrix);
  EXPECT_EQ(again.results[1].time.median, 2e-3);
  EXPECT_EQ(again.results[1].compile.measured, 3);
  EXPECT_EQ(again.results[1].compile.calls, 4);
  EXPECT_EQ(again.results[2].problem, "[Sort] not <here>");
}

TEST(BenchReport, SharesOfTheLimits) {
  const Report report = sample_report();
  const Limits& limits = report.limits;
  EXPECT_EQ(limits.copy_rate(1), 1e11);
  EXPECT_EQ(limits.copy_rate(1 << 20), 1e11);  // a factor of 16 from the small one, of 256 from the large
  EXPECT_EQ(limits.copy_rate(64 << 20), 1e10);
  EXPECT_EQ(limits.matrix_rate(DType::bf16), 2e13);
  EXPECT_EQ(limits.matrix_rate(DType::i8), 1e12);  // no unit for it
  EXPECT_EQ(limits.matrix_rate(DType::f16), 1e12);
  EXPECT_DOUBLE_EQ(report.results[0].memory_share(limits), (64 << 10) / 1e-6 / 1e11);
  EXPECT_DOUBLE_EQ(report.results[0].compute_share(limits), 1000 / 1e-6 / 2e13);
  EXPECT_DOUBLE_EQ(report.results[1].compute_share(limits), 1000 / 2e-3 / 1e12);  // bf16, but not by tiles
}

TEST(BenchReport, ComparesCaseByCase) {
  Report before = sample_report(), after = sample_report();
  after.limits.threads = 1;
  const Expected<Comparison> refused = compare_reports(before, after);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.diag().str(),
            "the old report is of 2 threads, this one of 1: times of different thread counts cannot be compared");
  after.limits.threads = 2;
  after.results.push_back(sample_result("gelu", 1e-6));
  after.results[0].time.median = 1.02e-6;  // within 2 %
  after.results[1].problem = "does not run";
  before.results.push_back(sample_result("gelu", 0.9e-6));
  before.results.push_back(sample_result("not asked for now", 1));
  after.results.push_back(sample_result("added", 1));
  const Comparison comparison = compare_reports(before, after).value();
  ASSERT_EQ(comparison.rows.size(), 2U);
  EXPECT_EQ(comparison.rows[0].change, Change::none);
  EXPECT_EQ(comparison.rows[1].name, "gelu/8x8/bf16");
  EXPECT_EQ(comparison.rows[1].change, Change::slower);
  EXPECT_EQ(comparison.slower(), 1);
  EXPECT_EQ(comparison.lost, std::vector<std::string>{"softmax/8x8/bf16"});
  EXPECT_EQ(comparison.only_after, std::vector<std::string>{"added/8x8/bf16"});
  EXPECT_EQ(comparison_text(comparison),
            "gelu/8x8/bf16       900 ns ->  1.00 us  +11.1 %  SLOWER\n"
            "softmax/8x8/bf16  has no time any more\n"
            "1 slower, 0 faster, 1 within noise, 1 new\n");
}

TEST(BenchReport, Table) {
  EXPECT_EQ(results_table(sample_report()),
            "case                median      mad    GB/s     MBU  GFLOP/s     MFU  calls  compile      again\n"
            "matmul/8x8/bf16    1.00 us    1.0 %    65.5    66 %      1.0     0 %      4   1.50 s*    0.25 s\n"
            "\n"
            "softmax/8x8/bf16   2.00 ms    1.0 %     0.0     0 %      0.0     0 %      4   1.50 s*    0.25 s\n"
            "\n"
            "broken/8x8/bf16   [Sort] not <here>\n"
            "* kernels were timed while compiling; `again` is a second compile that finds them known\n");
  EXPECT_EQ(limits_text(sample_report().limits),
            "measured limits of 2 threads\n"
            "  copy  100 GB/s at 64 KiB, 10 GB/s at 256 MiB\n"
            "  flops f32 1000 GFLOP/s, bf16 tiles 20000 GFLOP/s, int8 tiles none\n");
}

TEST(BenchReport, Times) {
  EXPECT_EQ(time_text(2.5), "2.50 s");
  EXPECT_EQ(time_text(0.0123), "12.3 ms");
  EXPECT_EQ(time_text(0.9996e-3), "1.00 ms");
  EXPECT_EQ(time_text(123.4e-6), "123 us");
  EXPECT_EQ(time_text(5e-9), "5.00 ns");
}

}  // namespace lumen::bench
