// What a kernel has to do at least: the numbers that its time is measured against.
#pragma once

#include <optional>

#include "lumen/ir/graph.h"

namespace lumen {

struct Work {
  // Of every input as much as is read, of every output what is written: once each. A gather reads what it gives, and a
  // scatter into state touches what it changes.
  double bytes = 0;
  // Elementwise ops, sums and products count 1 each, computed once; views, casts and constants nothing.
  double flops = 0;
  // What its contractions multiply, when it has any: in bf16 also where both factors were that before they were cast.
  std::optional<DType> matrix = {};
};

// Of a body at these sizes; dims that are missing count as 1.
Work work_of(const Graph& body, const DimValues& dims);

}  // namespace lumen
