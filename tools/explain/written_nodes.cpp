#include "tools/explain/written_nodes.h"

#include <algorithm>
#include <map>
#include <set>

namespace lumen::tools {

namespace {

using egraph::ClassId;

class Finder {
 public:
  explicit Finder(const search::PartRecord& part)
      : body_(*part.body), chosen_(*part.lowered.program.graph), calls_(part.lowered.nodes) {
    if (!part.classes.written.empty()) {
      written_ = part.classes.written;
      taken_ = part.candidates[part.chosen].classes;
    } else if (chosen_.equals(body_)) {  // no rules were run: places in the order are as good as classes
      written_ = places(body_);
      taken_ = places(chosen_);
    }
    written_.resize(body_.size(), egraph::kNone);
    taken_.resize(chosen_.size(), egraph::kNone);
    for (const NodeId id : body_.order()) {
      if (written_[at(id)] != egraph::kNone) nodes_[written_[at(id)]].push_back(id);
    }
  }

  WrittenNodes run() const {
    WrittenNodes result;
    for (const ClassId c : taken_) result.equal.push_back(nodes_of(c));
    for (const std::vector<NodeId>& call : calls_) result.of_calls.push_back(computed_by(call));
    for (size_t k = calls_.size(); k-- > 0;) {
      if (result.of_calls[k].empty()) result.of_calls[k] = of_readers(k, result.of_calls);
    }
    return result;
  }

 private:
  static std::vector<ClassId> places(const Graph& graph) {
    std::vector<ClassId> result(graph.size(), egraph::kNone);
    ClassId next = 0;
    for (const NodeId id : graph.order()) result[at(id)] = next++;
    return result;
  }

  std::vector<NodeId> nodes_of(ClassId c) const {
    const auto found = nodes_.find(c);
    return found == nodes_.end() ? std::vector<NodeId>() : found->second;
  }

  std::vector<NodeId> in_order(const std::set<NodeId>& nodes) const {
    std::vector<NodeId> result = body_.order();
    std::erase_if(result, [&](NodeId id) { return !nodes.contains(id); });
    return result;
  }

  // What is not the call's own ends the way back: inputs, and what other calls compute.
  std::vector<NodeId> computed_by(const std::vector<NodeId>& call) const {
    std::set<ClassId> own, others;
    for (const NodeId id : call) own.insert(taken_[at(id)]);
    for (const NodeId id : chosen_.order()) {
      if (!own.contains(taken_[at(id)])) others.insert(taken_[at(id)]);
    }
    std::vector<NodeId> open;
    std::set<NodeId> seen;
    const auto visit = [&](NodeId id) {
      if (body_[id].is<Input>() || others.contains(written_[at(id)])) return;
      if (seen.insert(id).second) open.push_back(id);
    };
    for (const ClassId c : own) std::ranges::for_each(nodes_of(c), visit);
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      std::ranges::for_each(body_[id].operands, visit);
    }
    return in_order(seen);
  }

  std::vector<NodeId> of_readers(size_t call, const std::vector<std::vector<NodeId>>& of_calls) const {
    const std::set<NodeId> own(calls_[call].begin(), calls_[call].end());
    std::set<NodeId> result;
    for (size_t k = call + 1; k < calls_.size(); ++k) {
      const bool reads = std::ranges::any_of(calls_[k], [&](NodeId id) {
        return std::ranges::any_of(chosen_[id].operands, [&](NodeId operand) { return own.contains(operand); });
      });
      if (reads) result.insert(of_calls[k].begin(), of_calls[k].end());
    }
    return in_order(result);
  }

  const Graph& body_;
  const Graph& chosen_;
  const std::vector<std::vector<NodeId>>& calls_;
  std::vector<ClassId> written_, taken_;  // by node of each graph
  std::map<ClassId, std::vector<NodeId>> nodes_;
};

}  // namespace

WrittenNodes written_nodes(const search::PartRecord& part) { return Finder(part).run(); }

}  // namespace lumen::tools
