#include "tools/fusion_grid.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace lumen::tools {

using search::FusionShape;

std::vector<FusionShape> fusion_grid(bool quick, int64_t most_tokens) {
  const std::vector<int64_t> widths =
      quick ? std::vector<int64_t>{2048} : std::vector<int64_t>{2048, 4096, 11008, 14336};
  std::vector<FusionShape> shapes;
  for (const int64_t width : widths) {
    for (int64_t seq = 16; seq <= (quick ? 512 : most_tokens); seq *= quick ? 32 : 2) shapes.push_back({1, seq, width});
    for (int64_t batch = 1; batch <= (quick ? 8 : 32); batch *= quick ? 8 : 2) shapes.push_back({batch, 1, width});
  }
  return shapes;
}

Expected<std::vector<FusionShape>> parse_fusion_shapes(const std::string& text) {
  std::vector<FusionShape> shapes;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    FusionShape shape;
    const char* at = part.data();
    const char* const end = part.data() + part.size();
    while (shape.size() < 3) {
      int64_t dim = 0;
      const auto [next, status] = std::from_chars(at, end, dim);
      if (status != std::errc() || dim < 1 || dim > (int64_t{1} << 30)) break;
      shape.push_back(dim);
      at = next;
      if (shape.size() < 3 && at != end && *at == 'x') ++at;
    }
    if (shape.size() != 3 || at != end) return error(fmt::format("--shapes: \"{}\" is no BATCHxSEQxWIDTH", part));
    shapes.push_back(shape);
  }
  if (shapes.empty()) return error("--shapes: there are none");
  return shapes;
}

}  // namespace lumen::tools
