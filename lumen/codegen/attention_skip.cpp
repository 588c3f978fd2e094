#include "lumen/codegen/attention_skip.h"

#include <fmt/format.h>

#include <cmath>

#include "lumen/codegen/constant_of.h"
#include "lumen/codegen/kernel_text.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/select.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_bounds.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

// Conditions that must all hold for a score to be more than -inf.
class Conditions {
 public:
  explicit Conditions(const Graph& graph) : graph_(graph), writer_(graph, 0) {}

  // -inf stays -inf when something is added or it is multiplied by a positive constant, unless that makes it NaN: then
  // the added value is +inf or NaN, and the row is NaN with or without this score only if it is looked at.
  void of_score(const Element& from) {
    const LinearForm form = linear_form(graph_, from);
    if (form.terms.size() != 1 || form.terms.begin()->second <= 0 || !std::isfinite(form.constant)) return;
    const auto& [node, at] = form.terms.begin()->first;
    if (!graph_[node].is<hlir::Select>()) return;
    const std::span<const NodeId> operands = graph_[node].operands;
    if (is_lowest(operands[2])) {
      of_condition(operands[0], at, true);
      of_score({operands[1], at});
    } else if (is_lowest(operands[1])) {
      of_condition(operands[0], at, false);
      of_score({operands[2], at});
    }
  }
  std::vector<Expr> take() { return std::move(found_); }

 private:
  bool is_lowest(NodeId id) const { return constant_of(graph_, id) == -INFINITY; }

  void of_condition(NodeId id, std::span<const Expr> at, bool wanted) {
    const std::optional<Expr> condition = integer(id, at);
    if (!condition) return;
    for (const Expr& each : conjuncts(wanted ? ne(*condition, 0) : eq(*condition, 0))) found_.push_back(each);
  }

  // The value of an element that is known from its coordinates alone.
  std::optional<Expr> integer(NodeId id, std::span<const Expr> at) const {
    const Node& node = graph_[id];
    if (node.is<hlir::Iota>()) return writer_.place(node.as<hlir::Iota>().value, node.as<hlir::Iota>().shape, at);
    if (node.is<hlir::View>() && !node.as<hlir::View>().view.has_guard()) {
      const View& view = node.as<hlir::View>().view;
      const Shape source = writer_.rename(graph_[node.operands[0]].type.shape);
      return integer(node.operands[0], unflatten(writer_.place(view.index(), view.shape(), at), source));
    }
    if (!node.is<hlir::LessThan>() || graph_[node.operands[0]].type.dtype != i64) return std::nullopt;
    const std::optional<Expr> a = integer(node.operands[0], at), b = integer(node.operands[1], at);
    return a && b ? std::optional(lt(*a, *b)) : std::nullopt;
  }

  const Graph& graph_;
  ElementWriter writer_;
  std::vector<Expr> found_;
};

// The largest value of e while a coordinate is in [first, last]: nothing when e neither grows nor falls with it.
std::optional<Expr> largest(Expr e, Expr coordinate, Expr first, Expr last) {
  if (coordinate.is_constant() || !depends_on(e, coordinate)) return e;
  const std::optional<Linear> linear = linear_in_indices(e);
  if (!linear) return std::nullopt;
  for (const auto& [each, factor] : linear->terms) {
    if (each != coordinate) continue;
    const Interval range = bounds(factor);
    if (range.lo < 0 && range.hi > 0) return std::nullopt;
    const std::pair<Expr, Expr> end[] = {{coordinate, range.hi > 0 ? last : first}};
    return substitute(e, end);
  }
  return std::nullopt;
}

}  // namespace

std::string excluded_condition(const AttentionForm& form) {
  Conditions conditions(*form.graph);
  conditions.of_score(form.scores);
  const auto end = [](const char* variable) { return Expr::dim(variable, 0, INT64_MAX / 4); };
  std::string text = "0";
  for (const Expr& condition : conditions.take()) {
    std::optional<Expr> e = ge0_argument(condition);
    if (e) e = largest(*e, Expr::index(1, form.rows()), end("m0"), end("m1") - 1);
    if (e) e = largest(*e, Expr::index(3, form.keys()), end("k0"), end("k1") - 1);
    if (!e) continue;
    text += fmt::format(" || {} < 0", print_c(*e).text);
  }
  return text;
}

std::string print_excluded(const AttentionForm& form, const std::string& name) {
  return fmt::format(
      "static inline int {}_excluded(const void* const* in, void* const* out, const int64_t* dims, int64_t i0, "
      "int64_t m0, int64_t m1, int64_t k0, int64_t k1) {{\n{}  return {};\n}}\n",
      name, kernel_names(*form.graph), excluded_condition(form));
}

}  // namespace lumen
