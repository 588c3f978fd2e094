// Inspection: a graph in its e-graph, with a record of what every rule did, to be asked about.
//
// A value of the graph (a VAR) is named as `lumen ir fmt` prints it, "%3", or by the name of an input or output.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/search/saturate.h"

namespace lumen::debug {

struct InspectionOptions {
  SaturateOptions saturate = {};                  // `trace` and `check` are set by make()
  std::vector<std::string> without_kernels = {};  // kinds of kernels to do without
};

class Inspection {
 public:
  // An error when a rule does not parse or a name in the options is not known; terms that are no tensors are not: they
  // are what is looked for.
  static Expected<std::unique_ptr<Inspection>> make(std::shared_ptr<const Graph> graph, InspectionOptions options);

  const Graph& graph() const { return *graph_; }
  const std::shared_ptr<const Graph>& shared_graph() const { return graph_; }
  const InspectionOptions& options() const { return options_; }
  Saturated& saturated() { return saturated_; }
  egraph::EGraph& egraph() { return saturated_.egraph(); }
  egraph::SortId tensor_sort() const { return saturated_.encoding().tensor_sort(); }

  Expected<NodeId> find_var(std::string_view name) const;
  // A value, or a class that the graph has no value of: "#17".
  Expected<egraph::Value> find_class(std::string_view name);
  std::string var(NodeId id) const;
  // Its op and type: "Mul f32[4,8]".
  std::string node_text(NodeId id) const;
  egraph::Value class_of(NodeId id);
  // The first node of the graph that is in a class.
  std::optional<NodeId> node_of(egraph::Value tensor);

  // A class as the value it is, "%3", else by its number, "#17"; other values as they are printed.
  std::string value_text(egraph::SortId sort, egraph::Value value);
  // "Mul(%1, #17) :axis 0"; `row` is the arguments, with or without the result. To
  // `depth`, what the graph has no value of is written out.
  std::string term_text(egraph::TableId table, std::span<const egraph::Value> row, int depth = 0);
  // The term that an id was made for; what the graph has no value of is written out, to a depth.
  std::string made_text(egraph::Value id, int depth = 3);

  Expected<egraph::RuleId> find_rule(std::string_view name);
  // Whether the options keep a rule from running.
  bool is_off(egraph::RuleId rule);

 private:
  Inspection(std::shared_ptr<const Graph> graph, InspectionOptions options, Saturated saturated)
      : graph_(std::move(graph)), options_(std::move(options)), saturated_(std::move(saturated)) {}
  Expected<void> check_names();

  std::shared_ptr<const Graph> graph_;
  InspectionOptions options_;
  Saturated saturated_;
  std::vector<NodeId> order_;
  std::map<NodeId, size_t> position_;         // in order_
  std::map<NodeId, egraph::Value> ids_;       // of the graph's own terms
  std::map<egraph::Value, NodeId> nodes_of_;  // by class
};

// Whether a rule states facts of a table, or makes rows of it.
bool writes_table(const egraph::EGraph& graph, egraph::RuleId rule, egraph::TableId table);

}  // namespace lumen::debug
