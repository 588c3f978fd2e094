// Terms as text, for reports.
#pragma once

#include <string>

#include "lumen/egraph/core/egraph.h"

namespace lumen::egraph {

// The term an id was made for, when the e-graph is traced; else `ClassName#id`. Below `depth` parts are `...`.
std::string traced_term_text(const EGraph& graph, SortId sort, Value value, int depth = 40);

}  // namespace lumen::egraph
