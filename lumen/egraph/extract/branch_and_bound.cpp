#include "lumen/egraph/extract/branch_and_bound.h"

#include <algorithm>

#include "lumen/egraph/extract/tree.h"

namespace lumen::egraph {
namespace {

// Branching goes as deep as there are needed classes; beyond this nothing could be proved anyway.
constexpr size_t kMostClasses = 5000;

bool is_subset(std::span<const ClassId> inner, std::span<const ClassId> outer) {
  return std::ranges::all_of(inner, [&](ClassId c) { return std::ranges::find(outer, c) != outer.end(); });
}

}  // namespace

BranchAndBound::BranchAndBound(const FlatGraph& graph, std::span<const ClassId> roots, uint64_t steps)
    : graph_(graph),
      roots_(roots.begin(), roots.end()),
      steps_left_(steps),
      options_(graph.classes()),
      least_(graph.classes(), kInfinite),
      choice_(graph.classes(), kNone),
      refs_(graph.classes(), 0),
      seen_(graph.classes(), 0) {}

// A node is dominated when another of its class costs no more and needs nothing else.
void BranchAndBound::drop_dominated() {
  for (ClassId c = 0; c < graph_.classes(); ++c) {
    for (const NodeId n : graph_.nodes_of(c)) {
      least_[c] = std::min(least_[c], graph_.cost[n]);
      const auto dominates = [&](NodeId m) {
        if (m == n || graph_.cost[m] > graph_.cost[n]) return false;
        if (!is_subset(graph_.children_of(m), graph_.children_of(n))) return false;
        return m < n || graph_.cost[m] < graph_.cost[n] || graph_.children_of(m).size() < graph_.children_of(n).size();
      };
      if (std::ranges::none_of(graph_.nodes_of(c), dominates)) options_[c].push_back(n);
    }
  }
}

// A class is worth its node plus a share of what the node uses, a share being the used class's worth divided by the
// number of classes that could use it. So many users can at most claim the whole worth.
void BranchAndBound::compute_shares() {
  users_.assign(graph_.classes(), 0);
  for (const ClassId root : roots_) ++users_[root];
  std::vector<ClassId> used;
  for (ClassId c = 0; c < graph_.classes(); ++c) {
    used.clear();
    for (const NodeId n : options_[c])
      used.insert(used.end(), graph_.children_of(n).begin(), graph_.children_of(n).end());
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (const ClassId u : used) ++users_[u];
  }
  worth_ = least_;
  share_.assign(graph_.classes(), 0);
  // Any number of rounds gives a bound that holds; costs only rise.
  for (int round = 0; round < 50; ++round) {
    for (ClassId c = 0; c < graph_.classes(); ++c) share_[c] = worth_[c] / std::max(1u, users_[c]);
    for (ClassId c = 0; c < graph_.classes(); ++c) {
      Cost least = kInfinite;
      for (const NodeId n : options_[c]) {
        Cost sum = graph_.cost[n];
        for (const ClassId child : graph_.children_of(n)) sum += share_[child];
        least = std::min(least, sum);
      }
      worth_[c] = least;
    }
  }
}

// What is paid, and at least what the needed classes without a choice will cost.
Cost BranchAndBound::bound() const {
  Cost least = 0;
  Cost worth = 0;
  for (const ClassId c : needed_) {
    if (choice_[c] == kNone) {
      least += least_[c];
      worth += share_[c] * refs_[c];
    } else {
      worth -= share_[c] * (users_[c] - refs_[c]);
    }
  }
  return paid_ + std::max(least, worth);
}

// The needed class with the fewest alternatives; kNone when all are decided.
ClassId BranchAndBound::pick() const {
  ClassId best = kNone;
  for (const ClassId c : needed_) {
    if (choice_[c] != kNone) continue;
    if (best == kNone || options_[c].size() < options_[best].size()) best = c;
  }
  return best;
}

bool BranchAndBound::reaches(ClassId from, ClassId to) {
  ++stamp_;
  stack_.assign(1, from);
  while (!stack_.empty()) {
    const ClassId at = stack_.back();
    stack_.pop_back();
    if (at == to) return true;
    if (seen_[at] == stamp_ || choice_[at] == kNone) continue;
    seen_[at] = stamp_;
    stack_.insert(stack_.end(), graph_.children_of(choice_[at]).begin(), graph_.children_of(choice_[at]).end());
  }
  return false;
}

// Whether all that a class needs is decided.
bool BranchAndBound::settled(ClassId c) {
  ++stamp_;
  stack_.assign(1, c);
  while (!stack_.empty()) {
    const ClassId at = stack_.back();
    stack_.pop_back();
    if (choice_[at] == kNone) return false;
    if (seen_[at] == stamp_) continue;
    seen_[at] = stamp_;
    stack_.insert(stack_.end(), graph_.children_of(choice_[at]).begin(), graph_.children_of(choice_[at]).end());
  }
  return true;
}

// In order of what they add at least; one that costs least and uses only what is settled rules out the others.
std::vector<NodeId> BranchAndBound::alternatives(ClassId c) {
  std::vector<std::pair<Cost, NodeId>> ranked;
  for (const NodeId n : options_[c]) {
    const auto children = graph_.children_of(n);
    if (std::ranges::any_of(children, [&](ClassId child) { return reaches(child, c); })) continue;
    if (graph_.cost[n] == least_[c] && std::ranges::all_of(children, [&](ClassId child) { return settled(child); })) {
      return {n};
    }
    Cost added = graph_.cost[n];
    for (const ClassId child : children) added += refs_[child] == 0 ? worth_[child] : 0;
    ranked.push_back({added, n});
  }
  std::ranges::sort(ranked);
  std::vector<NodeId> result;
  for (const auto& [added, n] : ranked) result.push_back(n);
  return result;
}

void BranchAndBound::take(ClassId c, NodeId n) {
  choice_[c] = n;
  paid_ += graph_.cost[n];
  for (const ClassId child : graph_.children_of(n)) {
    if (refs_[child]++ == 0) needed_.push_back(child);
  }
}

void BranchAndBound::take_back(ClassId c, NodeId n) {
  choice_[c] = kNone;
  for (const ClassId child : graph_.children_of(n)) {
    if (--refs_[child] == 0) needed_.pop_back();
  }
}

void BranchAndBound::branch() {
  if (steps_left_ == 0) {
    complete_ = false;
    return;
  }
  --steps_left_;
  // Rounding must not keep a branch alive that is merely as good.
  if (bound() >= best_.cost - 1e-9 * std::min<Cost>(1, best_.cost)) return;
  const ClassId c = pick();
  if (c == kNone) {
    best_ = select_needed(graph_, roots_, choice_);
    return;
  }
  const Cost paid = paid_;
  for (const NodeId n : alternatives(c)) {
    take(c, n);
    branch();
    take_back(c, n);
    paid_ = paid;
  }
}

Selection BranchAndBound::run(Selection incumbent) {
  best_ = std::move(incumbent);
  best_.optimal = false;
  if (graph_.classes() > kMostClasses) return std::move(best_);
  drop_dominated();
  compute_shares();
  for (const ClassId root : roots_) {
    ++refs_[root];
    needed_.push_back(root);
  }
  branch();
  best_.optimal = complete_;
  return std::move(best_);
}

}  // namespace lumen::egraph
