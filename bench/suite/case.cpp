#include "bench/suite/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace lumen::bench {

std::shared_ptr<Graph> Case::graph() const {
  auto graph = std::make_shared<Graph>();
  build(*graph);
  return graph;
}

ValueRange Case::range_of(std::string_view input, DType input_dtype) const {
  for (const auto& [name, range] : ranges) {
    if (name == input) return range;
  }
  return is_float(input_dtype) ? ValueRange{-1, 1} : ValueRange{-8, 7};
}

int64_t count_bytes(const TensorType& type) { return storage_bytes(type.dtype, type.shape.numel().constant().value()); }

double least_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const NodeId id : graph.inputs()) bytes += count_bytes(graph[id].type);
  for (const Output& output : graph.outputs()) bytes += count_bytes(graph[output.value].type);
  return static_cast<double>(bytes);
}

Expected<std::vector<Case>> choose(std::vector<Case> cases, const CaseChoice& choice) {
  if (!choice.dtype.empty() && !parse_dtype(choice.dtype)) return error(fmt::format("no dtype `{}`", choice.dtype));
  std::regex only;
  try {
    only = std::regex(choice.only);
  } catch (const std::regex_error& wrong) {
    return error(fmt::format("`{}` is not a regular expression: {}", choice.only, wrong.what()));
  }
  const auto left_out = [&](const Case& c) {
    return (choice.quick && !c.quick) || (!choice.dtype.empty() && name(c.dtype) != choice.dtype) ||
           !std::regex_search(c.name(), only);
  };
  std::erase_if(cases, left_out);
  if (!cases.empty()) return cases;
  std::string asked = choice.only.empty() ? "" : fmt::format(" with a name like `{}`", choice.only);
  if (!choice.dtype.empty()) asked += fmt::format(" of {}", choice.dtype);
  return error(fmt::format("no case{}{}", choice.quick ? " of --quick" : "", asked));
}

}  // namespace lumen::bench
