// Value: what a column of a table holds. 32 bits whose meaning its sort knows (sort.h): an e-class id, a small integer,
// or the index of an interned value. Two values of one sort are equal exactly when their bits are.
#pragma once

#include <cstdint>

namespace lumen::egraph {

using Value = uint32_t;
using SortId = uint32_t;
using TableId = uint32_t;
using PrimitiveId = uint32_t;
using RuleId = uint32_t;
using RulesetId = uint32_t;
using Row = uint32_t;  // position of a row in its table; later rows are newer

// Never a value of any sort, nor an id of anything.
inline constexpr uint32_t kNone = 0xffffffff;

}  // namespace lumen::egraph
