#include <algorithm>

#include "lumen/ir/expr_parts.h"
#include "lumen/ir/expr_prove.h"
#include "lumen/ir/view_parts.h"

namespace lumen {

namespace {

// A variable that moves the index by ±stride; stride is proven >= 0.
struct Digit {
  Expr variable;
  Expr stride;
  bool reversed;
};

// An unguarded index as offset + sum of digits, by growing stride, after splitting coordinates that are divided.
struct Digits {
  CoordinateChange change;
  Expr offset;
  std::vector<Digit> digits;
};

// Nothing when the index is not of that form or the strides cannot be ordered.
std::optional<Digits> sorted_digits(View v) {
  if (v.has_guard()) return std::nullopt;
  Digits result;
  result.change.split(v.index());
  const auto linear = linear_in_indices(result.change.enter(v.index()));
  if (!linear) return std::nullopt;
  result.offset = linear->rest;
  std::vector<Digit> rest;
  for (const Expr& i : variables(result.change.enter(View::identity(v.shape()).index()))) {
    if (i.kind() != ExprKind::index) continue;
    const auto term = std::ranges::find(linear->terms, i, &std::pair<Expr, Expr>::first);
    const Expr stride = term == linear->terms.end() ? Expr(0) : term->second;
    if (!prove_ge0(stride) && !prove_ge0(-stride)) return std::nullopt;
    const bool reversed = !prove_ge0(stride);
    rest.push_back({i, reversed ? -stride : stride, reversed});
  }
  while (!rest.empty()) {
    const auto smallest = std::ranges::find_if(rest, [&](const Digit& d) {
      return std::ranges::all_of(rest, [&](const Digit& e) { return prove_ge0(e.stride - d.stride); });
    });
    if (smallest == rest.end()) return std::nullopt;
    result.digits.push_back(*smallest);
    rest.erase(smallest);
  }
  return result;
}

bool reads_nothing(View v) { return v.guard() == Expr(0) || is_empty(v.shape()); }

std::vector<int64_t> axes_where(View v, auto condition) {
  std::vector<int64_t> axes;
  for (int64_t k = 0; k < v.shape().rank(); ++k) {
    if (condition(Expr::index(static_cast<int>(k), v.shape()[k]))) axes.push_back(k);
  }
  return axes;
}

}  // namespace

std::optional<Affine> affine(View v) {
  if (v.has_guard()) return std::nullopt;
  const auto linear = linear_in_indices(v.index());
  if (!linear) return std::nullopt;
  Affine result{linear->rest, std::vector<Expr>(v.shape().dims().size(), Expr(0))};
  for (const auto& [coordinate, coefficient] : linear->terms) {
    result.strides[static_cast<size_t>(coordinate.index_number())] = coefficient;
  }
  return result;
}

bool is_identity(View v) { return v == View::identity(v.shape()); }

bool is_contiguous(View v) { return !v.has_guard() && !has_index(v.index() - View::identity(v.shape()).index()); }

std::vector<int64_t> broadcast_dims(View v) {
  return axes_where(v, [&](Expr i) { return !depends_on(v.index(), i) && !depends_on(v.guard(), i); });
}

std::vector<int64_t> dependent_dims(View v, Expr term) {
  return axes_where(v, [&](Expr i) { return !i.is_constant() && depends_on(term, i); });
}

bool is_injective(View v) {
  if (is_empty(v.shape())) return true;
  const auto form = sorted_digits(v);
  if (!form) return false;
  Expr reach = 0;  // of the smaller digits together
  for (const Digit& digit : form->digits) {
    if (!prove_lt(reach, digit.stride)) return false;
    reach += digit.stride * (digit.variable.index_extent() - 1);
  }
  return true;
}

std::optional<Span> physical_span(View v) {
  if (reads_nothing(v)) return Span{0, 0};
  CoordinateChange change;
  change.split(v.index() + v.guard());
  change.tighten(v.guard(), v.index());
  if (change.is_void()) return Span{0, 0};
  const auto linear = linear_in_indices(change.enter(v.index()));
  if (!linear) return std::nullopt;
  Span span{linear->rest, linear->rest + 1};
  for (const auto& [coordinate, coefficient] : linear->terms) {
    const Expr reach = coefficient * (coordinate.index_extent() - 1);
    const bool up = prove_ge0(coefficient);
    const bool down = prove_ge0(-coefficient);
    span.end += up ? reach : down ? Expr(0) : max(0, reach);
    span.lowest += down ? reach : up ? Expr(0) : min(0, reach);
  }
  return span;
}

std::optional<View> inverse(View v, Shape source) {
  if (v.shape().numel() != source.numel()) return std::nullopt;
  if (is_empty(source)) return View::identity(source);
  const auto form = sorted_digits(v);
  if (!form) return std::nullopt;
  // A bijection is a mixed-radix number: each stride is the product of the extents below it.
  Expr flat = source.flat_index(source.coordinates());
  Expr lowest = form->offset;
  Expr radix = 1;
  std::vector<std::pair<Expr, Expr>> values;
  for (const Digit& digit : form->digits) {
    const Expr extent = digit.variable.index_extent();
    if (digit.stride != radix) return std::nullopt;
    radix *= extent;
    Expr value = floor_div(flat, digit.stride);
    if (values.size() + 1 < form->digits.size()) value = mod(value, extent);
    if (digit.reversed) {
      value = extent - 1 - value;
      lowest += -digit.stride * (extent - 1);
    }
    values.emplace_back(digit.variable, value);
  }
  if (lowest != Expr(0)) return std::nullopt;
  const View candidate(source, substitute(form->change.enter(View::identity(v.shape()).index()), values));
  if (compose(candidate, v) != View::identity(source)) return std::nullopt;
  return candidate;
}

bool fits(View v, Expr numel) {
  if (reads_nothing(v)) return true;
  CoordinateChange change;
  change.tighten(v.guard(), v.index());
  if (change.is_void()) return true;
  std::vector<Expr> given = v.shape().coordinates();
  std::erase_if(given, [](Expr i) { return i.is_constant(); });
  const Expr index = change.enter(v.index());
  return prove_ge0(index, given) && prove_ge0(numel - 1 - index, given);
}

}  // namespace lumen
