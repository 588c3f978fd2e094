#include "tests/ir/view_chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace lumen::testing {

namespace {

constexpr int64_t kMaxElements = 400;
constexpr int64_t kMaxRank = 5;

int64_t count_of(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Calls `visit(coords)` for every coordinate in row-major order.
template <class Visit>
void for_each_coordinate(const std::vector<int64_t>& dims, Visit visit) {
  std::vector<int64_t> coords(dims.size(), 0);
  for (int64_t n = count_of(dims); n > 0; --n) {
    visit(coords);
    for (size_t k = dims.size(); k-- > 0;) {
      if (++coords[k] < dims[k]) break;
      coords[k] = 0;
    }
  }
}

int64_t flatten(const std::vector<int64_t>& dims, const std::vector<int64_t>& coords) {
  int64_t flat = 0;
  for (size_t k = 0; k < dims.size(); ++k) flat = flat * dims[k] + coords[k];
  return flat;
}

std::vector<Expr> factors_of(Expr dim) {
  std::vector<Expr> factors;
  if (const auto value = dim.constant()) {
    int64_t rest = *value;
    for (int64_t p = 2; rest > 1; ++p) {
      for (; rest % p == 0; rest /= p) factors.emplace_back(p);
    }
    return factors;
  }
  for (const Expr& symbol : variables(dim)) {
    if (dim == symbol) return {dim};
    const Expr rest = floor_div(dim, symbol);
    if (rest * symbol != dim) continue;
    factors = factors_of(rest);
    factors.push_back(symbol);
    return factors;
  }
  return {dim};
}

}  // namespace

uint64_t Random::next() {  // splitmix64
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Scalar fill_mark() { return Scalar::of(DType::i64, kFillMark); }

Dense Dense::positions(std::vector<int64_t> dims) {
  Dense result = poisoned(std::move(dims));
  std::iota(result.data.begin(), result.data.end(), int64_t{0});
  return result;
}

Dense Dense::poisoned(std::vector<int64_t> dims) {
  const auto count = static_cast<size_t>(count_of(dims));
  return {std::move(dims), std::vector<int64_t>(count, kPoison)};
}

Dense materialise(View v, const DimValues& values) {
  const auto index = ExprProgram::compile(v.index(), values).value();
  const auto guard = ExprProgram::compile(v.guard(), values).value();
  Dense result = Dense::poisoned(v.shape().evaluate(values).value());
  size_t at = 0;
  for_each_coordinate(result.dims, [&](const std::vector<int64_t>& coords) {
    result.data[at++] = guard(coords).value() != 0 ? index(coords).value() : kFillMark;
  });
  return result;
}

Dense read_through(View outer, const Dense& inner, const DimValues& values) {
  Dense result = materialise(outer, values);
  for (int64_t& value : result.data) {
    if (value != kFillMark) value = inner.data.at(static_cast<size_t>(value));
  }
  return result;
}

template <class At>
Dense gather(const Dense& from, std::vector<int64_t> dims, At at) {
  Dense result = Dense::poisoned(std::move(dims));
  size_t next = 0;
  for_each_coordinate(result.dims, [&](const std::vector<int64_t>& coords) {
    const std::optional<std::vector<int64_t>> read = at(coords);
    result.data[next++] = read ? from.data.at(static_cast<size_t>(flatten(from.dims, *read))) : kFillMark;
  });
  return result;
}

Chain::Chain(Random& random, bool symbolic) {
  const std::vector<Expr> symbols{Expr::dim("b", 1, 6), Expr::dim("s", 2, 9), Expr::dim("h", 1, 1024)};
  std::vector<Expr> dims;
  const int64_t rank = random.in(1, 4);
  while (static_cast<int64_t>(dims.size()) < rank) {
    const Expr symbol = symbols[static_cast<size_t>(random.in(0, 2))];
    const bool fresh = std::ranges::find(dims, symbol) == dims.end();
    dims.push_back(symbolic && fresh && random.chance(60) ? symbol : Expr(random.in(1, 6)));
  }
  assignments_ = {{{"b", 2}, {"s", 3}, {"h", 4}}, {{"b", 1}, {"s", 2}, {"h", 1}}, {{"b", 3}, {"s", 4}, {"h", 2}}};
  if (!symbolic) assignments_.resize(1);
  source_ = Shape(dims);
  view_ = View::identity(source_);
  for (const DimValues& values : assignments_) tensors_.push_back(Dense::positions(source_.evaluate(values).value()));
  log_ = source_.str();
}

Chain Chain::onto(const Chain& before) {
  Chain chain;
  chain.source_ = before.view().shape();
  chain.view_ = View::identity(chain.source_);
  chain.assignments_ = before.assignments_;
  for (const Dense& tensor : before.tensors_) chain.tensors_.push_back(Dense::positions(tensor.dims));
  chain.log_ = chain.source_.str();
  return chain;
}

void Chain::step(Random& random, Moves moves) {
  using Step = void (Chain::*)(Random&);
  static constexpr Step kSteps[] = {
      &Chain::permute_step,  &Chain::reshape_step, &Chain::reshape_step, &Chain::expand_step, &Chain::slice_step,
      &Chain::slice_step,    &Chain::flip_step,    &Chain::roll_step,    &Chain::repeat_step, &Chain::unfold_step,
      &Chain::diagonal_step, &Chain::pad_step,     &Chain::pad_step};
  const int64_t count = moves == Moves::affine ? 6 : moves == Moves::unguarded ? 11 : 13;
  (this->*kSteps[random.in(0, count - 1)])(random);
}

int64_t Chain::least(Expr e) const {
  int64_t result = std::numeric_limits<int64_t>::max();
  for (const DimValues& values : assignments_) result = std::min(result, evaluate(e, values).value());
  return result;
}

bool Chain::is_affordable(Shape shape) const {
  if (shape.rank() > kMaxRank) return false;
  return std::ranges::all_of(
      assignments_, [&](const DimValues& values) { return count_of(shape.evaluate(values).value()) <= kMaxElements; });
}

void Chain::take(View next, std::string what) {
  view_ = next;
  log_ += "\n  " + what + " -> " + next.str();
}

template <class At>
void Chain::rebuild(Shape to, At at) {
  for (size_t a = 0; a < assignments_.size(); ++a) {
    const auto value = [&](Expr e) { return evaluate(e, assignments_[a]).value(); };
    tensors_[a] = gather(tensors_[a], to.evaluate(assignments_[a]).value(),
                         [&](std::vector<int64_t> c) { return at(std::move(c), value, tensors_[a].dims); });
  }
}

void Chain::permute_step(Random& random) {
  std::vector<int64_t> order(static_cast<size_t>(view_.shape().rank()));
  std::iota(order.begin(), order.end(), 0);
  for (size_t k = order.size(); k > 1; --k) {
    std::swap(order[k - 1], order[static_cast<size_t>(random.in(0, static_cast<int64_t>(k) - 1))]);
  }
  take(permute(view_, order), fmt::format("permute {}", fmt::join(order, ",")));
  rebuild(view_.shape(), [&](auto c, auto, const auto&) {
    std::vector<int64_t> read(c.size());
    for (size_t k = 0; k < c.size(); ++k) read[static_cast<size_t>(order[k])] = c[k];
    return std::optional(read);
  });
}

void Chain::reshape_step(Random& random) {
  std::vector<Expr> factors;
  for (const Expr& dim : view_.shape()) {
    for (const Expr& factor : factors_of(dim)) factors.push_back(factor);
  }
  if (random.chance(25)) {  // dims that do not line up with the old ones
    for (size_t k = factors.size(); k > 1; --k) {
      std::swap(factors[k - 1], factors[static_cast<size_t>(random.in(0, static_cast<int64_t>(k) - 1))]);
    }
  }
  std::vector<Expr> dims;
  for (const Expr& factor : factors) {
    if (dims.empty() || (static_cast<int64_t>(dims.size()) < kMaxRank && random.chance(55))) {
      dims.push_back(factor);
    } else {
      dims.back() *= factor;
    }
  }
  if (static_cast<int64_t>(dims.size()) < kMaxRank && random.chance(20)) {
    dims.insert(dims.begin() + random.in(0, static_cast<int64_t>(dims.size())), Expr(1));
  }
  take(reshape(view_, Shape(dims)), "reshape");
  for (size_t a = 0; a < assignments_.size(); ++a) tensors_[a].dims = view_.shape().evaluate(assignments_[a]).value();
}

void Chain::expand_step(Random& random) {
  std::vector<Expr> dims(view_.shape().begin(), view_.shape().end());
  for (Expr& dim : dims) {
    if (dim == Expr(1)) dim = random.chance(50) ? Expr(random.in(1, 4)) : dim;
  }
  const bool added = random.chance(40);
  if (added) dims.insert(dims.begin(), random.in(1, 3));
  if (!is_affordable(Shape(dims))) return;
  take(expand(view_, Shape(dims)), "expand");
  rebuild(view_.shape(), [&](auto c, auto, const auto& from) {
    if (added) c.erase(c.begin());
    for (size_t k = 0; k < c.size(); ++k) c[k] = from[k] == 1 ? 0 : c[k];
    return std::optional(c);
  });
}

void Chain::slice_step(Random& random) {
  if (view_.shape().rank() == 0) return;
  const int64_t axis = random.in(0, view_.shape().rank() - 1);
  const Expr dim = view_.shape()[axis];
  const int64_t size = least(dim);
  if (size < 1) return;
  const int64_t skipped = random.in(0, size - 1);
  const int64_t step = random.in(1, 3);
  // From `skipped` on: a constant count, or all that is left at this step.
  const Expr count =
      random.chance(40) ? Expr(random.in(1, (size - 1 - skipped) / step + 1)) : floor_div(dim - 1 - skipped, step) + 1;
  const bool backward = random.chance(25);
  const Expr start = backward ? step * (count - 1) + skipped : Expr(skipped);
  const Expr signed_step = backward ? -step : step;
  take(slice(view_, axis, start, count, signed_step),
       fmt::format("slice {} {} {} {}", axis, start.str(), count.str(), signed_step.str()));
  rebuild(view_.shape(), [&](auto c, auto value, const auto&) {
    int64_t& i = c[static_cast<size_t>(axis)];
    i = value(start) + i * value(signed_step);
    return std::optional(c);
  });
}

void Chain::pad_step(Random& random) {
  if (view_.shape().rank() == 0) return;
  const int64_t axis = random.in(0, view_.shape().rank() - 1);
  const Expr before = random.chance(15) ? Expr::dim("b", 1, 6) : Expr(random.in(0, 2));
  const Expr after = random.in(0, 2);
  const Expr dim = view_.shape()[axis];
  std::vector<Expr> dims(view_.shape().begin(), view_.shape().end());
  dims[static_cast<size_t>(axis)] = before + dim + after;
  if (!is_affordable(Shape(dims))) return;
  take(*pad(view_, axis, before, after, fill_mark()), fmt::format("pad {} {} {}", axis, before.str(), after.str()));
  rebuild(view_.shape(), [&](auto c, auto value, const auto&) {
    int64_t& i = c[static_cast<size_t>(axis)];
    i -= value(before);
    return i >= 0 && i < value(dim) ? std::optional(c) : std::nullopt;
  });
}

void Chain::flip_step(Random& random) {
  if (view_.shape().rank() == 0) return;
  const int64_t axis = random.in(0, view_.shape().rank() - 1);
  take(flip(view_, axis), fmt::format("flip {}", axis));
  rebuild(view_.shape(), [&](auto c, auto, const auto& from) {
    int64_t& i = c[static_cast<size_t>(axis)];
    i = from[static_cast<size_t>(axis)] - 1 - i;
    return std::optional(c);
  });
}

void Chain::roll_step(Random& random) {
  if (view_.shape().rank() == 0) return;
  const int64_t axis = random.in(0, view_.shape().rank() - 1);
  const Expr shift = random.chance(20) ? Expr::dim("b", 1, 6) : Expr(random.in(-7, 7));
  take(roll(view_, axis, shift), fmt::format("roll {} {}", axis, shift.str()));
  rebuild(view_.shape(), [&](auto c, auto value, const auto& from) {
    const int64_t n = from[static_cast<size_t>(axis)];
    int64_t& i = c[static_cast<size_t>(axis)];
    i = (((i - value(shift)) % n) + n) % n;
    return std::optional(c);
  });
}

void Chain::repeat_step(Random& random) {
  if (view_.shape().rank() == 0) return;
  const int64_t axis = random.in(0, view_.shape().rank() - 1);
  const Expr times = random.chance(20) ? Expr::dim("b", 1, 6) : Expr(random.in(1, 3));
  std::vector<Expr> dims(view_.shape().begin(), view_.shape().end());
  dims[static_cast<size_t>(axis)] *= times;
  if (!is_affordable(Shape(dims))) return;
  take(repeat(view_, axis, times), fmt::format("repeat {} {}", axis, times.str()));
  rebuild(view_.shape(), [&](auto c, auto, const auto& from) {
    c[static_cast<size_t>(axis)] %= from[static_cast<size_t>(axis)];
    return std::optional(c);
  });
}

void Chain::unfold_step(Random& random) {
  if (view_.shape().rank() == 0) return;
  const int64_t axis = random.in(0, view_.shape().rank() - 1);
  const Expr dim = view_.shape()[axis];
  const int64_t kernel = random.in(1, 3), stride = random.in(1, 2), dilation = random.in(1, 2);
  if (least(dim) < dilation * (kernel - 1) + 1) return;
  const View next = unfold(view_, axis, kernel, stride, dilation);
  if (!is_affordable(next.shape())) return;
  take(next, fmt::format("unfold {} {} {} {}", axis, kernel, stride, dilation));
  rebuild(view_.shape(), [&](auto c, auto, const auto&) {
    c[static_cast<size_t>(axis)] = c[static_cast<size_t>(axis)] * stride + c.back() * dilation;
    c.pop_back();
    return std::optional(c);
  });
}

void Chain::diagonal_step(Random& random) {
  if (view_.shape().rank() < 2) return;
  const int64_t axis0 = random.in(0, view_.shape().rank() - 1);
  const int64_t axis1 = random.in(0, view_.shape().rank() - 1);
  if (axis0 == axis1) return;
  const Expr rows = view_.shape()[axis0], columns = view_.shape()[axis1];
  const int64_t offset = random.in(1 - least(rows), least(columns) - 1);
  const Expr count = offset >= 0 ? min(rows, columns - offset) : min(rows + offset, columns);
  take(diagonal(view_, axis0, axis1, offset, count), fmt::format("diagonal {} {} {}", axis0, axis1, offset));
  rebuild(view_.shape(), [&](auto c, auto, const auto&) {
    const int64_t at = c.back();
    c.pop_back();
    const auto [low, high] = std::minmax(axis0, axis1);
    c.insert(c.begin() + low, int64_t{0});
    c.insert(c.begin() + high, int64_t{0});
    c[static_cast<size_t>(axis0)] = at + std::max<int64_t>(0, -offset);
    c[static_cast<size_t>(axis1)] = at + std::max<int64_t>(0, offset);
    return std::optional(c);
  });
}

}  // namespace lumen::testing
