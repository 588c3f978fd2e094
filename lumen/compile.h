// compile(): from a graph to something that runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/ir/graph.h"
#include "lumen/runtime/session.h"
#include "lumen/runtime/variants.h"
#include "lumen/search/group.h"
#include "lumen/search/saturate.h"

namespace lumen {

using search::FusionPolicy;

enum class BackendKind : uint8_t { reference, cpu };

struct CompileOptions {
  BackendKind backend = BackendKind::cpu;
  FusionPolicy fusion = FusionPolicy::profile;
  bool rewrite = true;               // search for other programs that compute the same
  bool measure = true;               // time kernels, and keep the times; else estimate them
  bool verify = true;                // compare what was found with the reference
  std::vector<std::string> c_flags;  // for the C compiler, after Lumen's own
  bool progress = false;             // a live line on a terminal
  // "seq=1,2-64": a program for each range of a symbolic dim. Without any, one serves all sizes.
  std::vector<std::string> buckets;

  // LUMEN_BACKEND and LUMEN_FUSION.
  static CompileOptions from_flags();
};

// What the search did.
struct CompileReport {
  SaturateReport rules;   // of the part that took most
  size_t parts = 0;       // that the graph was cut into, as it repeats itself
  size_t distinct = 0;    // of these, which were compiled
  size_t candidates = 0;  // programs that were lowered
  int64_t measured = 0;   // kernels that were timed
  double expected = 0;    // seconds that the kernels take together
  double rolling = 0, rewriting = 0, lowering = 0, building = 0, verifying = 0;  // seconds
};

struct Compiled {
  std::shared_ptr<const Graph> graph;
  std::vector<Variant> variants;  // one for each bucket, or one
  CompileReport report;           // of all of them together
};

// For the CPU, as data: to be saved (runtime/program_file.h), looked at, or run. Throws lumen::Error when the graph is
// not valid or the machine lacks what is needed.
Compiled compile_for_cpu(const Graph& graph, const CompileOptions& options = CompileOptions::from_flags());

Session make_session(Compiled compiled);

// The graph is copied: what is added to it later is not in the Session. Throws as above.
Session compile(const Graph& graph, const CompileOptions& options = CompileOptions::from_flags());

// Many at once: their kernels are compiled together. They are not verified.
std::vector<Session> compile_all(std::span<const Graph* const> graphs,
                                 const CompileOptions& options = CompileOptions::from_flags());

}  // namespace lumen
