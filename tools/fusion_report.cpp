#include "tools/fusion_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

size_t judged(const FusionReport& report) {
  const auto found = std::ranges::find(report.strategies, "profile");
  return static_cast<size_t>(found - report.strategies.begin()) - (found == report.strategies.end() ? 1 : 0);
}

std::string wins_text(const FusionReport& report) {
  std::string text = "wins (by 2 % or more)\n";
  for (const FusionWins& each : report.wins()) {
    text += fmt::format("  {:8}", each.category);
    for (size_t k = 0; k < report.strategies.size(); ++k)
      text += fmt::format(" {} {},", report.strategies[k], each.wins[k]);
    text += fmt::format(" none {}\n", each.none);
  }
  return text;
}

Json wins_json(const FusionReport& report) {
  Json json = Json::object();
  for (const FusionWins& each : report.wins()) {
    for (size_t k = 0; k < report.strategies.size(); ++k) json[each.category][report.strategies[k]] = each.wins[k];
    json[each.category]["none"] = each.none;
  }
  return json;
}

Json verdict_json(const FusionReport& report) {
  const std::optional<FusionVerdict> verdict = report.verdict();
  if (!verdict) return nullptr;
  return {{"strategy", verdict->strategy},     {"worst", verdict->worst}, {"error", verdict->error},
          {"worst_case", verdict->worst_case}, {"lost", verdict->lost},   {"cases", report.cases.size()}};
}

Json runs_json(const FusionCase& each, const FusionRuns& runs) {
  const Summary total = summarise(totals(runs));
  return {{"total_ms", 1e3 * total.median},
          {"prefill_ms", 1e3 * runs.prefill_median()},
          {"decode_ms", 1e3 * runs.decode_median()},
          {"spread_ms", 1e3 * total.mad},
          {"input_len", each.prefill},
          {"output_len", each.decode},
          {"runs", runs.prefill.size()}};
}

}  // namespace

double FusionRuns::prefill_median() const { return median(prefill); }
double FusionRuns::decode_median() const { return median(decode); }
double FusionRuns::total_median() const { return median(totals(*this)); }

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

std::optional<FusionVerdict> FusionReport::verdict() const {
  if (strategies.size() < 2 || cases.empty()) return std::nullopt;
  FusionVerdict result;
  result.strategy = strategies[judged(*this)];
  for (const FusionCase& each : cases) {
    const PairedRatio found = behind(each);
    result.lost += found.loses() ? 1 : 0;
    if (found.median <= result.worst) continue;
    result.worst = found.median;
    result.error = found.error;
    result.worst_case = each.name;
  }
  return result;
}

PairedRatio FusionReport::behind(const FusionCase& fusion_case) const {
  const size_t own = judged(*this);
  const std::vector<FusionRuns>& all = fusion_case.strategies;
  PairedRatio most;
  for (size_t k = 0; k < all.size(); ++k) {
    if (k == own) continue;
    const PairedRatio found = paired_ratio(totals(all[own]), totals(all[k]));
    if (found.median > most.median) most = found;
  }
  return most;
}

std::vector<FusionWins> FusionReport::wins() const {
  std::vector<FusionWins> result;
  for (const FusionCase& each : cases) {
    auto found = std::ranges::find(result, each.category, &FusionWins::category);
    if (found == result.end())
      found = result.insert(result.end(), {each.category, std::vector<size_t>(strategies.size())});
    const int who = winner(each);
    ++(who < 0 ? found->none : found->wins[static_cast<size_t>(who)]);
  }
  return result;
}

bool FusionReport::is_good() const {
  const auto differs = [](const FusionCase& each) { return !each.difference.empty() && !each.is_tie; };
  const std::optional<FusionVerdict> found = verdict();
  const bool loses = found && found->strategy == "profile" && found->lost > 0;
  return !loses && std::ranges::none_of(cases, differs);
}

std::string verdict_text(const FusionReport& report) {
  const std::optional<FusionVerdict> verdict = report.verdict();
  if (!verdict) return "";
  return fmt::format("{} at its worst takes {:.3f} +- {:.3f} of the best of the others: {}; it loses {} of {} cases\n",
                     verdict->strategy, verdict->worst, verdict->error, verdict->worst_case, verdict->lost,
                     report.cases.size());
}

std::string fusion_table(const FusionReport& report) {
  std::string text = fmt::format("{}, {}; milliseconds of reading + writing", report.model, report.runs_text());
  if (report.strategies.size() > 1)
    text += fmt::format(", and how many times as fast as {} others are", report.strategies[0]);
  text += fmt::format("\n{:26}", "");
  for (const std::string& strategy : report.strategies) text += fmt::format(" {:>22}", strategy);
  for (size_t k = 1; k < report.strategies.size(); ++k) {
    text += fmt::format(" {:>16}", report.strategies[k] + " is");
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
  text += verdict_text(report);
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
                    {"strategies", report.strategies}, {"setting", report.setting}, {"left_out", report.left_out},
                    {"hardware", report.hardware},     {"commit", report.commit},   {"date", report.date}};
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
  json["wins"] = wins_json(report);
  json["verdict"] = verdict_json(report);
  return json.dump(1) + "\n";
}

}  // namespace lumen::tools
