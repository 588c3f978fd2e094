// The terms of an explanation. A node is a term together with an id of the trace it is congruent to: its arguments are
// equal to those that the id was made for, but may be written otherwise.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/core/trace.h"
#include "lumen/egraph/extract/term.h"

namespace lumen::egraph {

using NodeIndex = uint32_t;

struct ProofNode {
  SortId sort = 0;
  Value value = 0;        // of eq sorts: the id
  TableId table = kNone;  // kNone: not a call, or one that was not traced
  std::vector<NodeIndex> args;
  TermId term = 0;  // how it is written; equal for nodes that look the same
};

class ProofTerms {
 public:
  // Of a traced e-graph.
  explicit ProofTerms(EGraph& graph);

  const ProofNode& operator[](NodeIndex node) const { return nodes_[node]; }
  // The term an id was made for; values of other sorts stand for themselves.
  NodeIndex of(SortId sort, Value value);
  // table(args), congruent to `id`.
  NodeIndex call(TableId table, std::vector<NodeIndex> args, Value id);
  // The same term, congruent to another id.
  NodeIndex relabel(NodeIndex node, Value id);

  // Ids made for the table and for arguments in the same classes, oldest first.
  std::span<const Value> made_for(TableId table, std::span<const NodeIndex> args);

  // Null when the id was made before the trace began.
  const Trace::Origin* origin(SortId sort, Value id) const;
  Value origin_arg(const Trace::Origin& origin, size_t i) const { return trace_.origin_args[origin.start + i]; }

  Terms& terms() { return terms_; }

 private:
  using Key = std::vector<Value>;
  std::vector<std::pair<SortId, Value>> parts(SortId sort, Value value) const;
  void build(SortId sort, Value value, std::span<const std::pair<SortId, Value>> parts);
  static uint64_t place(SortId sort, Value value) { return uint64_t{sort} << 32 | value; }

  EGraph& graph_;
  const Trace& trace_;
  Terms terms_;
  std::vector<ProofNode> nodes_;
  boost::unordered_flat_map<uint64_t, NodeIndex> known_;
  boost::unordered_flat_map<Key, std::vector<Value>, boost::hash<Key>> made_;  // by table and classes of the arguments
};

}  // namespace lumen::egraph
