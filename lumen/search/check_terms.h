// Whether rules have made terms that no graph can have.
#pragma once

#include "lumen/search/encode.h"

namespace lumen {

// An error for the first term that the op's infer refuses, or whose type is not that of its class. It names the rule
// that made the term when the e-graph is traced.
Expected<void> check_terms(egraph::EGraph& graph, const Encoding& encoding);

}  // namespace lumen
