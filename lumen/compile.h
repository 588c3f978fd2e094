// compile(): from a graph to something that runs.
#pragma once

#include "lumen/ir/graph.h"
#include "lumen/runtime/session.h"
#include "lumen/search/group.h"

namespace lumen {

using search::FusionPolicy;

enum class BackendKind : uint8_t { reference, cpu };

struct CompileOptions {
  BackendKind backend = BackendKind::cpu;
  FusionPolicy fusion = FusionPolicy::profile;

  bool rewrite = true;               // search for other programs that compute the same
  bool measure = true;               // time kernels, and keep the times; else estimate them
  std::vector<std::string> c_flags;  // for the C compiler, after Lumen's own

  // LUMEN_BACKEND and LUMEN_FUSION.
  static CompileOptions from_flags();
};

// The graph is copied: what is added to it later is not in the Session. Throws lumen::Error when it is not valid, or
// the machine lacks what the backend needs.
Session compile(const Graph& graph, const CompileOptions& options = CompileOptions::from_flags());

// Many at once: their kernels are compiled together.
std::vector<Session> compile_all(std::span<const Graph* const> graphs,
                                 const CompileOptions& options = CompileOptions::from_flags());

}  // namespace lumen
