#include "tools/fusion_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/suite/statistics.h"

namespace lumen::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kSame = 1.02;  // closer than this no strategy wins

std::vector<double> totals(const FusionRuns& runs) {
  std::vector<double> sums;
  for (size_t k = 0; k < runs.prefill.size(); ++k) sums.push_back(runs.prefill[k] + runs.decode[k]);
  return sums;
}

// The strategy that no other beats by 2 % or more, where the rest are behind by that; else none.
int winner(const FusionCase& fusion_case) {
  int best = 0;
  const std::vector<FusionRuns>& all = fusion_case.strategies;
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].total_median() < all[static_cast<size_t>(best)].total_median()) best = static_cast<int>(k);
  }
  for (size_t k = 0; k < all.size(); ++k) {
    if (static_cast<int>(k) == best) continue;
    if (all[k].total_median() < kSame * all[static_cast<size_t>(best)].total_median()) return -1;
  }
  return best;
}

// How far the last strategy is behind the best of those before it, round by round; below 1 it is ahead.
bench::PairedRatio behind(const FusionCase& fusion_case) {
  const std::vector<FusionRuns>& all = fusion_case.strategies;
  bench::PairedRatio most;
  for (size_t k = 0; k + 1 < all.size(); ++k) {
    const bench::PairedRatio found = bench::paired_ratio(totals(all.back()), totals(all[k]));
    if (found.median > most.median) most = found;
  }
  return most;
}

std::string wins_text(const FusionReport& report) {
  std::map<std::string, std::vector<int>> wins;  // by category: of each strategy, then of none
  std::vector<std::string> order;
  for (const FusionCase& each : report.cases) {
    if (!wins.contains(each.category)) order.push_back(each.category);
    std::vector<int>& counts = wins[each.category];
    counts.resize(report.strategies.size() + 1);
    const int who = winner(each);
    ++counts[who < 0 ? report.strategies.size() : static_cast<size_t>(who)];
  }
  std::string text = "wins (by 2 % or more)\n";
  for (const std::string& category : order) {
    text += fmt::format("  {:8}", category);
    for (size_t k = 0; k < report.strategies.size(); ++k) {
      text += fmt::format(" {} {},", report.strategies[k], wins[category][k]);
    }
    text += fmt::format(" none {}\n", wins[category].back());
  }
  return text;
}

Json runs_json(const FusionCase& each, const FusionRuns& runs) {
  const bench::Summary total = bench::summarise(totals(runs));
  return {{"total_ms", 1e3 * total.median},
          {"prefill_ms", 1e3 * runs.prefill_median()},
          {"decode_ms", 1e3 * runs.decode_median()},
          {"spread_ms", 1e3 * total.mad},
          {"input_len", each.prefill},
          {"output_len", each.decode},
          {"runs", runs.prefill.size()}};
}

}  // namespace

double FusionRuns::prefill_median() const { return bench::median(prefill); }
double FusionRuns::decode_median() const { return bench::median(decode); }
double FusionRuns::total_median() const { return bench::median(totals(*this)); }

std::string FusionReport::runs_text() const {
  size_t least = SIZE_MAX, most = 0;
  for (const FusionCase& each : cases) {
    for (const FusionRuns& its : each.strategies) {
      least = std::min(least, its.prefill.size());
      most = std::max(most, its.prefill.size());
    }
  }
  if (most == 0) return "no runs";
  return least == most ? fmt::format("{} runs", most) : fmt::format("{} to {} runs", least, most);
}

std::string fusion_table(const FusionReport& report) {
  std::string text =
      fmt::format("{}, {}; milliseconds of reading + writing\n{:26}", report.model, report.runs_text(), "");
  for (const std::string& strategy : report.strategies) text += fmt::format(" {:>22}", strategy);
  for (size_t k = 1; k < report.strategies.size(); ++k) {
    text += fmt::format(" {:>16}", report.strategies[k] + "/" + report.strategies[0]);
  }
  text += "\n";
  for (const FusionCase& each : report.cases) {
    text += fmt::format("{:26}", each.name);
    for (const FusionRuns& runs : each.strategies) {
      text += fmt::format(" {:>10.2f} + {:>9.2f}", 1e3 * runs.prefill_median(), 1e3 * runs.decode_median());
    }
    for (size_t k = 1; k < each.strategies.size(); ++k) {
      text += fmt::format(" {:>15.2f}x", each.strategies[0].total_median() / each.strategies[k].total_median());
    }
    text += "\n";
  }
  for (const std::string& name : report.left_out)
    text += fmt::format("{:26} left out: longer than the context\n", name);
  text += wins_text(report);
  if (report.strategies.size() > 1 && !report.cases.empty()) {
    const FusionCase& worst = std::ranges::max(report.cases, {}, [](const auto& each) { return behind(each).median; });
    const auto lost = std::ranges::count_if(report.cases, [](const auto& each) { return behind(each).loses(); });
    text += fmt::format(
        "{} at its worst takes {:.3f} +- {:.3f} of the best of the others: {}; it loses {} of {} cases\n",
        report.strategies.back(), behind(worst).median, behind(worst).error, worst.name, lost, report.cases.size());
  }
  size_t same = 0;
  for (const FusionCase& each : report.cases) {
    same += each.difference.empty() ? 1 : 0;
    if (!each.difference.empty()) {
      text += fmt::format("{}: {}{}\n", each.name, each.difference, each.is_tie ? " (a tie)" : "");
    }
  }
  return text + fmt::format("texts: the same tokens in {} of {} cases\n", same, report.cases.size());
}

std::string fusion_json(const FusionReport& report) {
  Json json;
  json["config"] = {{"model", report.model},           {"dtype", report.dtype},     {"runs", report.runs},
                    {"strategies", report.strategies}, {"setting", report.setting}, {"left_out", report.left_out}};
  Json results = Json::object(), prompts = Json::object(), differences = Json::object();
  for (size_t k = 0; k < report.strategies.size(); ++k) {
    for (const FusionCase& each : report.cases) {
      Json one = runs_json(each, each.strategies[k]);
      const bool is_pair = each.category == "pairs";
      if (!is_pair) one["category"] = each.category;
      (is_pair ? results : prompts)[report.strategies[k]][each.name] = std::move(one);
    }
  }
  for (const FusionCase& each : report.cases) {
    if (!each.difference.empty()) differences[each.name] = {{"text", each.difference}, {"tie", each.is_tie}};
  }
  json["results"] = std::move(results);
  json["prompts"] = std::move(prompts);
  json["differences"] = std::move(differences);
  return json.dump(1) + "\n";
}

}  // namespace lumen::tools
