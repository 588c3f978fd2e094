#include "lumen/egraph/extract/local_search.h"

#include <algorithm>

#include "lumen/egraph/extract/tree.h"

namespace lumen::egraph {
namespace {

// What a tree extraction takes per node, in steps that follow one edge.
constexpr uint64_t kTreeSteps = 8;

}  // namespace

LocalSearch::LocalSearch(const FlatGraph& graph, std::span<const ClassId> roots, std::vector<NodeId> start,
                         uint64_t steps)
    : graph_(graph), roots_(roots.begin(), roots.end()), seen_(graph.classes(), 0), steps_left_(steps) {
  load(std::move(start));
}

// Takes over a choice for at least the classes that the roots need under it.
void LocalSearch::load(std::vector<NodeId> choice) {
  refs_.assign(graph_.classes(), 0);
  total_ = 0;
  choice_ = std::move(choice);
  for (const ClassId root : roots_) acquire(root);
  choose_unneeded();
}

std::vector<ClassId> LocalSearch::needed() const {
  std::vector<ClassId> order = needed_classes(graph_, roots_, choice_);
  std::ranges::reverse(order);
  return order;
}

// What is not needed gets the cheapest node, given that what is needed costs nothing more.
void LocalSearch::choose_unneeded() {
  std::vector<uint8_t> free(graph_.classes());
  for (ClassId c = 0; c < graph_.classes(); ++c) free[c] = refs_[c] > 0;
  TreeOptions options;
  options.free = free;
  const TreeExtraction tree = tree_extract(graph_, options);
  for (ClassId c = 0; c < graph_.classes(); ++c) {
    if (!free[c]) choice_[c] = tree.choice[c];
  }
  steps_left_ -= std::min<uint64_t>(steps_left_, kTreeSteps * graph_.nodes());
}

// Whether c would need itself if n computed it.
bool LocalSearch::makes_cycle(ClassId c, NodeId n) {
  ++stamp_;
  stack_.assign(graph_.children_of(n).begin(), graph_.children_of(n).end());
  while (!stack_.empty()) {
    const ClassId at = stack_.back();
    stack_.pop_back();
    if (at == c) return true;
    if (seen_[at] == stamp_) continue;
    seen_[at] = stamp_;
    steps_left_ -= std::min<uint64_t>(steps_left_, 1);
    const auto children = graph_.children_of(choice_[at]);
    stack_.insert(stack_.end(), children.begin(), children.end());
  }
  return false;
}

void LocalSearch::acquire(ClassId first) {
  stack_.assign(1, first);
  while (!stack_.empty()) {
    const ClassId c = stack_.back();
    stack_.pop_back();
    if (refs_[c]++ > 0) continue;
    total_ += graph_.cost[choice_[c]];
    const auto children = graph_.children_of(choice_[c]);
    stack_.insert(stack_.end(), children.begin(), children.end());
  }
}

void LocalSearch::release(ClassId first) {
  stack_.assign(1, first);
  while (!stack_.empty()) {
    const ClassId c = stack_.back();
    stack_.pop_back();
    if (--refs_[c] > 0) continue;
    total_ -= graph_.cost[choice_[c]];
    const auto children = graph_.children_of(choice_[c]);
    stack_.insert(stack_.end(), children.begin(), children.end());
  }
}

// Classes no longer needed keep their choice, so that changing back restores everything.
void LocalSearch::change(ClassId c, NodeId n) {
  const NodeId old = choice_[c];
  for (const ClassId child : graph_.children_of(n)) acquire(child);
  choice_[c] = n;
  total_ += graph_.cost[n] - graph_.cost[old];
  for (const ClassId child : graph_.children_of(old)) release(child);
}

// Takes the best node for one needed class, the rest staying as it is; true when that is an improvement.
bool LocalSearch::try_class(ClassId c) {
  const NodeId old = choice_[c];
  NodeId best = old;
  Cost best_total = total_;
  for (const NodeId n : graph_.nodes_of(c)) {
    if (n == old || makes_cycle(c, n)) continue;
    const Cost total_before = total_;
    change(c, n);
    if (better(total_, best_total)) {
      best = n;
      best_total = total_;
    }
    change(c, old);
    total_ = total_before;
  }
  if (best == old) return false;
  change(c, best);
  return true;
}

void LocalSearch::descend(ClassId frozen) {
  bool improved = true;
  while (improved && steps_left_ > 0) {
    improved = false;
    for (const ClassId c : needed()) {
      if (refs_[c] == 0 || c == frozen || steps_left_ == 0) continue;
      improved |= try_class(c);
    }
    if (improved) choose_unneeded();
  }
}

bool LocalSearch::kick() {
  const std::vector<NodeId> start = choice_;
  const Cost start_total = total_;
  for (const ClassId c : needed()) {
    for (const NodeId n : graph_.nodes_of(c)) {
      if (n == start[c] || makes_cycle(c, n)) continue;
      if (steps_left_ == 0) return false;
      change(c, n);
      choose_unneeded();
      descend(c);
      if (better(total_, start_total)) {
        descend(kNone);
        return true;
      }
      load(start);
    }
  }
  return false;
}

Selection LocalSearch::run() {
  descend(kNone);
  while (steps_left_ > 0 && kick()) {
  }
  return select_needed(graph_, roots_, choice_);
}

}  // namespace lumen::egraph
