#include "lumen/codegen/map_tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/scalar.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int64_t kMapTile = 32;          // of either dim
constexpr int64_t kPitch = kMapTile + 1;  // so that a column of the buffer is not all in one set of the cache
constexpr int64_t kWorthTiling = 8;

// How far apart neighbours along a variable are; nothing when that is not the same everywhere.
std::optional<Expr> stride(Expr flat, Expr variable) {
  if (!depends_on(flat, variable)) return Expr(0);
  const auto at = [&](int64_t x) {
    const std::pair<Expr, Expr> what[] = {{variable, Expr(x)}};
    return substitute(flat, what);
  };
  const Expr first = at(1) - at(0);
  if (!(at(2) - at(1) == first) || !(at(5) - at(4) == first)) return std::nullopt;
  return first;
}

bool only_in_terms_of(Expr flat, std::span<const Expr> at) {
  const std::vector<Expr> found = variables(flat);
  return std::all_of(found.begin(), found.end(), [&](Expr v) {
    const bool is_dim = v.kind() == ExprKind::dim && v.dim_name()[0] == 'n';
    return is_dim || std::find(at.begin(), at.end(), v) != at.end();
  });
}

bool is_long(Expr variable) {
  return variable.kind() == ExprKind::index && bounds(variable.index_extent()).hi >= kWorthTiling;
}

}  // namespace

MapLoops::MapLoops(const Shape& shape, int64_t split)
    : outer(std::vector<Expr>(shape.begin(), shape.begin() + split)),
      inner(std::vector<Expr>(shape.begin() + split, shape.end())) {}

std::vector<Expr> MapLoops::variables() const {
  std::vector<Expr> all = outer.coordinates();
  all.push_back(Expr::index(static_cast<int>(outer.rank()), inner.numel()));
  return all;
}

std::vector<Expr> MapLoops::at(std::span<const Expr> variables) const {
  std::vector<Expr> at(variables.begin(), variables.end() - 1);
  const std::vector<Expr> within = unflatten(variables.back(), inner);
  at.insert(at.end(), within.begin(), within.end());
  return at;
}

std::optional<MapTiling> find_tiling(const Graph& body, const MapLoops& loops,
                                     std::span<const ElementWriter::Read> reads) {
  const std::vector<Expr> variables = loops.variables();
  if (variables.size() < 2 || !is_long(variables.back())) return std::nullopt;
  std::vector<MapTiling> found(variables.size());
  for (const ElementWriter::Read& read : reads) {
    const std::optional<Expr> inner = stride(read.flat, variables.back());
    if (!inner || *inner == Expr(0) || *inner == Expr(1) || is_packed(body[read.input].type.dtype)) continue;
    if (!only_in_terms_of(read.flat, variables)) continue;
    for (size_t k = 0; k + 1 < variables.size(); ++k) {
      if (is_long(variables[k]) && stride(read.flat, variables[k]) == Expr(1)) found[k].staged.push_back(read);
    }
  }
  const auto most = std::max_element(found.begin(), found.end(), [](const MapTiling& a, const MapTiling& b) {
    return a.staged.size() < b.staged.size();
  });
  if (most->staged.empty()) return std::nullopt;
  most->loop = static_cast<size_t>(most - found.begin());
  return *most;
}

namespace {

// Rows are tiles: the variables of all loops but those two, then the numbers of the tile.
class MapTilePrinter {
 public:
  MapTilePrinter(const Graph& body, const MapLoops& loops, const MapTiling& tiling) : body_(body), writer_(body, 4) {
    const std::vector<Expr> before = loops.variables();
    std::vector<Expr> after = before;
    const auto renumber = [&](size_t k, int number) {
      if (before[k].kind() != ExprKind::index) return;
      after[k] = Expr::index(number, before[k].index_extent());
      moved_.emplace_back(before[k], after[k]);
    };
    for (size_t k = 0; k + 1 < before.size(); ++k) {
      if (k == tiling.loop) continue;
      renumber(k, static_cast<int>(rows_.size()));
      rows_.push_back(loops.outer[static_cast<int64_t>(k)]);
    }
    outer_ = static_cast<int>(rows_.size());
    renumber(tiling.loop, outer_ + 2);
    renumber(before.size() - 1, outer_ + 3);
    y_ = after[tiling.loop];
    x_ = after.back();
    rows_.push_back(ceil_div(y_.index_extent(), kMapTile));
    rows_.push_back(ceil_div(x_.index_extent(), kMapTile));
    at_ = loops.at(after);
  }

  KernelText print(const MapTiling& tiling, const std::string& name) {
    declare_tile();
    for (size_t k = 0; k < tiling.staged.size(); ++k) fill(k, tiling.staged[k]);
    writer_.line("LUMEN_SYNC;");
    store();
    writer_.line("LUMEN_SYNC;");
    std::string text = kernel_head(body_, name) + "  LUMEN_ROWS(row) {\n" + row_coordinates(Shape(rows_), 4);
    text += writer_.text() + "  }\n  LUMEN_RETURN;\n}\n";
    return {text, {{name, Shape(rows_).numel(), 1}}, writer_.faults()};
  }

 private:
  void declare_tile() {
    const auto range = [&](char name, int number, Expr extent) {
      writer_.line(fmt::format("const int64_t {0}0 = i{1} * {2}, {0}1 = lumen_min_i64({0}0 + {2}, {3});", name, number,
                               kMapTile, print_c(extent).text));
    };
    range('y', outer_, y_.index_extent());
    range('x', outer_ + 1, x_.index_extent());
  }

  void fill(size_t k, const ElementWriter::Read& given) {
    const ElementWriter::Read read{given.input, substitute(given.flat, moved_)};
    const std::string cell = fmt::format("tile{}[({} - x0) * {} + {} - y0]", k, name(x_), kPitch, name(y_));
    const auto number = std::find(body_.inputs().begin(), body_.inputs().end(), read.input) - body_.inputs().begin();
    writer_.line(fmt::format("LUMEN_ROW_BUFFER({}, tile{}, {});", storage_type(body_[read.input].type.dtype), k,
                             kMapTile * kPitch));
    writer_.open(fmt::format("for (int64_t {0} = x0; {0} < x1; ++{0})", name(x_)));
    writer_.line(
        fmt::format("LUMEN_RANGE({}, y0, y1) {} = a{}[{}];", name(y_), cell, number, writer_.index(read.flat)));
    writer_.close();
    writer_.stage(read, cell);
  }

  void store() {
    writer_.open_loop(fmt::format("for (int64_t {0} = y0; {0} < y1; ++{0})", name(y_)), y_, may_be_empty(y_));
    writer_.open_loop(fmt::format("LUMEN_RANGE({}, x0, x1)", name(x_)), x_, may_be_empty(x_));
    const Shape shape = writer_.rename(body_[body_.outputs()[0].value].type.shape);
    for (size_t k = 0; k < body_.outputs().size(); ++k) {
      const std::string value = writer_.to_store(body_.outputs()[k].value, at_);
      writer_.line(store_statement(body_, k, writer_.index(shape.flat_index(at_)), value));
    }
    writer_.close();
    writer_.close();
  }

  static std::string name(Expr variable) { return fmt::format("i{}", variable.index_number()); }
  static bool may_be_empty(Expr variable) { return bounds(variable.index_extent()).lo < 1; }

  const Graph& body_;
  ElementWriter writer_;
  std::vector<std::pair<Expr, Expr>> moved_;  // variables, to their numbers here
  std::vector<Expr> rows_;
  int outer_ = 0;
  Expr y_, x_;  // of the two loops that a tile is of
  std::vector<Expr> at_;
};

}  // namespace

KernelText print_tiled_map(const Graph& body, const MapLoops& loops, const MapTiling& tiling, const std::string& name) {
  return MapTilePrinter(body, loops, tiling).print(tiling, name);
}

}  // namespace lumen
