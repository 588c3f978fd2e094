// What `lumen fusion bench` found: as a table, as JSON, as a page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lumen/base/statistics.h"

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

// How one strategy does beside the best of the others, round by round.
struct FusionVerdict {
  std::string strategy;
  double worst = 0, error = 0;  // the largest share of their time that it takes, and the standard error of that
  std::string worst_case;
  size_t lost = 0;  // cases in which it is behind by more than 2 % and by more than chance
};

// Cases of one category that a strategy wins: by 2 % or more over all others.
struct FusionWins {
  std::string category;
  std::vector<size_t> wins;  // by strategy
  size_t none = 0;
};

struct FusionReport {
  std::string model, dtype, setting;
  std::string hardware, commit, date;
  int64_t runs = 0;  // that were asked for; 0: as many as a few seconds have
  std::vector<std::string> strategies;
  std::vector<FusionCase> cases;
  std::vector<std::string> left_out;  // cases that the model has no room for

  std::string runs_text() const;  // of a case: "5 runs", "7 to 200 runs"
  // About `profile`, or the last strategy where that is not among them; none of one strategy alone.
  std::optional<FusionVerdict> verdict() const;
  // How far what the verdict is about is behind the best of the others, round by round; below 1 it is ahead.
  PairedRatio behind(const FusionCase& fusion_case) const;
  std::vector<FusionWins> wins() const;
  // Texts are the same but for ties, and `profile`, where it is there, loses no case.
  bool is_good() const;
};

std::string verdict_text(const FusionReport& report);  // a line; empty without a verdict
std::string fusion_table(const FusionReport& report);
std::string fusion_json(const FusionReport& report);
std::string fusion_html(const FusionReport& report);

}  // namespace lumen::tools
