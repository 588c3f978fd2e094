#include "lumen/ir/view.h"

#include <fmt/format.h>

#include "lumen/base/hash.h"
#include "lumen/base/intern.h"
#include "lumen/ir/expr_parts.h"
#include "lumen/ir/view_parts.h"

namespace lumen {

struct ViewNode {
  Shape shape;
  Expr index;
  Expr guard;
  Scalar fill;
  uint64_t hash;
  bool operator==(const ViewNode&) const = default;
};

namespace {

// The same condition, each part linear where it can be.
Expr simplify_guard(Expr guard) {
  Expr result = 1;
  for (const Expr& condition : conjuncts(guard)) {
    const auto argument = ge0_argument(condition);
    result = logical_and(result, argument ? ge(linearise(*argument), 0) : condition);
  }
  return result;
}

// The index where the guard holds: a coordinate that the guard fixes is gone, and divisions that it decides are.
Expr simplify_under(Expr guard, Expr index) {
  CoordinateChange change;
  change.tighten(guard, index);
  const Expr simpler = change.leave(linearise(change.enter(index)));
  if (linear_in_indices(simpler)) return simpler;
  index = linearise(index);
  const auto effort = [](Expr e) { return std::pair(divisions(e).size(), variables(e).size()); };
  return effort(simpler) < effort(index) ? simpler : index;
}

const ViewNode* intern_view(Shape shape, Expr index, Expr guard, Scalar fill) {
  static auto& interner = *new Interner<ViewNode>;  // never destroyed: handles in statics stay valid
  if (is_empty(shape)) {
    index = 0;
    guard = 1;
  }
  guard = simplify_guard(guard);
  if (guard == Expr(1)) {
    fill = Scalar{};
    index = linearise(index);
  } else {
    index = guard == Expr(0) ? Expr(0) : simplify_under(guard, index);
  }
  Hasher hasher;
  hasher.add(shape.hash()).add(index.hash()).add(guard.hash()).add(fill.dtype).add(fill.value.i);
  return interner.intern({shape, index, guard, fill, hasher.value()});
}

}  // namespace

View::View() : View(Shape(), 0) {}
View::View(Shape shape, Expr index) : node_(intern_view(shape, index, 1, Scalar{})) {}
View::View(Shape shape, Expr index, Expr guard, Scalar fill) : node_(intern_view(shape, index, ne(guard, 0), fill)) {}

View View::identity(Shape shape) {
  if (is_empty(shape)) return View(shape, 0);
  return View(shape, shape.flat_index(shape.coordinates()));
}

Shape View::shape() const { return node_->shape; }
Expr View::index() const { return node_->index; }
Expr View::guard() const { return node_->guard; }
bool View::has_guard() const { return node_->guard != Expr(1); }
Scalar View::fill() const { return node_->fill; }
uint64_t View::hash() const { return node_->hash; }

std::string View::str() const {
  const std::string read = fmt::format("{{{} {}", shape().str(), index().str());
  if (!has_guard()) return read + "}";
  return fmt::format("{} if {} else {}}}", read, guard().str(), fill().str());
}

bool is_empty(Shape shape) {
  for (const Expr& dim : shape) {
    if (dim == Expr(0)) return true;
  }
  return false;
}

Read read_at(View v, std::span<const Expr> coords) {
  std::vector<std::pair<Expr, Expr>> replaced;
  for (size_t k = 0; k < coords.size(); ++k) {
    const Expr coordinate = Expr::index(static_cast<int>(k), v.shape().dims()[k]);
    if (!coordinate.is_constant()) replaced.emplace_back(coordinate, coords[k]);
  }
  return {substitute(v.index(), replaced), substitute(v.guard(), replaced)};
}

View read_at(View v, Shape to, std::span<const Expr> coords) {
  const Read read = read_at(v, coords);
  return View(to, read.index, read.guard, v.fill());
}

std::vector<Expr> unflatten(Expr flat, std::span<const Expr> dims) {
  std::vector<Expr> coords(dims.size(), Expr(0));
  size_t leading = 0;
  while (leading < dims.size() && dims[leading] == Expr(1)) ++leading;
  Expr stride = 1;
  for (size_t k = dims.size(); k-- > leading; stride *= dims[k]) {
    const Expr upper = floor_div(flat, stride);
    coords[k] = k == leading ? upper : mod(upper, dims[k]);
  }
  return coords;
}

}  // namespace lumen
