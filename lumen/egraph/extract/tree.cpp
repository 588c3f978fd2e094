#include "lumen/egraph/extract/tree.h"

#include <algorithm>
#include <cmath>

namespace lumen::egraph {
namespace {

// Nodes to look at again, taken in cyclic order.
class Agenda {
 public:
  explicit Agenda(size_t nodes) : words_((nodes + 63) / 64, 0), summary_((words_.size() + 63) / 64, 0) {}
  void add(NodeId n) {
    words_[n / 64] |= uint64_t{1} << (n % 64);
    summary_[n / 4096] |= uint64_t{1} << (n / 64 % 64);
  }
  // The first node at or after `from`, else the first of all; kNone when empty. It is taken out.
  NodeId take(NodeId from) {
    const NodeId found = first_at_or_after(from);
    return found != kNone || from == 0 ? found : first_at_or_after(0);
  }

 private:
  NodeId first_at_or_after(NodeId from) {
    size_t w = from / 64;
    if (w >= words_.size()) return kNone;
    const uint64_t here = words_[w] & (~uint64_t{0} << (from % 64));
    if (here != 0) return pop(w, here);
    ++w;
    for (size_t s = w / 64; s < summary_.size(); ++s) {
      const uint64_t mask = s == w / 64 ? ~uint64_t{0} << (w % 64) : ~uint64_t{0};
      if ((summary_[s] & mask) == 0) continue;
      const size_t word = s * 64 + static_cast<size_t>(__builtin_ctzll(summary_[s] & mask));
      return pop(word, words_[word]);
    }
    return kNone;
  }
  NodeId pop(size_t word, uint64_t bits) {
    const auto bit = static_cast<unsigned>(__builtin_ctzll(bits));
    words_[word] &= ~(uint64_t{1} << bit);
    if (words_[word] == 0) summary_[word / 64] &= ~(uint64_t{1} << (word % 64));
    return static_cast<NodeId>(word * 64 + bit);
  }
  std::vector<uint64_t> words_;
  std::vector<uint64_t> summary_;
};

class TreeSearch {
 public:
  TreeSearch(const FlatGraph& graph, const TreeOptions& options)
      : graph_(graph),
        options_(options),
        parents_(graph),
        cost_(graph.classes(), kInfinite),
        rank_(graph.classes(), 0),
        via_(graph.classes(), kNone) {}

  TreeExtraction run() {
    relax_all();
    TreeExtraction result;
    choose_by_rank(result);
    if (!complete(result)) choose_grounded(result);
    for (ClassId c = 0; c < graph_.classes(); ++c) {
      if (result.choice[c] == kNone && !is_free(c)) cost_[c] = kInfinite;
    }
    result.cost = std::move(cost_);
    return result;
  }

 private:
  bool is_free(ClassId c) const { return !options_.free.empty() && options_.free[c]; }

  Cost evaluate(NodeId n) {
    const auto children = graph_.children_of(n);
    if (!options_.cost) {
      Cost sum = graph_.cost[n];
      for (const ClassId c : children) sum += cost_[c];
      return add_costs(sum, 0);
    }
    scratch_.clear();
    for (const ClassId c : children) scratch_.push_back(cost_[c]);
    return combine_costs(graph_, n, scratch_, options_);
  }

  // True when the node's class got cheaper.
  bool relax(NodeId n) {
    const Cost cost = evaluate(n);
    const ClassId owner = graph_.node_class[n];
    if (!(cost < cost_[owner])) return false;
    cost_[owner] = cost;
    rank_[owner] = ++clock_;
    via_[owner] = n;
    return true;
  }

  // Rounds over all nodes until nothing improves, leaving out those whose children are as they were.
  void relax_all() {
    Agenda agenda(graph_.nodes());
    std::vector<uint32_t> missing(graph_.nodes());  // children without a cost so far
    for (NodeId n = 0; n < graph_.nodes(); ++n) {
      missing[n] = static_cast<uint32_t>(graph_.children_of(n).size());
      if (missing[n] == 0) agenda.add(n);
    }
    const auto changed = [&](ClassId c, bool first) {
      for (const NodeId parent : parents_.of(c)) {
        missing[parent] -= first;
        if (missing[parent] == 0) agenda.add(parent);
      }
    };
    for (ClassId c = 0; c < options_.free.size(); ++c) {
      if (!options_.free[c]) continue;
      cost_[c] = 0;
      changed(c, true);
    }
    for (NodeId n = agenda.take(0); n != kNone; n = agenda.take(n)) {
      const ClassId owner = graph_.node_class[n];
      const bool first = cost_[owner] == kInfinite;
      if (relax(n)) changed(owner, first);
    }
  }

  bool is_tight(NodeId n) {
    const Cost cost = evaluate(n);
    return cost != kInfinite && cost == cost_[graph_.node_class[n]];
  }

  void choose_by_rank(TreeExtraction& result) {
    result.choice.assign(graph_.classes(), kNone);
    for (NodeId n = 0; n < graph_.nodes(); ++n) {
      const ClassId owner = graph_.node_class[n];
      // The node that lowered the cost last is tight, so later ones cannot be the first.
      if (n > via_[owner] || result.choice[owner] != kNone || !is_tight(n)) continue;
      uint32_t newest = 0;
      for (const ClassId c : graph_.children_of(n)) newest = std::max(newest, rank_[c]);
      if (newest < rank_[owner]) result.choice[owner] = n;
    }
  }

  bool complete(const TreeExtraction& result) const {
    for (ClassId c = 0; c < graph_.classes(); ++c) {
      if (cost_[c] != kInfinite && result.choice[c] == kNone && !is_free(c)) return false;
    }
    return true;
  }

  // Where costs do not always rise with the children's (maxima, saturation), ranks can leave a class without a choice.
  void choose_grounded(TreeExtraction& result) {
    result.choice.assign(graph_.classes(), kNone);
    Agenda agenda(graph_.nodes());
    for (NodeId n = 0; n < graph_.nodes(); ++n) agenda.add(n);
    for (NodeId n = agenda.take(0); n != kNone; n = agenda.take(n)) {
      const ClassId owner = graph_.node_class[n];
      if (result.choice[owner] != kNone || is_free(owner) || !is_tight(n)) continue;
      const auto settled = [&](ClassId c) { return is_free(c) || result.choice[c] != kNone; };
      if (!std::ranges::all_of(graph_.children_of(n), settled)) continue;
      result.choice[owner] = n;
      for (const NodeId parent : parents_.of(owner)) agenda.add(parent);
    }
  }

  const FlatGraph& graph_;
  const TreeOptions& options_;
  Parents parents_;
  std::vector<Cost> cost_;      // by class
  std::vector<uint32_t> rank_;  // by class: when its cost was last lowered
  std::vector<NodeId> via_;     // by class: and by which node
  std::vector<Cost> scratch_;
  uint32_t clock_ = 0;
};

}  // namespace

TreeExtraction tree_extract(const FlatGraph& graph, const TreeOptions& options) {
  return TreeSearch(graph, options).run();
}

Cost combine_costs(const FlatGraph& graph, NodeId node, std::span<const Cost> child_costs, const TreeOptions& options) {
  Cost sum = graph.cost[node];
  Cost most = 0;
  for (const Cost c : child_costs) {
    sum = add_costs(sum, c);
    most = std::max(most, c);
  }
  if (!options.cost || sum == kInfinite) return sum;
  const Cost given = options.cost(graph, node, child_costs);
  return std::isnan(given) ? kInfinite : std::max(most, add_costs(given, 0));
}

}  // namespace lumen::egraph
