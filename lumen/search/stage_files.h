// The files of LUMEN_DUMP and LUMEN_OVERRIDE: what each stage of compiling a graph decided, and decisions to take
// instead. Each graph has a folder of its own, named by its hash (`lumen ir check` prints it):
//
//   graph.hlir       the graph                               overrides: another with the same inputs and outputs
//   rewritten.llir   the program that was chosen             overrides: another with the same inputs and outputs
//   groups.txt       which of its values are one kernel      overrides, beside a rewritten.llir
//   schedules.txt    how each kernel runs                    overrides, for the kernels that it has
//   k3f….c           the text of a kernel                    overrides
//   k3f….llir        what a kernel computes
//   candidate1.llir  programs that were found and not chosen
//   plan.txt         calls, and where values live           overrides where they live, checked
//
// In a graph that is cut into parts all but graph.hlir, plan.txt and kernels are named by the part: part0.groups.txt,
// and part0.graph.hlir is the part (which follows from graph.hlir). What cannot be overridden may lie there and is not
// read, so a copy of a dump is an override that changes nothing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lumen/ir/graph.h"
#include "lumen/ir/verify.h"
#include "lumen/search/lower.h"

namespace lumen::search {

class StageFiles {
 public:
  // Folders, empty for none. An error when an override has no folder for the graph.
  static Expected<StageFiles> open(const std::string& dump, const std::string& overrides, const Graph& graph);

  // Files of part k, which is `body`, have names of their own from now on.
  Expected<void> enter_part(size_t part, const Graph& body);

  // The graph, or the one that is given instead, checked to be like it.
  Expected<std::shared_ptr<const Graph>> graph(const std::shared_ptr<const Graph>& graph);
  // The program that is given for `graph`; null when there is none.
  Expected<std::shared_ptr<const Graph>> rewritten(const Graph& graph);
  // Groups of `program` and schedules that are given, for kernels of a target.
  Expected<Decisions> decisions(const Graph& program, const Target& target);
  // Puts texts that are given into the kernels, and writes what was decided; `others` were not chosen.
  Expected<void> finish(Lowered& lowered, std::span<const std::shared_ptr<const Graph>> others);
  // Puts values where a given plan has them, and writes where they are.
  Expected<void> plan(Program& program);
  // An error for a file that nothing has asked for: it belongs to no kernel and no part.
  Expected<void> check_all_read() const;

 private:
  Expected<void> dump(const Lowered& lowered, std::span<const std::shared_ptr<const Graph>> others);
  Expected<void> write(const std::string& name, std::string_view text) const;
  Expected<std::optional<std::string>> read(const std::string& name);
  Expected<std::shared_ptr<const Graph>> read_graph(const std::string& name, const Graph& like, const OpTable& ops,
                                                    const Stage& stage);

  std::string dump_, overrides_;              // folders of this graph; empty for none
  std::string prefix_;                        // "part0."
  std::set<std::string> present_;             // files of overrides_
  std::set<std::string> unread_;              // of these, what was not asked for
  std::map<std::string, std::string> names_;  // of kernels that were finished, by the text of their bodies
};

}  // namespace lumen::search
