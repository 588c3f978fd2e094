#include "lumen/kernel/reduce_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lumen/base/clock.h"
#include "lumen/kernel/graph_edit.h"

namespace lumen {

namespace {

// How much there is to read: ops, then sizes. Something is smaller only if this is.
struct Weight {
  int64_t ops = 0;
  double sizes = 0;
  auto operator<=>(const Weight&) const = default;
};

Weight weight_of(const Graph& graph) {
  Weight weight{static_cast<int64_t>(graph.outputs().size() + graph.dims().size()), 0};
  for (const NodeId id : graph.order()) {
    const OpFamily family = graph[id].op->family;
    weight.ops += family == OpFamily::leaf ? 1 : family == OpFamily::view ? 2 : 3;
    for (const Expr& dim : graph[id].type.shape) {
      weight.sizes += static_cast<double>(dim.constant().value_or(0));
    }
  }
  for (const Expr& dim : graph.dims()) weight.sizes += static_cast<double>(dim.dim_bounds().second);
  return weight;
}

class Reducer {
 public:
  Reducer(std::shared_ptr<const Graph> graph, const Interesting& interesting, const ReduceOptions& options)
      : best_(std::move(graph)), weight_(weight_of(*best_)), interesting_(interesting), options_(options) {}

  Expected<Reduced> run() {
    ++tried_;
    if (!LUMEN_TRY(interesting_(best_))) {
      return error("the graph is not interesting to begin with: there is nothing to keep while it shrinks");
    }
    bool changed = true;
    while (changed && !at_limit()) {
      const Weight before = weight_;
      LUMEN_TRY(drop_outputs());
      LUMEN_TRY(raise_outputs());
      LUMEN_TRY(cut_values());
      LUMEN_TRY(skip_values());
      LUMEN_TRY(shrink_sizes());
      changed = weight_ < before;
    }
    return Reduced{best_, tried_, !at_limit()};
  }

 private:
  bool at_limit() const { return tried_ >= options_.tries || seconds_now() - start_ > options_.seconds; }

  // Takes the graph if it is smaller and interesting.
  Expected<bool> attempt(const std::shared_ptr<const Graph>& graph) {
    if (graph == nullptr || graph->outputs().empty() || at_limit()) return false;
    const Weight weight = weight_of(*graph);
    if (!(weight < weight_) || !seen_.insert(graph->hash()).second) return false;
    ++tried_;
    const bool interesting = LUMEN_TRY(interesting_(graph));
    if (interesting) {
      best_ = graph;
      weight_ = weight;
    }
    if (options_.on_try) options_.on_try(best_, tried_);
    return interesting;
  }

  Expected<bool> attempt(const GraphEdit& edit) { return attempt(edited(*best_, edit)); }

  // Chunks of `count` things that go at once: halves, quarters, down to single ones. What `make` was called with is
  // numbered in the graph as it is at the call; a success starts anew with what is left.
  Expected<void> in_chunks(const std::function<size_t()>& count,
                           const std::function<GraphEdit(size_t begin, size_t end)>& make) {
    for (size_t chunk = std::max<size_t>(1, count() / 2); chunk > 0; chunk /= 2) {
      for (size_t begin = 0; begin < count() && !at_limit();) {
        const bool gone = LUMEN_TRY(attempt(make(begin, std::min(begin + chunk, count()))));
        if (!gone) begin += chunk;
      }
    }
    return {};
  }

  Expected<void> drop_outputs() {
    return in_chunks([&] { return best_->outputs().size(); },
                     [&](size_t begin, size_t end) {
                       GraphEdit edit(*best_);
                       for (size_t k = begin; k < end; ++k) edit.kept[k] = false;
                       return edit;
                     });
  }

  // An output becomes what it is made of.
  Expected<void> raise_outputs() {
    for (size_t k = 0; k < best_->outputs().size(); ++k) {
      bool raised = true;
      while (raised) {
        raised = false;
        const std::span<const NodeId> operands = (*best_)[best_->outputs()[k].value].operands;
        for (const NodeId operand : std::vector(operands.begin(), operands.end())) {
          GraphEdit edit(*best_);
          edit.outputs[k] = operand;
          raised = LUMEN_TRY(attempt(edit));
          if (raised) break;
        }
      }
    }
    return {};
  }

  std::vector<NodeId> computed() const {
    std::vector<NodeId> nodes;
    for (const NodeId id : best_->order()) {
      if (!(*best_)[id].is<Input>()) nodes.push_back(id);
    }
    return nodes;
  }

  // Values that are given from outside need nothing that makes them.
  Expected<void> cut_values() {
    return in_chunks([&] { return computed().size(); },
                     [&](size_t begin, size_t end) {
                       const std::vector<NodeId> nodes = computed();
                       GraphEdit edit(*best_);
                       edit.become_inputs.insert(nodes.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 nodes.begin() + static_cast<std::ptrdiff_t>(end));
                       return edit;
                     });
  }

  // A value becomes one of its operands.
  Expected<void> skip_values() {
    for (size_t k = 0; k < computed().size(); ++k) {
      const NodeId id = computed()[k];
      const std::span<const NodeId> operands = (*best_)[id].operands;
      for (const NodeId operand : std::vector(operands.begin(), operands.end())) {
        if ((*best_)[operand].type != (*best_)[id].type) continue;
        GraphEdit edit(*best_);
        edit.instead.emplace(id, operand);
        if (LUMEN_TRY(attempt(edit))) {
          k = k == 0 ? 0 : k - 1;
          break;
        }
      }
    }
    return {};
  }

  Expected<void> shrink_sizes() {
    bool shrunk = true;
    while (shrunk && !at_limit()) {
      shrunk = false;
      for (const std::shared_ptr<const Graph>& smaller : with_smaller_sizes(*best_)) {
        shrunk = LUMEN_TRY(attempt(smaller));
        if (shrunk) break;
      }
    }
    return {};
  }

  std::shared_ptr<const Graph> best_;
  Weight weight_;
  const Interesting& interesting_;
  const ReduceOptions& options_;
  std::set<uint64_t> seen_;  // hashes of graphs that were asked about
  size_t tried_ = 0;
  const double start_ = seconds_now();
};

}  // namespace

Expected<Reduced> reduce_graph(std::shared_ptr<const Graph> graph, const Interesting& interesting,
                               const ReduceOptions& options) {
  return Reducer(std::move(graph), interesting, options).run();
}

}  // namespace lumen
