#include "lumen/codegen/attention_sharers.h"

#include <algorithm>

#include "lumen/codegen/element_ops.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

// Every index and condition that an element of inputs is read by; false when something else is read.
bool collect_places(const Graph& graph, const ElementWriter& writer, NodeId id, std::span<const Expr> at,
                    std::vector<Expr>& places) {
  const Node& node = graph[id];
  if (node.is<hlir::Constant>()) return true;
  if (node.is<Input>()) {
    places.push_back(writer.rename(node.type.shape).flat_index(at));
    return true;
  }
  if (node.is<hlir::View>()) {
    const View& view = node.as<hlir::View>().view;
    places.push_back(writer.place(view.guard(), view.shape(), at));
    const NodeId source = node.operands[0];
    const Expr flat = writer.place(view.index(), view.shape(), at);
    return collect_places(graph, writer, source, unflatten(flat, writer.rename(graph[source].type.shape)), places);
  }
  if (node.is<hlir::Gather>()) {  // what it reads depends on its index and on the other coordinates
    const auto axis = static_cast<size_t>(node.as<hlir::Gather>().axis);
    const auto rank = static_cast<size_t>(graph[node.operands[1]].type.shape.rank());
    std::vector<Expr> inside(at.begin(), at.begin() + static_cast<ptrdiff_t>(axis));
    inside.push_back(0);
    inside.insert(inside.end(), at.begin() + static_cast<ptrdiff_t>(axis + rank), at.end());
    return collect_places(graph, writer, node.operands[1], at.subspan(axis, rank), places) &&
           collect_places(graph, writer, node.operands[0], inside, places);
  }
  return is_element_op(node) && std::ranges::all_of(node.operands, [&](NodeId operand) {
           return collect_places(graph, writer, operand, at, places);
         });
}

// Whether only i0 / count matters.
bool shares(std::span<const Expr> places, Expr batch, Expr count) {
  const Expr groups = batch / count;
  if (groups * count != batch) return false;
  const Expr here = Expr::index(0, batch), within = Expr::index(9, count);
  const std::pair<Expr, Expr> split[] = {{here, Expr::index(8, groups) * count + within}};
  return std::ranges::none_of(places, [&](Expr e) { return depends_on(substitute(e, split), within); });
}

class Merge {
 public:
  Merge(const AttentionForm& form, Expr batch, Expr rows) {
    const Expr i0 = Expr::index(0, batch), i1 = Expr::index(1, rows);
    const std::pair<Expr, Expr> changes[] = {{Expr::index(0, form.batch()), i0 * form.sharers + i1 / form.rows()},
                                             {Expr::index(1, form.rows()), i1 % form.rows()}};
    for (const auto& change : changes) {
      if (!change.first.is_constant()) changes_.push_back(change);
    }
  }
  void apply(std::vector<Expr>& at) const {
    for (Expr& e : at) e = substitute(e, changes_);
  }

 private:
  std::vector<std::pair<Expr, Expr>> changes_;
};

}  // namespace

AttentionForm with_shared_rows(const AttentionForm& form) {
  if (form.sharers == Expr(1)) return form;
  AttentionForm merged = form;
  const Expr batch = form.batch() / form.sharers, rows = form.rows() * form.sharers;
  const Merge merge(form, batch, rows);
  for (ContractRoles* roles : {&merged.first, &merged.second}) {
    roles->extents[static_cast<size_t>(Role::batch)] = batch;
    roles->extents[static_cast<size_t>(Role::row)] = rows;
    merge.apply(roles->at);
  }
  for (Element* element : {&merged.product, &merged.scores, &merged.top, &merged.weights, &merged.result}) {
    merge.apply(element->at);
  }
  if (merged.total) merge.apply(merged.total->at);
  merged.sharers = 1;
  std::vector<Expr> places;
  const ElementWriter writer(*form.graph, 0);
  const bool known = collect_places(*form.graph, writer, merged.first.columns[0], merged.first.at, places) &&
                     collect_places(*form.graph, writer, merged.second.columns[0], merged.second.at, places);
  const Expr row = Expr::index(1, rows);
  const bool apart = known && std::ranges::none_of(places, [&](Expr e) { return depends_on(e, row); });
  return apart ? merged : form;
}

Expr sharers_of(const AttentionForm& form) {
  const Expr batch = form.batch();
  if (batch.is_constant() && *batch.constant() < 2) return 1;
  std::vector<Expr> places;
  const ElementWriter writer(*form.graph, 0);
  for (const ContractRoles* roles : {&form.first, &form.second}) {
    if (!collect_places(*form.graph, writer, roles->columns[0], roles->at, places)) return 1;
  }
  std::vector<Expr> counts{batch};
  for (const Expr& place : places) {
    for (const auto& [numerator, denominator] : divisions(place)) counts.push_back(denominator);
  }
  std::ranges::sort(counts, [](Expr a, Expr b) { return compare(a, b) > 0; });
  for (const Expr& count : counts) {
    if (shares(places, batch, count)) return count;
  }
  return 1;
}

}  // namespace lumen
