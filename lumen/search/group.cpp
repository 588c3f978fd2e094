#include "lumen/search/group.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "lumen/hlir/cast.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/loop.h"
#include "lumen/hlir/view.h"

namespace lumen::search {

namespace {

constexpr size_t kNone = ~size_t{0};

bool is_free(const Node& node) { return node.is<hlir::View>() || node.is<hlir::Constant>() || node.is<hlir::Iota>(); }

// Stored, it would take more memory than what it comes from, or as much; and a contraction multiplies narrow operands
// faster.
bool is_widening(const Graph& graph, const Node& node) {
  if (node.is<hlir::Bitcast>()) return true;
  return node.is<hlir::Cast>() && info(graph[node.operands[0]].type.dtype).bits < info(node.type.dtype).bits;
}

class Grouper {
 public:
  Grouper(const Reads& reads, const Accepts& accepts) : reads_(reads), graph_(reads.graph()), accepts_(accepts) {
    group_of_.assign(graph_.size(), kNone);
    for (const NodeId id : reads.order()) {
      if (!reads.computes(id)) continue;
      group_of_[at(id)] = groups_.size();
      groups_.push_back({id});
    }
    merge_loops();
  }

  // Until no two groups that feed each other can be merged, nor what is between two contractions.
  std::vector<Group> run() {
    do {
      while (merge_pairs()) {
      }
    } while (merge_chains());
    std::erase_if(groups_, [](const Group& each) { return each.empty(); });
    return std::move(groups_);
  }

 private:
  bool merge_pairs() {
    bool changed = false;
    for (const NodeId id : reads_.order()) {
      if (!reads_.computes(id)) continue;
      for (const NodeId source : reads_.sources_of(id)) changed = try_merge(source, id) || changed;
    }
    return changed;
  }

  // Two contractions and all that leads from one to the other: attention, of which no two parts are a kernel.
  bool merge_chains() {
    bool changed = false;
    for (size_t last = 0; last < groups_.size(); ++last) {
      if (!has_contraction(last)) continue;
      const std::vector<size_t> before = near_before(last);
      for (const size_t first : before) {
        if (!has_contraction(first) || !refused_chains_.insert({groups_[first], groups_[last]}).second) continue;
        const std::vector<size_t> parts = between(first, last, before);
        if (parts.empty()) continue;
        Group all;
        for (const size_t part : parts) all.insert(all.end(), groups_[part].begin(), groups_[part].end());
        reads_.sort(all);
        if (!accepts_(all)) continue;
        for (const size_t part : parts) {
          if (part != first) absorb(first, part);
        }
        changed = true;
        break;
      }
    }
    return changed;
  }

  bool has_contraction(size_t group) const {
    return std::ranges::any_of(groups_[group], [&](NodeId id) { return graph_[id].op->family == OpFamily::contract; });
  }

  std::set<size_t> sources_of(size_t group) const {
    std::set<size_t> sources;
    for (const NodeId id : groups_[group]) {
      for (const NodeId source : reads_.sources_of(id)) sources.insert(group_of_[at(source)]);
    }
    sources.erase(group);
    return sources;
  }

  // The groups that this one needs, by way of a few others: the nearest first.
  std::vector<size_t> near_before(size_t group) const {
    constexpr int kMostSteps = 4;
    std::vector<size_t> found, open{group};
    for (int step = 0; step < kMostSteps; ++step) {
      std::vector<size_t> next;
      for (const size_t each : open) {
        for (const size_t source : sources_of(each)) {
          if (source != group && std::ranges::find(found, source) == found.end()) {
            found.push_back(source);
            next.push_back(source);
          }
        }
      }
      open = std::move(next);
    }
    return found;
  }

  // Both, and of `before` what needs the first one: the last one needs all of it. Nothing when that is not all.
  std::vector<size_t> between(size_t first, size_t last, const std::vector<size_t>& before) const {
    const auto needs_first = [&](size_t each) {
      return each != first && (sources_of(each).contains(first) || depends_indirectly(each, first));
    };
    std::vector<size_t> parts{first, last};
    std::ranges::copy_if(before, std::back_inserter(parts), needs_first);
    for (const size_t part : parts) {
      for (const size_t source : sources_of(part)) {
        if (std::ranges::find(parts, source) == parts.end() && needs_first(source)) return {};
      }
    }
    return parts;
  }

  void merge_loops() {
    std::vector<NodeId> loops;
    for (const NodeId id : reads_.order()) {
      if (!graph_[id].is<hlir::Loop>()) continue;
      const auto same = std::find_if(loops.begin(), loops.end(), [&](NodeId other) { return is_same_loop(id, other); });
      if (same == loops.end()) {
        loops.push_back(id);
      } else {
        absorb(group_of_[at(*same)], group_of_[at(id)]);
      }
    }
  }

  bool is_same_loop(NodeId a, NodeId b) const {
    hlir::Loop left = graph_[a].as<hlir::Loop>();
    left.result = graph_[b].as<hlir::Loop>().result;
    return std::ranges::equal(graph_[a].operands, graph_[b].operands) &&
           op_def<hlir::Loop>().equal(&left, graph_[b].fields);
  }

  bool try_merge(NodeId source, NodeId reader) {
    const size_t from = group_of_[at(source)];
    const size_t into = group_of_[at(reader)];
    const auto pair = std::minmax(from, into);
    if (from == into || refused_.contains(pair) || depends_indirectly(into, from)) return false;
    Group both = groups_[from];
    both.insert(both.end(), groups_[into].begin(), groups_[into].end());
    reads_.sort(both);
    if (!accepts_(both)) {
      refused_.insert(pair);
      return false;
    }
    absorb(from, into);
    return true;
  }

  void absorb(size_t into, size_t from) {
    for (const NodeId id : groups_[from]) group_of_[at(id)] = into;
    groups_[into].insert(groups_[into].end(), groups_[from].begin(), groups_[from].end());
    groups_[from].clear();
    reads_.sort(groups_[into]);
    // A changed group may be merged where it could not be before.
    std::erase_if(refused_, [&](const auto& pair) { return pair.first == into || pair.second == into; });
  }

  // Whether `group` needs `target` by way of a third group: then they cannot be one.
  bool depends_indirectly(size_t group, size_t target) const {
    const size_t floor = reads_.position(groups_[target].front());  // nothing before it can need it
    std::set<size_t> seen;
    std::vector<size_t> open;
    const auto enter = [&](size_t next) {
      if (next != group && next != target && seen.insert(next).second) open.push_back(next);
    };
    for (const NodeId id : groups_[group]) {
      for (const NodeId source : reads_.sources_of(id)) enter(group_of_[at(source)]);
    }
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      if (reads_.position(groups_[next].back()) < floor) continue;
      for (const NodeId id : groups_[next]) {
        for (const NodeId source : reads_.sources_of(id)) {
          if (group_of_[at(source)] == target) return true;
          enter(group_of_[at(source)]);
        }
      }
    }
    return false;
  }

  const Reads& reads_;
  const Graph& graph_;
  const Accepts& accepts_;
  std::vector<size_t> group_of_;                 // by node; kNone for what does not compute
  std::vector<Group> groups_;                    // empty when merged into another
  std::set<std::pair<size_t, size_t>> refused_;  // pairs that have not changed since
  std::set<std::pair<Group, Group>> refused_chains_;
};

}  // namespace

Reads::Reads(const Graph& graph, std::span<const NodeId> left)
    : graph_(graph),
      left_(left.begin(), left.end()),
      order_(graph.order()),
      position_(graph.size()),
      computes_(graph.size()),
      is_result_(graph.size()),
      sources_(graph.size()),
      readers_(graph.size()) {
  for (size_t k = 0; k < order_.size(); ++k) position_[at(order_[k])] = k;
  std::vector<bool> is_output(graph.size()), is_left(graph.size());
  for (const NodeId id : left_) is_left[at(id)] = true;
  for (const Output& output : graph.outputs()) is_output[at(output.value)] = true;
  for (const NodeId id : order_) {
    const Node& node = graph[id];
    const bool free = is_free(node) || (is_widening(graph, node) && !is_output[at(id)]) || is_left[at(id)];
    computes_[at(id)] = !node.is<Input>() && !free;
    std::vector<NodeId>& sources = sources_[at(id)];
    for (const NodeId operand : node.operands) {
      if (computes_[at(operand)]) {
        sources.push_back(operand);
      } else {
        sources.insert(sources.end(), sources_[at(operand)].begin(), sources_[at(operand)].end());
      }
    }
    // What was just computed is what one would rather not store.
    std::sort(sources.begin(), sources.end(), [&](NodeId a, NodeId b) { return position(a) > position(b); });
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    if (!computes_[at(id)]) continue;
    for (const NodeId source : sources) readers_[at(source)].push_back(id);
  }
  for (const Output& output : graph.outputs()) {
    is_result_[at(output.value)] = true;
    if (computes_[at(output.value)]) continue;
    for (const NodeId source : sources_of(output.value)) is_result_[at(source)] = true;
  }
}

void Reads::sort(Group& group) const {
  std::sort(group.begin(), group.end(), [&](NodeId a, NodeId b) { return position(a) < position(b); });
}

std::vector<NodeId> Reads::results_of(const Group& group) const {
  const std::set<NodeId> inside(group.begin(), group.end());
  std::vector<NodeId> results;
  for (const NodeId id : group) {
    const std::vector<NodeId>& readers = readers_[at(id)];
    const bool read = std::any_of(readers.begin(), readers.end(), [&](NodeId each) { return !inside.contains(each); });
    if (read || is_result_[at(id)]) results.push_back(id);
  }
  return results;
}

std::vector<NodeId> Reads::with_free(const Group& group) const {
  std::set<NodeId> inside(group.begin(), group.end());
  std::vector<NodeId> open = group;
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (const NodeId operand : graph_[id].operands) {
      const bool free = !computes_[at(operand)] && !graph_[operand].is<Input>();
      if (free && inside.insert(operand).second) open.push_back(operand);
    }
  }
  std::vector<NodeId> all(inside.begin(), inside.end());
  sort(all);
  return all;
}

std::vector<std::vector<NodeId>> Reads::parts_of(std::span<const Group> groups) const {
  std::vector<std::vector<NodeId>> parts;
  for (const Output& output : graph_.outputs()) {
    const bool free = !computes_[at(output.value)] && !graph_[output.value].is<Input>();
    if (free) parts.push_back(with_free({output.value}));
  }
  for (const Group& each : groups) parts.push_back(with_free(each));
  return parts;
}

std::vector<Group> group(const Reads& reads, const Accepts& accepts) { return Grouper(reads, accepts).run(); }

}  // namespace lumen::search
