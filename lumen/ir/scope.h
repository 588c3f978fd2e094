// Which expressions may occur in a graph, so that its text reads back to the same objects.
//
//   dims         are declared by the graph, with the same bounds
//   coordinates  occur in a View, over its own shape, and in an Expr field, over the shape of the last Shape
//                field before it in the same op
//   shapes       have at most kMaxRank dims, no coordinates, no constant dim below 0, and an element count that 64
//                bits can hold (when it is constant)
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/ir/op.h"

namespace lumen {

inline constexpr int64_t kMaxRank = 16;

// The dims in the fields of an op and in a shape: what a graph must declare to hold it. Appends; may name a dim twice.
void collect_dims(const OpDef& op, const void* fields, std::vector<Expr>& dims);
void collect_dims(const Shape& shape, std::vector<Expr>& dims);

// The checks of one graph; remembers what it has seen, as the same few shapes and views occur all over a graph.
class Scope {
 public:
  explicit Scope(const Graph& graph) : graph_(graph) {}

  // Messages start with "[op] ".
  Expected<void> check(const OpDef& op, const void* fields);
  Expected<void> check(const OpDef& op, const Shape& shape);

 private:
  Expected<void> check(std::string_view op, Expr e, const Shape& extents);
  Expected<void> check(std::string_view op, const View& view);
  Expected<void> check_shape(std::string_view op, const Shape& shape);
  Expected<void> check_variable(std::string_view op, Expr e, Expr variable, const Shape& extents) const;

  const Graph& graph_;
  boost::unordered_flat_set<std::pair<uintptr_t, uintptr_t>> seen_;  // handles found good: (expr, extents), (shape, 0)
};

}  // namespace lumen
