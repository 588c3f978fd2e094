#include "lumen/egraph/report/proof_forest.h"

#include <algorithm>
#include <utility>

#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

ProofForest::ProofForest(const EGraph& graph, GivenTime given_time)
    : graph_(graph), trace_(*graph.state().trace), given_time_(std::move(given_time)) {}

std::vector<Value> ProofForest::path_to_root(SortId sort, Value id) const {
  std::vector<Value> ids{id};
  if (sort >= trace_.sorts.size()) return ids;
  const std::vector<Trace::Edge>& edges = trace_.sorts[sort].edges;
  while (id < edges.size() && edges[id].to != kNone) {
    id = edges[id].to;
    ids.push_back(id);
  }
  return ids;
}

std::vector<Value> ProofForest::path(SortId sort, Value from, Value to) const {
  std::vector<Value> up = path_to_root(sort, from);
  std::vector<Value> down = path_to_root(sort, to);
  if (up.back() != down.back()) return {};
  while (up.size() > 1 && down.size() > 1 && up[up.size() - 2] == down[down.size() - 2]) {
    up.pop_back();
    down.pop_back();
  }
  up.insert(up.end(), down.rbegin() + 1, down.rend());
  return up;
}

ProofForest::Step ProofForest::step(SortId sort, Value from, Value to) const {
  const std::vector<Trace::Edge>& edges = trace_.sorts[sort].edges;
  const bool against = from >= edges.size() || edges[from].to != to;  // the way it is stored
  const Trace::Edge& edge = edges[against ? to : from];
  return {&edge.reason, edge.reversed != against};
}

uint32_t ProofForest::time(SortId sort, Value a, Value b) {
  if (a == b || graph_.sorts()[sort].kind != SortKind::eq) return 0;
  const std::vector<Value> ids = path(sort, a, b);
  if (ids.empty()) return kNone;
  uint32_t latest = 0;
  for (size_t i = 1; i < ids.size(); ++i) latest = std::max(latest, step_time(sort, ids[i - 1], ids[i]));
  return latest;
}

uint32_t ProofForest::step_time(SortId sort, Value from, Value to) {
  const std::vector<Trace::Edge>& edges = trace_.sorts[sort].edges;
  const Value child = from < edges.size() && edges[from].to == to ? from : to;
  const uint64_t key = uint64_t{sort} << 32 | child;
  if (const auto at = times_.find(key); at != times_.end()) return at->second;
  const Step step = this->step(sort, from, to);
  uint32_t time = 0;
  if (step.reason->kind == Reason::Kind::rule) {
    time = step.reason->firing + 1;
  } else if (step.reason->kind == Reason::Kind::given) {
    time = step.backwards ? given_time_(sort, to, from) : given_time_(sort, from, to);
  } else {
    const Trace::Origin& left = trace_.sorts[sort].origins[from];
    const Trace::Origin& right = trace_.sorts[sort].origins[to];
    const std::vector<SortId>& params = graph_.table(step.reason->table).params;
    for (size_t i = 0; i < params.size(); ++i) {
      const Value a = trace_.origin_args[left.start + i];
      const Value b = trace_.origin_args[right.start + i];
      time = std::max(time, this->time(params[i], a, b));
    }
  }
  times_.emplace(key, time);
  return time;
}

}  // namespace lumen::egraph
