#include "lumen/search/rewrite.h"

namespace lumen {

Expected<Rewritten> rewrite(const Graph& graph, const RewriteOptions& options) {
  Saturated saturated = LUMEN_TRY(saturate(graph, options.saturate));
  Rewritten result;
  const OpCost cost = options.cost ? options.cost : roofline();
  result.candidates = LUMEN_TRY(extract_best(saturated, options.candidates, cost));
  result.report = saturated.report();
  return result;
}

}  // namespace lumen
