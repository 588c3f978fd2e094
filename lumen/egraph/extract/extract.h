// Extraction from an EGraph: values as terms.
//
//   Extractor extractor(egraph, {{{sort, value}}});
//   if (auto best = extractor.best(sort, value)) print(best->text);
//
// For DAG costs, exact extraction and the k best programs: flatten.h, then dag.h, k_best.h and term.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lumen/egraph/extract/flatten.h"
#include "lumen/egraph/extract/tree.h"

namespace lumen::egraph {

struct ExtractOptions {
  FlattenOptions flatten = {};
  TreeOptions tree = {};
};

struct Extracted {
  std::string text;
  Cost cost = 0;
};

// The cheapest terms by tree cost, of a rebuilt e-graph as it was when the extractor was made.
class Extractor {
 public:
  explicit Extractor(EGraph& egraph, const ExtractOptions& options = {});
  Extractor(const Extractor&) = delete;
  Extractor& operator=(const Extractor&) = delete;

  // The cheapest term of a value; none when it has no finite term (all its nodes are subsumed or unextractable).
  std::optional<Extracted> best(SortId sort, Value value);

  // (name args...), each argument being its cheapest term, whether or not there is such a row.
  std::optional<Extracted> call(TableId table, std::span<const Value> args);

  // One term per node of a value's class, the node's children being their cheapest; at most n, cheapest first, among
  // equals by name, then by the values of the arguments. Of base values and containers only the best.
  std::vector<Extracted> variants(SortId sort, Value value, size_t n);

  const Flattened& flat() const { return flat_; }
  const TreeExtraction& tree() const { return tree_; }
  Terms& terms() { return terms_; }
  // The term that best() prints.
  std::optional<std::pair<TermId, Cost>> best_term(SortId sort, Value value);

 private:
  std::optional<std::pair<TermId, Cost>> container_best(SortId sort, Value value);
  std::vector<std::pair<NodeId, Cost>> ranked_nodes(ClassId c) const;

  EGraph& egraph_;
  ExtractOptions options_;
  Flattened flat_;
  TreeExtraction tree_;
  Terms terms_;
  TermBuilder builder_;
};

}  // namespace lumen::egraph
