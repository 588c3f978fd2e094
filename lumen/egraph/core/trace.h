// Trace: how every term came to be and why classes were merged; recorded only when asked for (EGraph::enable_tracing).
// explain.h turns it into a chain of equalities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

// Why two ids are equal, or where a term comes from.
struct Reason {
  enum class Kind : uint8_t {
    given,       // an action outside rules
    rule,        // an action of `rule`, for the match `firing`
    congruence,  // two rows of `table` whose arguments had become equal
  };
  Kind kind = Kind::given;
  RuleId rule = kNone;
  uint32_t firing = kNone;  // index in Trace::firings
  TableId table = kNone;
};

struct Trace {
  // A match that was applied: in firing_values from `start` on, for each atom of the rule the id its row was made for
  // (kNone for rows that are no terms).
  struct Firing {
    RuleId rule;
    uint32_t start;
    uint32_t atoms;
  };
  std::vector<Firing> firings;
  std::vector<Value> firing_values;

  // The term an id was made for: table(arguments).
  struct Origin {
    TableId table = kNone;
    uint32_t start = 0;  // in origin_args
    Reason reason;
  };
  // A merge, as an edge between the two ids it was asked for; edges of a sort form a forest whose paths are proofs.
  struct Edge {
    Value to = kNone;
    Reason reason;
    bool reversed = false;  // the merge was asked for as (to, from)
  };
  struct SortTrace {
    std::vector<Origin> origins;  // by id
    std::vector<Edge> edges;      // by id: towards the root of its tree
  };
  std::vector<SortTrace> sorts;  // by sort
  std::vector<Value> origin_args;
  std::vector<std::vector<Value>> row_ids;  // by table and row: the id the row was made for

  Value row_id(TableId table, Row row) const;
  void set_row_id(TableId table, Row row, Value id);
  void add_origin(SortId sort, Value id, TableId table, std::span<const Value> args, const Reason& reason);
  void add_edge(SortId sort, Value from, Value to, const Reason& reason);
};

}  // namespace lumen::egraph
