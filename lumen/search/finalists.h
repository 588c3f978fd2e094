// Finalists: whole programs of one graph against each other. The tuner times kernels alone; what they do to each
// other's caches, and what a call costs, shows only when all run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lumen/backend/device.h"
#include "lumen/base/trace.h"
#include "lumen/search/tuning_db.h"

namespace lumen::search {

struct FinalistOptions {
  DimValues dims;          // what symbolic dims are measured at
  TuningDb* db = nullptr;  // remembers who won; null: measured anew
  Trace* trace = nullptr;
};

struct Finalists {
  size_t fastest = 0;           // the first, unless another one is clearly faster
  std::vector<double> seconds;  // of each; empty when they are the same, or do not run on random inputs
};
Expected<Finalists> race_programs(std::span<const Program* const> programs, const Device& device,
                                  const FinalistOptions& options);

// Of all that a program does.
std::string program_hash(const Program& program);

}  // namespace lumen::search
