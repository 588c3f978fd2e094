#include "lumen/search/roll.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "lumen/backend/program.h"
#include "lumen/base/hash.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/reduce.h"
#include "lumen/search/group.h"
#include "lumen/search/row_sums.h"

namespace lumen::search {

namespace {

constexpr size_t kLeastPeriod = 12;  // ops: what is smaller may fuse with its neighbours
constexpr size_t kLeastTimes = 3;
constexpr size_t kMostPeriods = 64;  // tried

// A run of `times` repetitions of `period` ops from op `begin` on; `slack` more ops fit the pattern behind it.
struct LayerRun {
  size_t begin = 0, period = 0, times = 0, slack = 0;
  size_t end() const { return begin + period * times; }
  size_t saved() const { return times == 0 ? 0 : period * (times - 1); }
};

class Roller {
 public:
  Roller(const Graph& graph, bool leaves_norms)
      : reads_(graph), graph_(graph), dims_(typical_dims(graph)), leaves_norms_(leaves_norms) {
    std::vector<uint64_t> hashes(graph.size());
    for (const NodeId id : reads_.order()) {
      hashes[at(id)] = hash(id, hashes);
      if (!reads_.computes(id)) continue;
      ops_.push_back(id);
      labels_.push_back(hashes[at(id)]);
    }
    find_readers();
  }

  Expected<std::vector<Carved>> run() {
    cut(0, ops_.size());
    if (cuts_.empty()) return std::vector<Carved>();
    std::vector<Group> groups;
    size_t begin = 0;
    cuts_.push_back(ops_.size());
    std::ranges::sort(cuts_);
    for (const size_t end : cuts_) {
      if (end > begin) groups.emplace_back(ops_.begin() + std::ptrdiff_t(begin), ops_.begin() + std::ptrdiff_t(end));
      begin = std::max(begin, end);
    }
    return carve_all(graph_, parts_of(groups));
  }

 private:
  // Of what a node does, with the free nodes it reads but without the computed ones.
  uint64_t hash(NodeId id, std::span<const uint64_t> hashes) const {
    const Node& node = graph_[id];
    Hasher hasher;
    if (node.is<Input>()) return hasher.add(node.type.str()).value();
    hasher.add(node.op->hash(node.fields)).add(node.type.str());
    for (const NodeId operand : node.operands) {
      const bool inner = !reads_.computes(operand) && !graph_[operand].is<Input>();
      if (inner) {
        hasher.add(hashes[at(operand)]);
      } else {
        hasher.add(graph_[operand].type.str());
      }
    }
    return hasher.value();
  }

  void find_readers() {
    std::vector<size_t> place(graph_.size());
    for (size_t k = 0; k < ops_.size(); ++k) place[at(ops_[k])] = k;
    readers_.resize(ops_.size());
    for (size_t k = 0; k < ops_.size(); ++k) {
      for (const NodeId source : reads_.sources_of(ops_[k])) readers_[place[at(source)]].push_back(k);
    }
    for (const NodeId id : ops_) {
      const Expected<int64_t> bytes = graph_[id].type.bytes(dims_);
      bytes_.push_back(bytes.ok() ? static_cast<double>(*bytes) : 0);
    }
  }

  // Each group with what is free that it reads, and outputs that are free with the group that makes them.
  std::vector<std::vector<NodeId>> parts_of(const std::vector<Group>& groups) const {
    std::vector<std::vector<NodeId>> parts;
    std::vector<size_t> part(graph_.size());
    for (const Group& group : groups) {
      for (const NodeId id : group) part[at(id)] = parts.size();
      parts.push_back(reads_.with_free(with_masks(group)));
    }
    for (const Output& output : graph_.outputs()) {
      if (reads_.computes(output.value) || graph_[output.value].is<Input>()) continue;
      const std::vector<NodeId>& sources = reads_.sources_of(output.value);
      if (sources.empty()) parts.emplace_back();
      std::vector<NodeId>& to = sources.empty() ? parts.back() : parts[part[at(sources[0])]];
      for (const NodeId id : reads_.with_free({output.value})) {
        if (std::ranges::find(to, id) == to.end()) to.push_back(id);
      }
    }
    return parts;
  }

  // The group and the masks it reads: compared again from what they compare, which is smaller by far, they need not be
  // read, and a kernel sees by which bounds they leave elements out.
  Group with_masks(const Group& group) const {
    std::set<NodeId> all(group.begin(), group.end());
    for (const NodeId id : group) {
      for (const NodeId source : reads_.sources_of(id)) {
        Group ops;
        const bool is_mask = graph_[source].type.dtype == bool_ && !all.contains(source);
        if (is_mask && compares(source, elements(source) / kSmaller, ops)) all.insert(ops.begin(), ops.end());
      }
    }
    return {all.begin(), all.end()};
  }
  static constexpr double kSmaller = 16;

  // Whether a value is made of integers element by element, of values of at most so many elements; `ops` gets by what.
  bool compares(NodeId id, double small, Group& ops) const {
    const Node& node = graph_[id];
    if (elements(id) <= small || node.op->family == OpFamily::leaf) return !node.is<Input>() || elements(id) <= small;
    if (reads_.computes(id)) {
      if (!is_element_op(node) || is_float(node.type.dtype) || ops.size() >= kMostOfMask) return false;
      ops.push_back(id);
    }
    return std::ranges::all_of(node.operands, [&](NodeId operand) { return compares(operand, small, ops); });
  }
  static constexpr size_t kMostOfMask = 16;

  double elements(NodeId id) const {
    const Expected<int64_t> count = evaluate(graph_[id].type.shape.numel(), dims_);
    return count.ok() ? static_cast<double>(*count) : 0;
  }

  // Cuts what repeats most within [begin, end), then what is before, after and inside of it.
  void cut(size_t begin, size_t end) {
    const LayerRun found = best_run(begin, end);
    if (found.times < kLeastTimes) return;
    const LayerRun run = rotated(found);
    for (size_t k = 0; k <= run.times; ++k) cuts_.push_back(run.begin + k * run.period);
    cut(begin, run.begin);
    cut(run.end(), end);
    const size_t before = cuts_.size();
    cut(run.begin, run.begin + run.period);
    const std::vector<size_t> inside(cuts_.begin() + std::ptrdiff_t(before), cuts_.end());
    for (size_t k = 1; k < run.times; ++k) {
      for (const size_t each : inside) cuts_.push_back(each + k * run.period);
    }
  }

  LayerRun best_run(size_t begin, size_t end) const {
    LayerRun best;
    for (const size_t period : periods(begin, end)) {
      const LayerRun run = longest_run(begin, end, period);
      if (run.saved() > best.saved()) best = run;
    }
    return best;
  }

  // The distances at which equal labels stand, the most frequent first; of those the smallest first.
  std::vector<size_t> periods(size_t begin, size_t end) const {
    std::unordered_map<uint64_t, size_t> last;
    std::map<size_t, size_t> votes;
    for (size_t k = begin; k < end; ++k) {
      const auto [found, is_new] = last.emplace(labels_[k], k);
      if (!is_new && k - found->second >= kLeastPeriod) ++votes[k - found->second];
      found->second = k;
    }
    std::vector<std::pair<size_t, size_t>> sorted(votes.begin(), votes.end());
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &std::pair<size_t, size_t>::second);
    if (sorted.size() > kMostPeriods) sorted.resize(kMostPeriods);
    std::vector<size_t> result;
    for (const auto& [period, count] : sorted) result.push_back(period);
    std::ranges::sort(result);
    return result;
  }

  LayerRun longest_run(size_t begin, size_t end, size_t period) const {
    LayerRun best;
    size_t best_length = 0;
    for (size_t k = begin, length = 0; k + period < end; ++k) {
      length = labels_[k] == labels_[k + period] ? length + 1 : 0;
      if (length <= best_length) continue;
      best_length = length;
      const size_t all = length + period;
      best = {k + 1 - length, period, all / period, all % period};
    }
    return best;
  }

  // The same run from where a cut loses least.
  LayerRun rotated(LayerRun run) const {
    size_t best = 0;
    for (size_t shift = 1; shift <= run.slack; ++shift) {
      if (loss(run, shift) < loss(run, best)) best = shift;
    }
    run.begin += best;
    run.slack -= best;
    return run;
  }

  // Bytes that go from one repetition to the next, and might not if it were not cut here.
  double loss(const LayerRun& run, size_t shift) const {
    const size_t cut = run.begin + run.period + shift;
    double total = 0;
    for (size_t k = cut - run.period; k < cut; ++k) {
      bool fuses = false, crosses = false, stays = false;
      for (const size_t reader : readers_[k]) {
        crosses = crosses || reader >= cut;
        stays = stays || reader < cut;
        fuses = fuses || (reader >= cut && !feeds_contraction(reader));
      }
      if (crosses) total += bytes_[k] * (!fuses ? kApart : stays || is_row_of_norm(k) ? kShared : 1);
    }
    return total;
  }
  static constexpr double kApart = 0.1;   // a matrix product reads it from memory anyway
  static constexpr double kShared = 0.3;  // it is in memory anyway, for others

  // Of few rows, of which products make the norm themselves (row_sums.h): a cut behind the norm's sum would forbid it.
  bool is_row_of_norm(size_t op) const {
    return leaves_norms_ && std::ranges::any_of(readers_[op], [&](size_t reader) {
             const Node& node = graph_[ops_[reader]];
             return node.is<hlir::Mul>() && node.operands[0] == node.operands[1] && readers_[reader].size() == 1 &&
                    is_row_sum(graph_, ops_[readers_[reader][0]]);
           });
  }

  bool feeds_contraction(size_t op) const {
    return graph_[ops_[op]].is<hlir::Mul>() && !readers_[op].empty() &&
           std::ranges::all_of(readers_[op], [&](size_t r) { return graph_[ops_[r]].is<hlir::SumReduce>(); });
  }

  Reads reads_;
  const Graph& graph_;
  DimValues dims_;
  bool leaves_norms_;
  std::vector<NodeId> ops_;  // what computes, in order
  std::vector<uint64_t> labels_;
  std::vector<std::vector<size_t>> readers_;  // by op: ops
  std::vector<double> bytes_;                 // by op
  std::vector<size_t> cuts_;
};

}  // namespace

Expected<std::vector<Carved>> roll(const Graph& graph, const Target& target) {
  return Roller(graph, target.cuda).run();
}

}  // namespace lumen::search
