// Graphs to look at without a file: what models are made of, each alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "lumen/ir/graph.h"

namespace lumen::debug {

struct DebugCase {
  std::string_view name;  // "layer-norm"
  std::string_view doc;
  void (*build)(Graph& graph, int64_t size);
};

std::span<const DebugCase> debug_cases();

// `size` is about how many elements the first input has. An error names what there is.
Expected<std::shared_ptr<Graph>> make_case(std::string_view name, int64_t size);

}  // namespace lumen::debug
