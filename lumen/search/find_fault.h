// Who is to blame for a program that does not compute its graph.
#pragma once

#include <memory>
#include <string>

#include "lumen/backend/device.h"

namespace lumen::search {

// A sentence that names the rule, or else the kernel, that is wrong, and the file with the smallest graph that shows
// it; or says that neither is wrong on its own. Looks for some seconds at most.
Expected<std::string> find_fault(const std::shared_ptr<const Graph>& graph, const Binary& binary, const Device& device);

}  // namespace lumen::search
