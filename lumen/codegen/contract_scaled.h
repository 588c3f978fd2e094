// Weights in quantised blocks are scales times small integers. A sum of products keeps the scale outside:
//
//   Σ (scale * q[i5]) * x[i5]  =  scale * Σ q[i5] * x[i5]
//
// The integers of a block are computed into an array of bytes, which vector instructions multiply.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lumen/codegen/contract_roles.h"
#include "lumen/codegen/contract_types.h"

namespace lumen {

// A value of a graph at coordinates.
struct Spot {
  NodeId node{};
  std::vector<Expr> at;
};

// What a chain of views shows at a spot. Nothing when one of them has a fill or may read outside.
std::optional<Spot> under_views(const Graph& graph, Spot spot);

// A run of the summed axis (contract_runs.h), in which the factor is scale * (integer + offset).
struct ScaledRun {
  Spot scale;    // the same all along the run
  Spot integer;  // over i5; with the offset it is -128 … 127
  int64_t offset = 0;
};

// A factor at a spot, over the variable of a run; nothing when it is something else.
std::optional<ScaledRun> scaled_run(const Graph& graph, const Spot& factor, Expr variable);

// A run in which the factor is that, plus what is the same all along.
struct RaisedRun {
  ScaledRun scaled;
  Spot base;
};
std::optional<RaisedRun> raised_run(const Graph& graph, const Spot& factor, Expr variable);

struct ScaledRuns {
  int64_t length = 0;
  std::vector<ScaledRun> turns;
  bool one_scale = false;  // for all turns
  bool faults = false;     // an element may have none (element.h)

  int64_t turn_length() const { return length * static_cast<int64_t>(turns.size()); }
  // Elements that have a scale in common.
  int64_t block() const { return one_scale ? turn_length() : length; }
};

// Nothing when the factor has no runs, or is something else in them.
std::optional<ScaledRuns> scaled_runs(const ContractRoles& roles, const FactorIn& factor);

// What multiplies a block of bytes. `x` is floats, or 16-bit integers when `is_fixed`. The text has lane_words()
// (contract_lanes.h), and for a kernel `name`:
//   name_dots     name_sums (name_sums, const int8_t* q, const x*, float scale): what a block adds
//   name_fix      void (const float* from, x* to, float* scale): a block of x as integers, when is_fixed; in an order
//                 that name_dots knows
std::string scaled_words(const std::string& name, int64_t block, bool is_fixed);

}  // namespace lumen
