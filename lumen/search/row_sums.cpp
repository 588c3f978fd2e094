#include "lumen/search/row_sums.h"

#include <algorithm>
#include <optional>
#include <set>

#include "lumen/codegen/element_ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/reduce.h"
#include "lumen/kernel/contract.h"

namespace lumen::search {

namespace {

constexpr int64_t kMostRows = 64;  // heads of a token, too
constexpr size_t kMostOps = 24;    // of a norm

// The squares that are summed, if nobody else needs them.
std::optional<NodeId> squares_of(const Reads& reads, NodeId sum) {
  const NodeId id = reads.graph()[sum].operands[0];
  const Node& node = reads.graph()[id];
  const bool squares = node.is<hlir::Mul>() && node.operands[0] == node.operands[1];
  const bool alone = reads.computes(id) && !reads.is_result(id) && reads.readers_of(id).size() == 1;
  return squares && alone ? std::optional(id) : std::nullopt;
}

std::vector<NodeId> norm_of(const Reads& reads, NodeId sum) {
  const std::optional<NodeId> squares = squares_of(reads, sum);
  if (!squares) return {};
  std::set<NodeId> norm{*squares, sum};
  std::set<NodeId> known = norm;  // and the row
  for (const NodeId id : reads.sources_of(*squares)) known.insert(id);
  const auto is_own = [&](NodeId reader) {
    const auto is_known = [&](NodeId source) { return known.contains(source); };
    return is_element_op(reads.graph()[reader]) && std::ranges::all_of(reads.sources_of(reader), is_known);
  };
  std::vector<NodeId> open{sum};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (reads.is_result(id) || norm.size() > kMostOps) return {};
    for (const NodeId reader : reads.readers_of(id)) {
      if (!is_own(reader) || !norm.insert(reader).second) continue;
      known.insert(reader);
      open.push_back(reader);
    }
  }
  std::vector<NodeId> all(norm.begin(), norm.end());
  reads.sort(all);
  return all;
}

}  // namespace

bool is_row_sum(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const std::optional<int64_t> rows = node.type.shape.numel().constant();
  return node.is<hlir::SumReduce>() && node.type.dtype == f32 && rows && *rows >= 1 && *rows <= kMostRows;
}

std::vector<std::vector<NodeId>> row_norms(const Reads& reads) {
  std::vector<std::vector<NodeId>> found;
  for (const NodeId id : reads.order()) {
    if (!is_row_sum(reads.graph(), id) || !reads.computes(id)) continue;
    if (std::vector<NodeId> norm = norm_of(reads, id); !norm.empty()) found.push_back(std::move(norm));
  }
  return found;
}

bool serve_row_norms(const Reads& reads, std::span<const Group> groups, const Accepts& accepts) {
  const auto reads_rows = [&](NodeId id) {
    const OpFamily family = reads.graph()[id].op->family;
    return family == OpFamily::contract || family == OpFamily::scatter;
  };
  return std::ranges::all_of(groups, [&](const Group& group) {
    const std::vector<NodeId> all = reads.with_free(group);
    const auto is_left = [&](NodeId id) {
      return reads.graph()[id].op->family == OpFamily::reduce && !reads.computes(id);
    };
    return std::ranges::none_of(all, is_left) || (std::ranges::any_of(group, reads_rows) && accepts(group));
  });
}

}  // namespace lumen::search
