#include "lumen/search/classes.h"

#include <algorithm>
#include <set>

#include "lumen/egraph/extract/tree.h"

namespace lumen {

using egraph::ClassId;
using egraph::FlatGraph;
using egraph::Value;

namespace {

constexpr size_t kMostTerms = 16;
constexpr size_t kMostField = 200;  // characters shown

class Recorder {
 public:
  Recorder(const Saturated& saturated, const FlatGraph& graph)
      : encoding_(saturated.encoding()), graph_(graph), best_(tree_extract(graph)) {}

  ClassRecord record(ClassId c) const {
    ClassRecord result;
    result.id = c;
    if (const auto type = encoding_.type_of(graph_.class_value[c])) result.type = type->str();
    for (uint32_t k = graph_.class_start[c]; k < graph_.class_start[c + 1]; ++k) {
      if (graph_.origin[graph_.members[k]].kind == FlatGraph::Origin::Kind::row) {
        result.terms.push_back(term(graph_.members[k]));
      }
    }
    std::stable_sort(result.terms.begin(), result.terms.end(), [](const TermRecord& a, const TermRecord& b) {
      return std::pair(a.avoided, a.total) < std::pair(b.avoided, b.total);
    });
    if (result.terms.size() > kMostTerms) {
      result.omitted = result.terms.size() - kMostTerms;
      result.terms.resize(kMostTerms);
    }
    return result;
  }

 private:
  TermRecord term(egraph::NodeId node) const {
    const TermOp& op = *encoding_.op_of(graph_.origin[node].owner);
    const std::span<const ClassId> children = graph_.children_of(node);
    TermRecord result;
    result.op = op.op->name;
    result.operands.assign(children.begin(), children.begin() + static_cast<ptrdiff_t>(op.operands));
    result.cost = own_cost(graph_.cost[node]);
    result.avoided = is_avoided(graph_.cost[node]);
    result.total = result.cost + cost_of_all(children);
    std::vector<Value> row;
    for (const ClassId child : children) row.push_back(graph_.class_value[child]);
    const FieldBuffer fields = encoding_.fields_of(op, row);
    for (const FieldInfo& field : op.op->fields) {
      std::string text;
      field.type->print(static_cast<const std::byte*>(fields.data()) + field.offset, text);
      if (text.size() > kMostField) text = text.substr(0, kMostField) + "…";
      result.fields += (result.fields.empty() ? ":" : " :") + std::string(field.name) + " " + text;
    }
    return result;
  }

  // Of what these need when every class is its cheapest term; infinite when one of them has none.
  double cost_of_all(std::span<const ClassId> classes) const {
    std::vector<ClassId> open(classes.begin(), classes.end());
    std::set<ClassId> seen(classes.begin(), classes.end());
    double sum = 0;
    while (!open.empty()) {
      const egraph::NodeId node = best_.choice[open.back()];
      open.pop_back();
      if (node == egraph::kNone) return egraph::kInfinite;
      sum += own_cost(graph_.cost[node]);
      for (const ClassId child : graph_.children_of(node)) {
        if (seen.insert(child).second) open.push_back(child);
      }
    }
    return sum;
  }

  const Encoding& encoding_;
  const FlatGraph& graph_;
  egraph::TreeExtraction best_;
};

}  // namespace

Expected<ClassesRecord> record_classes(Saturated& saturated, std::span<const Candidate> candidates,
                                       const OpCost& cost) {
  std::set<ClassId> wanted;
  for (const Candidate& candidate : candidates) wanted.insert(candidate.classes.begin(), candidate.classes.end());
  wanted.erase(egraph::kNone);
  const egraph::Flattened flat = flatten_by(saturated, cost);
  const Recorder recorder(saturated, flat.graph);
  ClassesRecord result;
  for (const ClassId c : wanted) result.classes.push_back(recorder.record(c));
  // The terms are all there: this makes nothing, and finds where they are.
  const std::map<NodeId, Value> values = LUMEN_TRY(saturated.encoding().encode_nodes(saturated.graph()));
  result.written.resize(saturated.graph().size(), egraph::kNone);
  for (const auto& [id, value] : values) {
    result.written[static_cast<size_t>(id)] =
        flat.class_of(saturated.egraph(), saturated.encoding().tensor_sort(), value);
  }
  return result;
}

}  // namespace lumen
