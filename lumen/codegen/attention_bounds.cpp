#include "lumen/codegen/attention_bounds.h"

#include <algorithm>
#include <cmath>

#include "lumen/codegen/element_ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/select.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_bounds.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

constexpr int64_t kMostKeys = int64_t{1} << 30;
constexpr int64_t kLargest = int64_t{1} << 40;  // of what is added to a bound: sums of a few stay far from overflowing

class Finder {
 public:
  explicit Finder(const AttentionForm& form)
      : form_(form), graph_(*form.graph), writer_(graph_, 0), key_(Expr::index(3, form.keys())) {}

  KeyBounds run() {
    of_score(form_.scores, 1);
    return std::move(found_);
  }

 private:
  // -inf stays -inf when something finite is added or it is multiplied by a positive constant.
  void of_score(const Element& from, double factor) {
    const LinearForm form = linear_form(graph_, from);
    if (form.terms.size() != 1 || !std::isfinite(form.constant)) return;
    const auto& [element, times] = *form.terms.begin();
    if (form.constant != 0) factor = NAN;
    if (element == form_.product) {
      if (!std::isnan(factor)) found_.scale = factor * times;
      return;
    }
    if (times <= 0 || !graph_[element.node].is<hlir::Select>()) return;
    if (key_.is_constant() || bounds(form_.keys()).hi > kMostKeys) return;
    const std::span<const NodeId> operands = graph_[element.node].operands;
    const bool wanted = is_lowest(operands[2]);
    if (!wanted && !is_lowest(operands[1])) return;
    const NodeId inside = operands[wanted ? 1 : 2];
    const bool is_bounds = of_condition(operands[0], element.at, wanted);
    if (is_bounds) found_.masks.push_back({element, inside});
    of_score({inside, element.at}, is_bounds ? factor * times : NAN);
  }

  bool is_lowest(NodeId id) const {
    const std::optional<double> value = constant(id);
    return value && *value == -INFINITY;
  }
  std::optional<double> constant(NodeId id) const {
    while (is_plain_view(id)) id = graph_[id].operands[0];
    if (!graph_[id].is<hlir::Constant>()) return std::nullopt;
    return graph_[id].as<hlir::Constant>().value.as_double();
  }
  bool is_plain_view(NodeId id) const {
    return graph_[id].is<hlir::View>() && !graph_[id].as<hlir::View>().view.has_guard();
  }
  Element through_view(NodeId id, std::span<const Expr> at) const {
    const View& view = graph_[id].as<hlir::View>().view;
    const NodeId source = graph_[id].operands[0];
    return {source,
            unflatten(writer_.place(view.index(), view.shape(), at), writer_.rename(graph_[source].type.shape))};
  }

  // Finds the bounds that a condition implies; whether they are all that it says.
  bool of_condition(NodeId id, std::span<const Expr> at, bool wanted) {
    const Node& node = graph_[id];
    if (node.type.dtype != bool_) return false;
    if (const std::optional<double> value = constant(id)) return (*value != 0) == wanted;
    if (is_plain_view(id)) {
      const Element source = through_view(id, at);
      return of_condition(source.node, source.at, wanted);
    }
    if (node.is<hlir::Iota>()) {
      const Expr condition = writer_.place(node.as<hlir::Iota>().value, node.as<hlir::Iota>().shape, at);
      return of_integers(wanted ? ne(condition, 0) : eq(condition, 0));
    }
    if ((node.is<hlir::BitAnd>() && wanted) || (node.is<hlir::BitOr>() && !wanted)) {
      const bool first = of_condition(node.operands[0], at, wanted);
      return of_condition(node.operands[1], at, wanted) && first;
    }
    const bool exclusive = node.is<hlir::BitXor>();
    if ((exclusive || node.is<hlir::Equal>()) && graph_[node.operands[0]].type.dtype == bool_) {
      for (const size_t k : {size_t{0}, size_t{1}}) {
        const std::optional<double> value = constant(node.operands[k]);
        if (value) return of_condition(node.operands[1 - k], at, wanted != ((*value != 0) == exclusive));
      }
      return false;
    }
    return node.is<hlir::LessThan>() && of_comparison(node.operands[0], node.operands[1], at, wanted);
  }

  // a < b, or b <= a where that is not wanted.
  bool of_comparison(NodeId a, NodeId b, std::span<const Expr> at, bool wanted) {
    const std::optional<Expr> left = integer(a, at), right = integer(b, at);
    if (left && right) return of_integers(wanted ? lt(*left, *right) : le(*right, *left));
    const std::optional<Expr> rest = left ? without_key(*left) : right ? without_key(*right) : std::nullopt;
    const Element value{left ? b : a, {at.begin(), at.end()}};
    const DType dtype = graph_[value.node].type.dtype;
    if (!rest || !is_int(dtype) || dtype == u64 || depends_on_key(value.node, value.at)) return false;
    // key + rest < value, or value < key + rest; where they are not, key + rest >= value, or key + rest <= value.
    found_.all.push_back({(left.has_value()) == wanted, value, left ? Expr(0) - *rest : Expr(1) - *rest});
    return true;
  }

  // A condition on coordinates alone.
  bool of_integers(Expr condition) {
    bool all = true;
    for (const Expr& each : conjuncts(condition)) {
      const std::optional<Expr> e = ge0_argument(each);
      const std::optional<Expr> above = e ? without_key(*e) : std::nullopt;            // key + above >= 0
      const std::optional<Expr> below = e ? without_key(Expr(0) - *e) : std::nullopt;  // key + below <= 0
      all = all && (above || below);
      if (above) found_.all.push_back({false, std::nullopt, Expr(0) - *above});
      if (below) found_.all.push_back({true, std::nullopt, Expr(1) - *below});
    }
    return all;
  }

  // e - key, if the key is in it once.
  std::optional<Expr> without_key(Expr e) const {
    const std::pair<Expr, Expr> first[] = {{key_, Expr(0)}};
    const Expr rest = substitute(e, first);
    const Interval range = bounds(rest);
    const bool fits = e - rest == key_ && range.lo >= -kLargest && range.hi <= kLargest;
    return fits ? std::optional(rest) : std::nullopt;
  }

  // The value of an element that is known from its coordinates alone, and does not wrap.
  std::optional<Expr> integer(NodeId id, std::span<const Expr> at) const {
    const Node& node = graph_[id];
    if (!is_int(node.type.dtype)) return std::nullopt;
    std::optional<Expr> e;
    if (const std::optional<double> value = constant(id)) {
      if (std::abs(*value) <= static_cast<double>(kLargest)) e = Expr(static_cast<int64_t>(*value));
    } else if (is_plain_view(id)) {
      const Element source = through_view(id, at);
      return integer(source.node, source.at);
    } else if (node.is<hlir::Iota>()) {
      e = writer_.place(node.as<hlir::Iota>().value, node.as<hlir::Iota>().shape, at);
    } else if (node.is<hlir::Cast>()) {
      e = integer(node.operands[0], at);
    } else if (node.is<hlir::Add>()) {
      const std::optional<Expr> a = integer(node.operands[0], at), b = integer(node.operands[1], at);
      if (a && b) e = *a + *b;
    }
    if (!e) return std::nullopt;
    const int bits = std::min(info(node.type.dtype).bits, 41) - (is_unsigned(node.type.dtype) ? 0 : 1);
    const int64_t end = int64_t{1} << bits;
    const Interval range = bounds(*e);
    const bool fits = range.lo >= (is_unsigned(node.type.dtype) ? 0 : -end) && range.hi < end;
    return fits ? e : std::nullopt;
  }

  bool depends_on_key(NodeId id, std::span<const Expr> at) const {
    const Node& node = graph_[id];
    const auto any = [&](std::span<const Expr> list) {
      return std::ranges::any_of(list, [&](Expr e) { return depends_on(e, key_); });
    };
    if (node.is<hlir::Constant>()) return false;
    if (node.is<Input>()) return any(at);
    if (node.is<hlir::Iota>()) {
      return depends_on(writer_.place(node.as<hlir::Iota>().value, node.as<hlir::Iota>().shape, at), key_);
    }
    if (node.is<hlir::View>()) {
      const View& view = node.as<hlir::View>().view;
      const Element source = through_view(id, at);
      return depends_on(writer_.place(view.guard(), view.shape(), at), key_) || depends_on_key(source.node, source.at);
    }
    if (!is_element_op(node)) return true;
    return std::ranges::any_of(node.operands, [&](NodeId operand) { return depends_on_key(operand, at); });
  }

  const AttentionForm& form_;
  const Graph& graph_;
  ElementWriter writer_;
  Expr key_;
  KeyBounds found_;
};

}  // namespace

KeyBounds key_bounds(const AttentionForm& form) { return Finder(form).run(); }

}  // namespace lumen
