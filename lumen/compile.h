// compile(): from a graph to something that runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/backend/device.h"
#include "lumen/base/trace.h"
#include "lumen/ir/graph.h"
#include "lumen/runtime/session.h"
#include "lumen/runtime/variants.h"
#include "lumen/search/fusion_guide.h"
#include "lumen/search/group.h"
#include "lumen/search/record.h"
#include "lumen/search/saturate.h"

namespace lumen {

using search::FusionPolicy;

enum class BackendKind : uint8_t { reference, cpu, cuda };

struct CompileOptions {
  BackendKind backend = BackendKind::cpu;
  int device = 0;           // which GPU
  int64_t most_memory = 0;  // bytes that may be used of its memory; 0 for all
  FusionPolicy fusion = FusionPolicy::profile;
  std::string fusion_profile = {};         // a file that decides what FusionPolicy::profile else measures
  bool fusion_profile_of_another = false;  // its times may be another machine's
  search::FusionGates fusion_gates = {};   // likewise for that policy
  bool rewrite = true;                     // search for other programs that compute the same
  bool measure = true;                     // time kernels, and keep the times; else estimate them
  bool verify = true;                      // compare what was found with the reference
  std::vector<std::string> c_flags;        // for the C compiler, after Lumen's own
  bool progress = false;                   // a live line on a terminal
  std::string dump = {};                   // a folder for what every stage decided; search/stage_files.h
  std::string overrides = {};              // a folder of edited ones to take instead
  // "seq=1,2-64": a program for each range of a symbolic dim. Without any, one serves all sizes.
  std::vector<std::string> buckets;
  // Sizes at which kernels are timed, where the usual ones (about 512) say little of what the program is for.
  DimValues typical;
  Trace* trace = nullptr;  // gets the stages and what was measured
  // Gets one for each distinct part of each bucket: what was found, and what lost. Costs time and memory.
  std::vector<search::PartRecord>* record = nullptr;

  // Gets every decision whether to fuse, with its numbers.
  std::vector<search::FusionDecision>* fusion_log = nullptr;

  // LUMEN_BACKEND, LUMEN_FUSION, LUMEN_FUSION_PROFILE, LUMEN_DUMP and LUMEN_OVERRIDE.
  static CompileOptions from_flags();
  // "cpu", "reference", "cuda" or "cuda:1".
  Expected<void> set_backend(std::string_view text);
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
  std::shared_ptr<const Device> device;
  std::vector<Variant> variants;  // one for each bucket, or one
  CompileReport report;           // of all of them together
};

// As data: to be saved (runtime/program_file.h), looked at, or run. Throws lumen::Error when the graph is
// not valid or the machine lacks what is needed.
Compiled compile_program(const Graph& graph, const CompileOptions& options = CompileOptions::from_flags());

Session make_session(Compiled compiled);

// The graph is copied: what is added to it later is not in the Session. Throws as above.
Session compile(const Graph& graph, const CompileOptions& options = CompileOptions::from_flags());

// Many at once: their kernels are compiled together. They are not verified.
std::vector<Session> compile_all(std::span<const Graph* const> graphs,
                                 const CompileOptions& options = CompileOptions::from_flags());

}  // namespace lumen
