#include "lumen/backend/reference/line_reader.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "lumen/hlir/coordinates.h"
#include "lumen/hlir/lanes.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_parts.h"

namespace lumen::reference {

namespace {

// Nothing when it is not affine, or when some value in the domain would leave 64 bits.
Expected<std::optional<AffineMap>> affine_map(Expr e, std::span<const int64_t> dims, const DimValues& values) {
  const ExprProgram program = LUMEN_TRY(ExprProgram::compile(e, values));
  if (!program.affine()) return std::optional<AffineMap>{};
  AffineMap map{program.affine()->offset, program.affine()->strides};
  map.strides.resize(dims.size());
  double reach = std::abs(static_cast<double>(map.offset));
  for (size_t k = 0; k < dims.size(); ++k) {
    reach += std::abs(static_cast<double>(map.strides[k])) * static_cast<double>(dims[k]);
  }
  if (reach > 4e18) return std::optional<AffineMap>{};
  return std::optional(std::move(map));
}

Expected<std::optional<std::vector<AffineMap>>> affine_guards(Expr guard, std::span<const int64_t> dims,
                                                              const DimValues& values) {
  std::vector<AffineMap> maps;
  for (const Expr condition : conjuncts(guard)) {
    const std::optional<Expr> argument = ge0_argument(condition);
    std::optional<AffineMap> map;
    if (argument) map = LUMEN_TRY(affine_map(*argument, dims, values));
    if (!map) return std::optional<std::vector<AffineMap>>{};
    maps.push_back(std::move(*map));
  }
  return std::optional(std::move(maps));
}

}  // namespace

LineReader LineReader::whole(std::span<const int64_t> dims) {
  LineReader reader;
  reader.index_.strides = hlir::row_major(dims);
  reader.numel_ = std::numeric_limits<int64_t>::max();
  return reader;
}

Expected<LineReader> LineReader::view(const View& view, std::span<const int64_t> dims, const DimValues& values,
                                      int64_t numel) {
  LineReader reader;
  reader.view_ = view;
  reader.numel_ = numel;
  reader.fill_ = view.fill().value;
  std::optional<AffineMap> index = LUMEN_TRY(affine_map(view.index(), dims, values));
  std::optional<std::vector<AffineMap>> guards = LUMEN_TRY(affine_guards(view.guard(), dims, values));
  if (index && guards) {
    reader.index_ = std::move(*index);
    reader.guards_ = std::move(*guards);
  } else {
    LUMEN_TRY(reader.tabulate(view.index(), view.guard(), dims, values));
  }
  return reader;
}

Expected<LineReader> LineReader::iota(Expr value, DType dtype, std::span<const int64_t> dims, const DimValues& values) {
  LineReader reader;
  reader.iota_ = dtype;
  std::optional<AffineMap> index = LUMEN_TRY(affine_map(value, dims, values));
  if (index) {
    reader.index_ = std::move(*index);
  } else {
    LUMEN_TRY(reader.tabulate(value, 1, dims, values));
  }
  return reader;
}

Expected<void> LineReader::tabulate(Expr value, Expr guard, std::span<const int64_t> dims, const DimValues& values) {
  const ExprProgram value_at = LUMEN_TRY(ExprProgram::compile(value, values));
  const ExprProgram guard_at = LUMEN_TRY(ExprProgram::compile(guard, values));
  std::vector<int64_t> extents(dims.size(), 1);
  for (const Expr e : {value, guard}) {
    for (const Expr variable : variables(e)) {
      if (variable.kind() != ExprKind::index) continue;
      const auto k = static_cast<size_t>(variable.index_number());
      extents[k] = dims[k];
    }
  }
  index_.strides = hlir::row_major(extents);
  int64_t size = 1;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (extents[k] == 1) index_.strides[k] = 0;
    size *= dims[k] == 0 ? 0 : extents[k];
  }
  has_table_ = true;
  table_.resize(static_cast<size_t>(size));
  std::vector<int64_t> coords(dims.size());
  for (int64_t& entry : table_) {
    entry = LUMEN_TRY(guard_at(coords)) == 0 ? -1 : LUMEN_TRY(value_at(coords));
    const bool inside = entry >= 0 && entry < numel_;
    if (!iota_ && !inside && LUMEN_TRY(guard_at(coords)) != 0) return hlir::outside_error(*view_, entry, numel_);
    hlir::next_coordinates(coords, extents);
  }
  return {};
}

LineReader::Range LineReader::guarded(const Line& line) const {
  Range range{0, line.count};
  for (const AffineMap& guard : guards_) {
    const int64_t first = guard(line.coords);
    const int64_t step = guard.strides[line.axis];
    if (step == 0) {
      if (first < 0) range.end = 0;
    } else if (step > 0) {
      if (first < 0) range.begin = std::max(range.begin, (-first + step - 1) / step);
    } else {
      range.end = first < 0 ? 0 : std::min(range.end, first / -step + 1);
    }
  }
  range.end = std::max(range.begin, range.end);
  return {std::min(range.begin, line.count), std::min(range.end, line.count)};
}

void LineReader::read_table(const Line& line, const Lane* source, Lane* buffer) const {
  const int64_t* entry = table_.data() + index_(line.coords);
  const int64_t step = index_.strides[line.axis];
  for (int64_t t = 0; t < line.count; ++t) {
    const int64_t value = entry[t * step];
    buffer[t] = iota_ ? Lane{.i = value} : value < 0 ? fill_ : source[value];
  }
}

Expected<const Lane*> LineReader::read(const Line& line, const Lane* source, Lane* buffer) const {
  const int64_t base = index_(line.coords);
  const int64_t step = index_.strides[line.axis];
  if (has_table_) {
    read_table(line, source, buffer);
  } else if (iota_) {
    for (int64_t t = 0; t < line.count; ++t) buffer[t].i = base + step * t;
  } else {
    const auto [begin, end] = guarded(line);
    const int64_t first = base + step * begin;
    const int64_t last = base + step * (end - 1);
    if (begin < end && (std::min(first, last) < 0 || std::max(first, last) >= numel_)) {
      return hlir::outside_error(*view_, first < 0 || first >= numel_ ? first : last, numel_);
    }
    if (step == 1 && begin == 0 && end == line.count) return source + base;
    std::fill(buffer, buffer + begin, fill_);
    if (begin < end && step == 0) {
      std::fill(buffer + begin, buffer + end, source[base]);
    } else {
      for (int64_t t = begin; t < end; ++t) buffer[t] = source[base + step * t];
    }
    std::fill(buffer + end, buffer + line.count, fill_);
  }
  if (iota_) hlir::settle(*iota_, buffer, line.count);
  return buffer;
}

bool LineReader::can_merge(size_t axis, int64_t inner) const {
  const auto in_step = [&](const AffineMap& map) { return map.strides[axis] == map.strides[axis + 1] * inner; };
  return in_step(index_) && std::all_of(guards_.begin(), guards_.end(), in_step);
}

void LineReader::merge(size_t axis) {
  const auto drop = [&](AffineMap& map) { map.strides.erase(map.strides.begin() + static_cast<ptrdiff_t>(axis)); };
  drop(index_);
  for (AffineMap& guard : guards_) drop(guard);
}

}  // namespace lumen::reference
