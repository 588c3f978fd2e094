// What `lumen fusion bench` found: as a table, as JSON, as a page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lumen::tools {

// One prompt and the text after it, by one strategy; seconds, by run.
struct FusionRuns {
  std::vector<double> prefill, decode;

  double prefill_median() const;
  double decode_median() const;
  double total_median() const;  // of the sums
};

struct FusionCase {
  std::string name;      // "[prefill=16, decode=8]", "tiny 1"
  std::string category;  // "pairs", or of a prompt its length: "tiny"
  int64_t prefill = 0, decode = 0;
  std::vector<FusionRuns> strategies = {};
  std::string difference = {};  // between the texts of the strategies; empty when they are the same
  bool is_tie = false;          // where two tokens were as likely as each other
};

struct FusionReport {
  std::string model, dtype, setting;
  int64_t runs = 0;  // that were asked for; 0: as many as a few seconds have
  std::vector<std::string> strategies;
  std::vector<FusionCase> cases;
  std::vector<std::string> left_out;  // cases that the model has no room for

  std::string runs_text() const;  // of a case: "5 runs", "7 to 200 runs"
};

std::string fusion_table(const FusionReport& report);
std::string fusion_json(const FusionReport& report);
std::string fusion_html(const FusionReport& report);

}  // namespace lumen::tools
