// Terms: what extraction hands out. Equal terms are stored once, so a term takes the space of its DAG.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/egraph/extract/flat_graph.h"

namespace lumen::egraph {

using TermId = uint32_t;

class Terms {
 public:
  Terms() = default;
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;

  TermId atom(std::string_view text);                                     // printed as it is: 1, "a", x
  TermId call(std::string_view head, std::span<const TermId> arguments);  // printed as (head arguments...)

  bool is_atom(TermId term) const { return terms_[term].atom; }
  const std::string& head(TermId term) const { return heads_[terms_[term].head]; }
  std::span<const TermId> arguments(TermId term) const {
    return {arguments_.data() + terms_[term].start, terms_[term].count};
  }
  size_t size() const { return terms_.size(); }

  // The whole tree, on one line. It can be exponentially longer than the DAG: at most `limit` characters of it are
  // printed, then "...".
  std::string text(TermId term, size_t limit = size_t{1} << 30) const;

 private:
  struct Entry {
    uint32_t head = 0;
    uint32_t start = 0;
    uint32_t count = 0;
    bool atom = false;
  };
  TermId add(std::string_view head, std::span<const TermId> arguments, bool atom);
  bool matches(TermId term, uint32_t head, std::span<const TermId> arguments, bool atom) const;

  std::vector<std::string> heads_;
  boost::unordered_flat_map<std::string, uint32_t> head_ids_;
  std::vector<Entry> terms_;
  std::vector<TermId> arguments_;
  boost::unordered_flat_map<uint64_t, std::vector<TermId>> by_hash_;
};

// Makes the term of a node from its children's.
using NodeNamer = std::function<TermId(Terms&, NodeId, std::span<const TermId> children)>;

// For graphs made by hand: (n3 ...).
NodeNamer numbered_nodes();

// Makes the terms of classes under `choice` (by class); what they need must have a choice, without cycles. Remembers
// the terms it made. All references must outlive it.
class TermBuilder {
 public:
  TermBuilder(Terms& terms, const FlatGraph& graph, std::span<const NodeId> choice, NodeNamer name)
      : terms_(terms), graph_(graph), choice_(choice), name_(std::move(name)), made_(graph.classes(), kNone) {}
  TermId of_class(ClassId c);
  TermId of_node(NodeId n);

 private:
  Terms& terms_;
  const FlatGraph& graph_;
  std::span<const NodeId> choice_;
  NodeNamer name_;
  std::vector<TermId> made_;  // by class
};

}  // namespace lumen::egraph
