#include "lumen/search/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cmath>
#include <random>

#include "lumen/egraph/extract/dag.h"
#include "lumen/egraph/extract/flatten.h"
#include "lumen/egraph/extract/tree.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/view.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/decode.h"

namespace lumen {

using egraph::EGraph;
using egraph::Flattened;
using egraph::FlattenOptions;
using egraph::Selection;
using egraph::TableId;
using egraph::Value;

namespace {

using RowCost = std::function<double(TableId, std::span<const Value>)>;

Flattened flatten_terms(Saturated& saturated, const RowCost& cost) {
  FlattenOptions options;
  for (const Value root : saturated.roots()) options.roots.push_back({saturated.encoding().tensor_sort(), root});
  options.row_cost = cost;
  options.base_cost = 0;
  return flatten(saturated.egraph(), options);
}

// Of a view, or a contraction, that reads what is a view itself: one view would do. Such terms stay in the e-graph, as
// somewhere they may be all there is, but no program that can do without them is a candidate.
constexpr double kTwoViews = 1;

class RowCosts {
 public:
  RowCosts(Saturated& saturated, const OpCost& cost) : encoding_(saturated.encoding()), cost_(cost) {
    for (const TermOp& op : encoding_.ops()) {
      const bool is_view = op.op == &op_def<hlir::View>(), is_cast = op.op == &op_def<hlir::Cast>();
      if (!is_view && !is_cast) continue;
      saturated.egraph().for_each_row(op.table, [&](auto row, bool) {
        if (is_view) views_.insert(row.back());
        const std::optional<TensorType> from = is_cast ? encoding_.type_of(row.front()) : std::nullopt;
        if (from && widens_bytes(*op.op, *from)) bytes_.insert(row.back());
      });
    }
  }

  double operator()(TableId table, std::span<const Value> row) const {
    const TermOp& op = *encoding_.op_of(table);
    std::vector<TensorType> operands;
    for (const Value operand : row.first(op.operands)) {
      const std::optional<TensorType> type = encoding_.type_of(operand);
      if (!type) return egraph::kInfinite;
      operands.push_back(*type);
    }
    const std::optional<TensorType> type = encoding_.type_of(row.back());
    if (!type) return egraph::kInfinite;
    const FieldBuffer fields = encoding_.fields_of(op, row);
    const bool is_contract = op.op->family == OpFamily::contract;
    const auto read = row.first(op.operands);
    const bool of_bytes = is_contract && std::ranges::all_of(read, [&](Value each) { return bytes_.contains(each); });
    const double cost = cost_({*op.op, fields.data(), operands, *type, of_bytes});
    const bool looks = op.op->family == OpFamily::view || is_contract;
    const bool twice = looks && std::ranges::any_of(read, [&](Value each) { return views_.contains(each); });
    return twice ? cost + kTwoViews : cost;
  }

 private:
  const Encoding& encoding_;
  const OpCost& cost_;
  boost::unordered_flat_set<Value> views_;  // classes with a View among their terms
  boost::unordered_flat_set<Value> bytes_;  // with a Cast of floats of 8 bits
};

}  // namespace

double own_cost(double cost) { return std::fmod(cost, kTwoViews); }
bool is_avoided(double cost) { return cost >= kTwoViews; }

Flattened flatten_by(Saturated& saturated, const OpCost& cost) {
  return flatten_terms(saturated, RowCosts(saturated, cost));
}

Expected<std::vector<Candidate>> extract_best(Saturated& saturated, size_t k, const OpCost& cost,
                                              const ExtractEffort& effort) {
  egraph::DagOptions options;
  options.local_steps = effort.local_steps;
  options.exact_steps = effort.exact_steps;
  const Flattened flat = flatten_by(saturated, cost);
  std::vector<Selection> selections;
  if (k <= 1) {
    selections.push_back(dag_extract(flat.graph, flat.roots, options));
  } else {
    selections = k_best_selections(flat.graph, flat.roots, k, options, 4 * k);
  }
  std::vector<Candidate> result;
  for (const Selection& selection : selections) {
    if (selection.cost == egraph::kInfinite || selection.cost >= selections[0].cost + kTwoViews / 2) continue;
    std::vector<egraph::ClassId> classes;
    std::shared_ptr<Graph> graph = LUMEN_TRY(decode(saturated, flat, selection.choice, &classes));
    const bool known =
        std::any_of(result.begin(), result.end(), [&](const Candidate& c) { return c.graph->equals(*graph); });
    if (!known) result.push_back({std::move(graph), own_cost(selection.cost), std::move(classes)});
  }
  if (result.empty()) return error("no program could be taken out of the e-graph");
  return result;
}

Expected<std::shared_ptr<Graph>> extract_random(Saturated& saturated, uint64_t seed) {
  std::mt19937_64 random(seed);
  // Costs spread over orders of magnitude, so that longer ways are taken too.
  const Flattened flat = flatten_terms(saturated, [&](TableId, std::span<const Value>) {
    return static_cast<double>(uint64_t{1} << (random() % 32)) + static_cast<double>(random() % 256) / 256;
  });
  const egraph::TreeExtraction tree = tree_extract(flat.graph);
  return decode(saturated, flat, tree.choice);
}

}  // namespace lumen
