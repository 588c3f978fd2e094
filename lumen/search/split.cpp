#include "lumen/search/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lumen/base/log.h"
#include "lumen/kernel/carve.h"
#include "lumen/kernel/title.h"

namespace lumen::search {

namespace {

constexpr double kWorthIt = 0.97;       // two kernels must take less than this of what one takes
constexpr double kHopelessShare = 1.5;  // an estimate of more than this of the whole is not measured
constexpr size_t kMostCuts = 4;         // of one group, in one round
constexpr int kMostRounds = 3;

struct Cut {
  size_t group;
  Group before, after;
};

class Splitter {
 public:
  Splitter(const Reads& reads, Tuner& tuner, std::span<const Group> settled)
      : reads_(reads), graph_(reads.graph()), tuner_(tuner), settled_(settled.begin(), settled.end()) {}

  Expected<bool> round(std::vector<Group>& groups) {
    std::vector<Cut> cuts;
    for (size_t k = 0; k < groups.size(); ++k) {
      if (groups[k].size() > 1 && settled_.insert(groups[k]).second) find_cuts(groups[k], k, cuts);
    }
    if (cuts.empty()) return false;
    std::vector<std::shared_ptr<const Graph>> bodies;
    for (const Cut& cut : cuts) {
      for (const Group& part : {groups[cut.group], cut.before, cut.after}) bodies.push_back(body_of(part));
    }
    const std::vector<Tuned> tuned = LUMEN_TRY(tuner_.tune(bodies));
    std::vector<std::pair<double, size_t>> best(groups.size(), {kWorthIt, cuts.size()});  // ratio, cut
    for (size_t k = 0; k < cuts.size(); ++k) {
      const double ratio = (tuned[3 * k + 1].seconds + tuned[3 * k + 2].seconds) / tuned[3 * k].seconds;
      best[cuts[k].group] = std::min(best[cuts[k].group], {ratio, k});
    }
    note(cuts, bodies, tuned, best);
    bool changed = false;
    for (const auto& [ratio, k] : best) {
      if (k == cuts.size()) continue;
      LUMEN_LOG(2, fmt::format("split: two kernels take {:.2f} of one", ratio));
      groups[cuts[k].group] = cuts[k].before;
      groups.push_back(cuts[k].after);
      changed = true;
    }
    return changed;
  }

  Tries finish() { return std::move(tries_); }

 private:
  void note(std::span<const Cut> cuts, std::span<const std::shared_ptr<const Graph>> bodies,
            std::span<const Tuned> tuned, std::span<const std::pair<double, size_t>> best) {
    for (size_t k = 0; k < cuts.size(); ++k) {
      const auto title = [&](size_t part) { return kernel_title(*bodies[3 * k + part]); };
      tries_.cuts.push_back(
          {title(0), title(1), title(2), tuned[3 * k].seconds, tuned[3 * k + 1].seconds + tuned[3 * k + 2].seconds,
           !tuned[3 * k + 1].schedule.empty() && !tuned[3 * k + 2].schedule.empty(), best[cuts[k].group].second == k});
    }
  }

  std::shared_ptr<const Graph> body_of(const Group& group) const {
    return carve(graph_, reads_.with_free(group), reads_.results_of(group)).body;
  }

  void find_cuts(const Group& group, size_t number, std::vector<Cut>& cuts) {
    const std::set<NodeId> inside(group.begin(), group.end());
    std::set<Group> seen;
    size_t found = 0;
    bool hopeless = false;
    for (const NodeId id : group) {
      if (found == kMostCuts || !is_place_to_cut(id, inside)) continue;
      Cut cut{number, before(id, inside), {}};
      for (const NodeId each : group) {
        if (std::find(cut.before.begin(), cut.before.end(), each) == cut.before.end()) cut.after.push_back(each);
      }
      if (cut.after.empty() || !seen.insert(cut.before).second) continue;
      const double whole = tuner_.estimated(*body_of(group));
      if (tuner_.estimated(*body_of(cut.before)) + tuner_.estimated(*body_of(cut.after)) > kHopelessShare * whole) {
        hopeless = true;
        continue;
      }
      cuts.push_back(std::move(cut));
      ++found;
    }
    if (found == 0) tries_.whole.push_back({kernel_title(*body_of(group)), hopeless});
  }

  // A reduction or contraction that the group goes on from, what it contracts, what it repeats.
  bool is_place_to_cut(NodeId id, const std::set<NodeId>& inside) const {
    bool read = false;
    bool repeated = false;
    for (const NodeId reader : inside) {
      const std::vector<NodeId>& sources = reads_.sources_of(reader);
      if (std::find(sources.begin(), sources.end(), id) == sources.end()) continue;
      read = true;
      const Node& node = graph_[reader];
      const bool direct = std::find(node.operands.begin(), node.operands.end(), id) != node.operands.end();
      repeated = repeated || node.op->family == OpFamily::contract || !direct;
    }
    return read && (repeated || !graph_[id].op->is_elementwise());
  }

  // The node and what it needs of the group.
  Group before(NodeId id, const std::set<NodeId>& inside) const {
    std::set<NodeId> needed{id};
    std::vector<NodeId> open{id};
    while (!open.empty()) {
      const NodeId next = open.back();
      open.pop_back();
      for (const NodeId source : reads_.sources_of(next)) {
        if (inside.contains(source) && needed.insert(source).second) open.push_back(source);
      }
    }
    Group result(needed.begin(), needed.end());
    reads_.sort(result);
    return result;
  }

  const Reads& reads_;
  const Graph& graph_;
  Tuner& tuner_;
  Tries tries_;
  std::set<Group> settled_;  // groups that were looked at, or decided before
};

}  // namespace

Expected<Tries> split_slow_groups(const Reads& reads, Tuner& tuner, std::vector<Group>& groups,
                                  std::span<const Group> settled) {
  Splitter splitter(reads, tuner, settled);
  for (int round = 0; round < kMostRounds; ++round) {
    if (!LUMEN_TRY(splitter.round(groups))) break;
  }
  return splitter.finish();
}

}  // namespace lumen::search
