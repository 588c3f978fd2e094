// Variants: programs for parts of a graph's sizes, and one executable that picks among them.
//
//   --bucket seq=1,2-64,65-512     a program for seq = 1, one for 2 to 64, one for 65 to 512
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/backend/device.h"

namespace lumen {

struct DimRange {
  std::string dim;
  int64_t lo = 0;
  int64_t hi = 0;  // included
};

// "seq=2-64", with spaces between several; empty for none.
std::string text_of(const std::vector<DimRange>& ranges);

// "seq=1,2-64": the ranges of one dim, ascending, within its bounds in the graph.
Expected<std::vector<DimRange>> parse_buckets(std::string_view text, const Graph& graph);

// Every choice of one range for each dim that has some; one empty choice when there are none.
std::vector<std::vector<DimRange>> combinations(const std::vector<std::vector<DimRange>>& buckets);

// The graph with these bounds for its dims, so that everything known about sizes is known to the compiler.
Expected<std::shared_ptr<Graph>> restricted(const Graph& graph, const std::vector<DimRange>& ranges);

struct Variant {
  std::vector<DimRange> where;  // dims without a range may be anything
  Binary binary;
};

// Runs the first variant that the dims fit; sizes that fit none are an error that lists what there is.
using Loader = std::function<Expected<std::unique_ptr<Executable>>(Binary)>;
Expected<std::unique_ptr<Executable>> make_executable(std::vector<Variant> variants, const Graph& graph,
                                                      const Loader& load);

}  // namespace lumen
