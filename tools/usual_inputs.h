// Dims and inputs for programs that are run to be timed.
#pragma once

#include <span>
#include <string>

#include "lumen/runtime/session.h"

namespace lumen::tools {

// As NAME=N says, else of usual size.
Expected<DimValues> usual_dims(std::span<const std::string> texts, const Graph& graph);
// Random values for all inputs but state.
void fill_inputs(Session& session, const DimValues& dims);

}  // namespace lumen::tools
