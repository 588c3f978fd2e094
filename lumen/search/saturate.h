// Saturation: a graph, put into an e-graph, grows by rules until nothing is new or a limit is reached. What comes out
// holds all the programs found; extract.h takes them out again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lumen/ir/graph.h"
#include "lumen/search/encode.h"
#include "lumen/search/rule_files.h"

namespace lumen {

struct SaturateOptions {
  // Rules that change how results are rounded, or that hold for finite values only. Without them every program gives
  // bit for bit what the graph gives.
  bool rounding = true;
  std::vector<std::string> without = {};        // rules switched off, by name; those that keep facts, too
  std::vector<std::string> without_facts = {};  // facts (type_of, …) that no rule may state
  std::vector<RuleFile> rules = {};             // empty: rules_in_use()
  // Hard limits. The first two stop at the same place on every machine; time is for emergencies, as what it stops
  // depends on the machine.
  uint64_t rows = 60'000;
  uint64_t iterations = 24;
  double seconds = 20;
  bool check = true;   // an error for terms that are no tensors; else they stay, for who looks for them
  bool trace = false;  // records how terms came to be, for explain(); costs time and memory
};

struct SaturateReport {
  std::vector<egraph::RuleReport> rules;  // those of rule files, in their order; not those that only keep facts
  uint64_t iterations = 0;
  uint64_t rows = 0;  // at the end
  uint64_t classes = 0;
  double seconds = 0;
  double fact_seconds = 0;  // of these, for facts
  // By iteration of these rules, without the facts between them.
  std::vector<egraph::IterationReport> growth;
  std::string limit;  // which limit was hit, with the numbers; empty: nothing new was left to find

  // One line for each rule that matched, the slowest first.
  std::string text() const;
};

// An e-graph with a graph in it. It stays where it was made, and the graph must outlive it.
class Saturated {
 public:
  egraph::EGraph& egraph() { return program_->egraph(); }
  egraph::Program& program() { return *program_; }
  const Encoding& encoding() const { return *encoding_; }
  Encoding& encoding() { return *encoding_; }
  const Graph& graph() const { return *graph_; }
  // The classes of the graph's outputs, in their order.
  std::span<const egraph::Value> roots() const { return roots_; }
  const SaturateReport& report() const { return report_; }
  // Whether the outputs of `other` are known to be equal to those of the graph. It must outlive this, too.
  Expected<bool> knows(const Graph& other);

 private:
  friend Expected<Saturated> saturate(const Graph&, const SaturateOptions&);
  std::unique_ptr<egraph::Program> program_;
  std::unique_ptr<Encoding> encoding_;
  const Graph* graph_ = nullptr;
  std::vector<egraph::Value> roots_;
  SaturateReport report_;
};

// An error when a rule is wrong: it does not parse, it makes a term that the op's infer refuses, or it equates tensors
// of different types. The last two name the rule.
Expected<Saturated> saturate(const Graph& graph, const SaturateOptions& options = {});

}  // namespace lumen
