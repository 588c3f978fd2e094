// Finding the rows of a table that hold an id which is no representative any more: the first step of every rebuild.
#pragma once

#include <span>
#include <vector>

#include "lumen/egraph/core/table.h"
#include "lumen/egraph/core/union_find.h"

namespace lumen::egraph {

// A column of a table and the classes of its sort.
struct IdColumn {
  uint32_t column;
  const UnionFind* ids;
};

// Appends the live rows of [from, to) with a stale id in one of the columns, ascending.
void find_stale_rows(const Table& table, std::span<const IdColumn> columns, Row from, Row to, GrowArray<Row>& found);

}  // namespace lumen::egraph
