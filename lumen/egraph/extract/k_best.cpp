#include "lumen/egraph/extract/k_best.h"

#include <algorithm>
#include <queue>

namespace lumen::egraph {
namespace {

// A node, and for each child which of the child's best terms stands there (0: its cheapest).
struct Derivation {
  NodeId node = 0;
  std::vector<uint32_t> ranks;
  Cost cost = 0;
};

// Terms of all classes are found in the order of their cost, as Dijkstra finds distances: the next best term of a class
// differs from one already found by the next worse term of one child, and waits until that child has it.
class KBest {
 public:
  KBest(const FlatGraph& graph, std::span<const ClassId> roots, size_t k, const TreeOptions& options)
      : graph_(graph), options_(options), k_(k), top_(static_cast<ClassId>(graph.classes())) {
    tops_.assign(roots.begin(), roots.end());
    found_.resize(graph.classes() + 1);
    waiting_.resize(graph.classes() + 1);
  }

  void run() {
    for (const NodeId n : reachable_nodes()) offer({n, std::vector<uint32_t>(graph_.children_of(n).size()), 0});
    offer({kNone, std::vector<uint32_t>(tops_.size()), 0});
    while (!queue_.empty() && found_[top_].size() < k_) {
      Derivation next = std::move(pool_[queue_.top().index]);
      queue_.pop();
      const ClassId c = owner(next.node);
      if (found_[c].size() == k_) continue;
      found_[c].push_back(next);
      wake(c);
      // Only from the last changed position on: every combination has one way to come up.
      size_t from = next.ranks.size();
      while (from > 0 && next.ranks[from - 1] == 0) --from;
      for (size_t i = from == 0 ? 0 : from - 1; i < next.ranks.size(); ++i) {
        Derivation successor = next;
        ++successor.ranks[i];
        offer(std::move(successor));
      }
    }
  }

  std::vector<RankedTerms> programs(Terms& terms, const NodeNamer& name) {
    made_.resize(found_.size());
    std::vector<RankedTerms> result;
    for (const Derivation& d : found_[top_]) {
      RankedTerms program{{}, d.cost};
      for (size_t i = 0; i < tops_.size(); ++i) program.roots.push_back(term(terms, name, tops_[i], d.ranks[i]));
      result.push_back(std::move(program));
    }
    return result;
  }

 private:
  struct Entry {
    Cost cost;
    uint32_t index;  // into pool_; earlier ones come first among equals
    bool operator<(const Entry& other) const { return cost != other.cost ? cost > other.cost : index > other.index; }
  };

  ClassId owner(NodeId n) const { return n == kNone ? top_ : graph_.node_class[n]; }
  std::span<const ClassId> children_of(NodeId n) const {
    return n == kNone ? std::span<const ClassId>(tops_) : graph_.children_of(n);
  }

  std::vector<NodeId> reachable_nodes() const {
    std::vector<uint8_t> seen(graph_.classes(), 0);
    std::vector<ClassId> stack;
    const auto visit = [&](ClassId c) {
      if (!seen[c]) stack.push_back(c);
      seen[c] = 1;
    };
    for (const ClassId c : tops_) visit(c);
    std::vector<NodeId> result;
    while (!stack.empty()) {
      const ClassId c = stack.back();
      stack.pop_back();
      for (const NodeId n : graph_.nodes_of(c)) {
        if (graph_.cost[n] == kInfinite) continue;
        result.push_back(n);
        for (const ClassId child : graph_.children_of(n)) visit(child);
      }
    }
    std::ranges::sort(result);
    return result;
  }

  // Queues a derivation whose children are all found; otherwise it waits for the first that is not.
  void offer(Derivation d) {
    const auto children = children_of(d.node);
    std::vector<Cost> costs;
    for (size_t i = 0; i < children.size(); ++i) {
      const std::vector<Derivation>& of_child = found_[children[i]];
      if (d.ranks[i] >= of_child.size()) {
        if (d.ranks[i] < k_) waiting_[children[i]].push_back(std::move(d));
        return;
      }
      costs.push_back(of_child[d.ranks[i]].cost);
    }
    d.cost = cost_of(d.node, costs);
    if (d.cost == kInfinite) return;
    queue_.push({d.cost, static_cast<uint32_t>(pool_.size())});
    pool_.push_back(std::move(d));
  }

  Cost cost_of(NodeId n, std::span<const Cost> child_costs) const {
    if (n != kNone) return combine_costs(graph_, n, child_costs, options_);
    Cost sum = 0;
    for (const Cost c : child_costs) sum = add_costs(sum, c);
    return sum;
  }

  void wake(ClassId c) {
    std::vector<Derivation> waiting = std::move(waiting_[c]);
    waiting_[c].clear();
    for (Derivation& d : waiting) offer(std::move(d));
  }

  // Children first, without recursion: terms can be very deep.
  TermId term(Terms& terms, const NodeNamer& name, ClassId root, uint32_t rank) {
    std::vector<std::pair<ClassId, uint32_t>> stack{{root, rank}};
    std::vector<TermId> arguments;
    while (!stack.empty()) {
      const auto [c, r] = stack.back();
      made_[c].resize(found_[c].size(), kNone);
      const Derivation& d = found_[c][r];
      const auto children = children_of(d.node);
      arguments.clear();
      bool ready = true;
      for (size_t i = 0; i < children.size(); ++i) {
        made_[children[i]].resize(found_[children[i]].size(), kNone);
        arguments.push_back(made_[children[i]][d.ranks[i]]);
        if (arguments.back() != kNone) continue;
        stack.push_back({children[i], d.ranks[i]});
        ready = false;
      }
      if (!ready) continue;
      made_[c][r] = name(terms, d.node, arguments);
      stack.pop_back();
    }
    return made_[root][rank];
  }

  const FlatGraph& graph_;
  const TreeOptions& options_;
  size_t k_;
  ClassId top_;  // stands for all roots together
  std::vector<ClassId> tops_;
  std::vector<std::vector<Derivation>> found_;  // by class, cheapest first
  std::vector<std::vector<Derivation>> waiting_;
  std::vector<Derivation> pool_;
  std::priority_queue<Entry> queue_;
  std::vector<std::vector<TermId>> made_;
};

}  // namespace

std::vector<RankedTerms> k_best_terms(const FlatGraph& graph, std::span<const ClassId> roots, size_t k, Terms& terms,
                                      const NodeNamer& name, const TreeOptions& options) {
  KBest search(graph, roots, k, options);
  search.run();
  return search.programs(terms, name);
}

}  // namespace lumen::egraph
