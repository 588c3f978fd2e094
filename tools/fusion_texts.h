// What `lumen fusion bench` has written, and whether two strategies wrote the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/fusion_report.h"

namespace lumen::tools {

// The (prefill, decode) pairs, then the prompts from tiny to long; `quick` are those with 16 tokens or fewer.
std::vector<FusionCase> fusion_cases(bool quick);

// A text, and how clear the choice of each token was.
struct WrittenText {
  std::string strategy;
  std::vector<int32_t> tokens;
  std::vector<double> leads;  // lead_of() when the token was chosen
};

// Of the best logit over the second, as a share of the largest.
double lead_of(std::span<const float> logits);

// Says in the case where two texts of one length part, if they do. Rounding may tip the choice between tokens that are
// as likely as each other: that is a tie, and what follows is another text.
void compare_texts(const WrittenText& first, const WrittenText& other, double tie, FusionCase& fusion_case);

}  // namespace lumen::tools
