#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "lumen/search/fusion_guide.h"

namespace lumen::search {

std::string FusionDecision::str() const {
  std::string text = fmt::format("{:8} {}", fuse ? "fused" : "unfused", where.empty() ? "" : where + ": ");
  text += shape.empty() ? what : what + " " + shape;
  if (fused > 0) text += fmt::format(": {:.4g} ms fused, {:.4g} ms unfused", fused, unfused);
  return text + fmt::format(" ({}{}{})", source, note.empty() ? "" : ": ", note);
}

std::string print_decisions(std::span<const FusionDecision> decisions) {
  std::vector<std::pair<std::string, int>> lines;  // with how often
  for (const FusionDecision& decision : decisions) {
    std::string line = decision.str();
    const auto found = std::ranges::find(lines, line, &std::pair<std::string, int>::first);
    if (found == lines.end()) {
      lines.emplace_back(std::move(line), 1);
    } else {
      ++found->second;
    }
  }
  std::string text;
  for (const auto& [line, count] : lines) text += line + (count > 1 ? fmt::format(" x{}", count) : "") + "\n";
  return text;
}

std::vector<FusionDecision> decisions_of(std::span<const UncutGroup> whole) {
  std::vector<FusionDecision> decisions;
  for (const auto& [what, hopeless] : whole) {
    decisions.push_back(
        {.what = what,
         .source = hopeless ? "estimated" : "no cut",
         .note = hopeless ? "two kernels would take half as long again" : "nothing in it is computed twice",
         .fuse = true});
  }
  return decisions;
}

std::vector<FusionDecision> decisions_of(std::span<const TriedCut> cuts, bool measured) {
  std::vector<FusionDecision> decisions;
  const auto same_group = [](const TriedCut& a, const TriedCut& b) { return a.whole == b.whole && a.one == b.one; };
  for (size_t first = 0, end = 0; first < cuts.size(); first = end) {
    while (end < cuts.size() && same_group(cuts[first], cuts[end])) ++end;
    const auto better = [](const TriedCut& a, const TriedCut& b) {
      return std::tuple(!a.taken, !a.possible, a.two) < std::tuple(!b.taken, !b.possible, b.two);
    };
    const TriedCut& cut = *std::ranges::min_element(cuts.subspan(first, end - first), better);
    FusionDecision decision{.what = cut.whole, .source = measured ? "measured" : "estimated", .fuse = !cut.taken};
    decision.note = fmt::format("two kernels are {} and {}", cut.before, cut.after);
    if (cut.possible) {
      decision.fused = cut.one * 1e3;
      decision.unfused = cut.two * 1e3;
    } else {
      decision.note += ", of which one would be interpreted";
    }
    if (cut.undone) {
      decision.note += "; the whole program was slower for its cuts";
    } else if (decision.fuse && decision.unfused < decision.fused) {
      decision.note += "; a cut must gain 3 %";
    }
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

}  // namespace lumen::search
