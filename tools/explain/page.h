// The page of `lumen explain`: one HTML file that needs nothing else.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lumen::tools {

// `data` is {"limits": …, "programs": [one, or two to compare]}, of program_data.h. What is shown is in the fragment of
// the address: #tab=graph&part=1&view=chosen&select=12&search=Exp2&program=1.
std::string explain_page(const std::string& title, const nlohmann::json& data);

}  // namespace lumen::tools
