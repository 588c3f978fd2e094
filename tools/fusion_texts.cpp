#include "tools/fusion_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lumen::tools {

namespace {

constexpr int64_t kPromptDecode = 30;  // tokens that are written after a prompt of the set

}  // namespace

std::vector<FusionCase> fusion_cases(bool quick) {
  std::vector<FusionCase> cases;
  constexpr std::pair<int64_t, int64_t> kPairs[] = {{16, 8},  {32, 8},  {64, 8},  {128, 8}, {256, 8},  {512, 16},
                                                    {16, 32}, {16, 64}, {32, 64}, {64, 64}, {128, 128}};
  for (const auto& [prefill, decode] : kPairs) {
    if (quick && prefill != 16) continue;
    cases.push_back({fmt::format("[prefill={}, decode={}]", prefill, decode), "pairs", prefill, decode});
  }
  constexpr std::pair<const char*, int64_t> kPrompts[] = {{"tiny", 4},   {"tiny", 8},    {"short", 16},
                                                          {"short", 32}, {"medium", 64}, {"medium", 128},
                                                          {"long", 256}, {"long", 400}};
  for (const auto& [category, tokens] : kPrompts) {
    if (quick && tokens > 16) continue;
    cases.push_back({fmt::format("{} prompt of {}", category, tokens), category, tokens, kPromptDecode});
  }
  return cases;
}

double lead_of(std::span<const float> logits) {
  float best = -INFINITY, second = -INFINITY, largest = 0;
  for (const float logit : logits) {
    largest = std::max(largest, std::abs(logit));
    second = std::max(second, std::min(best, logit));
    best = std::max(best, logit);
  }
  return largest > 0 ? (best - second) / largest : 0;
}

void compare_texts(const WrittenText& first, const WrittenText& other, double tie, FusionCase& fusion_case) {
  const auto [a, b] = std::ranges::mismatch(first.tokens, other.tokens);
  if (a == first.tokens.end()) return;
  const auto at = static_cast<size_t>(a - first.tokens.begin());
  fusion_case.is_tie = std::min(first.leads[at], other.leads[at]) < tie;
  fusion_case.difference =
      fmt::format("{} writes token {} where {} writes {}, after {} tokens", first.strategy, *a, other.strategy, *b, at);
}

}  // namespace lumen::tools
