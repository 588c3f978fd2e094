#include "lumen/egraph/core/trace.h"

#include <algorithm>

namespace lumen::egraph {

namespace {

template <class T>
T& at_least(std::vector<T>& items, size_t index) {
  if (items.size() <= index) items.resize(index + 1);
  return items[index];
}

}  // namespace

Value Trace::row_id(TableId table, Row row) const {
  return table < row_ids.size() && row < row_ids[table].size() ? row_ids[table][row] : kNone;
}

void Trace::set_row_id(TableId table, Row row, Value id) {
  std::vector<Value>& ids = at_least(row_ids, table);
  if (ids.size() <= row) ids.resize(row + 1, kNone);
  ids[row] = id;
}

void Trace::add_origin(SortId sort, Value id, TableId table, std::span<const Value> args, const Reason& reason) {
  Origin& origin = at_least(at_least(sorts, sort).origins, id);
  origin = {table, static_cast<uint32_t>(origin_args.size()), reason};
  origin_args.insert(origin_args.end(), args.begin(), args.end());
}

void Trace::add_edge(SortId sort, Value from, Value to, const Reason& reason) {
  std::vector<Edge>& edges = at_least(sorts, sort).edges;
  if (edges.size() <= std::max(from, to)) edges.resize(std::max(from, to) + 1);
  // Turn the path from `from` to its root around, so that `from` is a root and can point to `to`.
  Edge next{to, reason, false};
  for (Value at = from; at != kNone;) {
    Edge old = edges[at];
    edges[at] = next;
    next = {at, old.reason, !old.reversed};
    at = old.to;
  }
}

}  // namespace lumen::egraph
