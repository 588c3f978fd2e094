#include "lumen/codegen/contract_gemm.h"

#include <fmt/format.h>

#include "lumen/codegen/contract_mend.h"
#include "lumen/codegen/contract_pack.h"
#include "lumen/codegen/contract_store.h"
#include "lumen/codegen/contract_tile.h"
#include "lumen/codegen/contract_types.h"

namespace lumen {

namespace {

constexpr const char* kParameters = "in, out, dims";

class GemmPrinter {
 public:
  GemmPrinter(const Graph& body, const ContractRoles& roles, std::string name, const ContractSchedule& schedule,
              const Target& target, TileTypes types)
      : body_(body), roles_(roles), name_(std::move(name)), s_(schedule), target_(target), types_(std::move(types)) {
    depth_ = ceil_div(roles.extent(Role::summed), types_.depth) * types_.depth;
    panels_ = ceil_div(roles.extent(Role::column), s_.nr);
    one_side_ = roles.extent(Role::batch) * panels_ * depth_ * column_step();
    if ((s_.direct & 1) != 0) rows_ = held(roles.rows, Role::row).plain;
    for (const NodeId factor : roles.columns) {
      if ((s_.direct & 2) != 0) columns_.push_back(*held(factor, Role::column).plain);
    }
  }

  Expected<KernelText> print() {
    KernelText kernel;
    LUMEN_TRY(print_packings(kernel));
    kernel.text += s_.method == ContractMethod::amx
                       ? print_amx_tile(name_ + "_tile", types_, s_, steps())
                       : print_vector_tile(name_ + "_tile", types_, s_, target_.vector_bytes, steps());
    for (size_t side = 0; side < roles_.columns.size() && in_pieces(); ++side) {
      const std::string function = fmt::format("{}_mend{}", name_, side);
      kernel.text += LUMEN_TRY(print_mend(roles_, roles_.columns[side], function, s_.mr, s_.nr));
    }
    const StorePlan store{name_ + "_store", types_.sum, s_.nr, s_.past != 0};
    kernel.text += LUMEN_TRY(print_store(body_, roles_, store, kernel.faults));
    const Expr sides = static_cast<int64_t>(roles_.columns.size());
    if (columns_.empty() && s_.own == 0) {
      kernel.text += pack_step();
      kernel.steps.push_back({name_ + "_pack", sides * roles_.extent(Role::batch) * panels_});
      kernel.scratch = sides * one_side_ * element_bytes();
    }
    kernel.text += block_step();
    kernel.steps.push_back({name_, grain_of(body_) == 1 ? blocks() : Expr(1)});
    return kernel;
  }

 private:
  int64_t element_bytes() const { return types_.sum_bytes / types_.group; }
  // Packed elements of a panel for one summed coordinate.
  int64_t row_step() const { return s_.mr * types_.row_pieces; }
  int64_t column_step() const { return s_.nr * types_.column_pieces; }
  bool in_pieces() const { return types_.row_pieces > 1 || types_.column_pieces > 1; }
  Expr row_blocks() const { return ceil_div(roles_.extent(Role::row), s_.mc); }
  Expr column_blocks() const { return ceil_div(roles_.extent(Role::column), s_.nc); }
  Expr blocks() const { return roles_.extent(Role::batch) * row_blocks() * column_blocks(); }

  TileSteps steps() const {
    const bool amx = s_.method == ContractMethod::amx;
    const int64_t depth = types_.depth;
    TileSteps steps{amx ? depth : 1, row_step() * depth, column_step() * depth};
    if (rows_) steps.row = *rows_->lane.constant(), steps.row_summed = *rows_->summed.constant() * depth;
    if (!columns_.empty()) steps.column_summed = *columns_[0].summed.constant();
    steps.by_lanes = target_.lane_products && !amx && (steps.row == 1 || steps.row_summed == 1);
    if (fetches_ahead()) steps.ahead = (column_step() + s_.mc / s_.mr - 1) / (s_.mc / s_.mr);
    return steps;
  }

  // While the rows of a block pass by a piece of columns, the matrix unit fetches the next one, which follows it: each
  // tile a share, where there are several. 1.15 times as fast at 1024.
  bool fetches_ahead() const {
    return s_.method == ContractMethod::amx && s_.own == 0 && s_.mc / s_.mr >= kTilesThatFetch;
  }
  static constexpr int64_t kTilesThatFetch = 4;
  // What is summed before a tile is put away.
  int64_t part() const { return s_.kr == 0 ? s_.kc : s_.kr; }

  HeldFactor held(NodeId factor, Role lane) const {
    return held_factor(roles_, factor, lane, s_.method != ContractMethod::gemm && pieces(lane) == 1);
  }

  int64_t pieces(Role lane) const { return lane == Role::row ? types_.row_pieces : types_.column_pieces; }

  Expected<std::string> packing(const std::string& function, NodeId factor, Role lane,
                                std::vector<std::string>& faults) const {
    const HeldFactor from = held(factor, lane);
    Packing p;
    p.function = function;
    p.graph = from.graph.get();
    p.factor = from.node;
    p.convert = from.convert;
    p.plain = from.plain;
    p.along_summed = from.along_summed;
    p.lane = lane;
    p.lanes = lane == Role::row ? s_.mr : s_.nr;
    p.group = types_.group;
    p.multiple = types_.depth;
    if (types_.flipped && lane == Role::column) p.convert = "lumen_flip_byte", p.plain.reset();
    p.pieces = pieces(lane);
    if (p.pieces > 1) p.plain.reset();
    p.type = types_.packed;
    p.vector_bytes = target_.vector_bytes;
    if (s_.method == ContractMethod::amx && lane == Role::row) p.depth = types_.depth;
    return print_packing(roles_, p, faults);
  }

  Expected<void> print_packings(KernelText& kernel) {
    if (!rows_) kernel.text += LUMEN_TRY(packing(name_ + "_rows", roles_.rows, Role::row, kernel.faults));
    for (size_t side = 0; side < roles_.columns.size() && columns_.empty(); ++side) {
      kernel.text += LUMEN_TRY(
          packing(fmt::format("{}_columns{}", name_, side), roles_.columns[side], Role::column, kernel.faults));
    }
    return {};
  }

  // Columns side by side may be pages apart along the sum. So few pages go to all panels before the next ones do that
  // the processor still knows where they are.
  std::string packed_at_once() const {
    constexpr int64_t kPages = 128;
    const auto lies_along = [&](NodeId factor) { return held(factor, Role::column).along_summed; };
    if (std::ranges::any_of(roles_.columns, lies_along)) return number(roles_.extent(Role::summed));
    return std::to_string(round_up(kPages, types_.depth));
  }

  // Panels of all sides, one after the other.
  std::string pack_step() const {
    std::string text =
        fmt::format("LUMEN_C_KERNEL({}_pack) {{\n{}  int64_t fault = 0, found = 0;\n", name_, kernel_names(body_));
    text += fmt::format(
        "  {0}* const packed = ({0}*)out[{1}];\n"
        "  for (int64_t k0 = 0; k0 < {4}; k0 += {5}) LUMEN_ROWS(row) {{\n"
        "    const int64_t panel = row % {2}, i0 = row / {2} % {3}, k1 = k0 + {5} < {4} ? k0 + {5} : {4};\n",
        types_.packed, body_.outputs().size(), number(panels_), number(roles_.extent(Role::batch)),
        number(roles_.extent(Role::summed)), packed_at_once());
    for (size_t side = 0; side < roles_.columns.size(); ++side) {
      text += fmt::format(
          "    if (row / {0} / {1} == {2}) found = {3}_columns{2}({4}, packed + (row * {5} + k0) * {6}, i0, panel * "
          "{7}, "
          "k0, k1);\n",
          number(panels_), number(roles_.extent(Role::batch)), side, name_, kParameters, number(depth_), column_step(),
          s_.nr);
    }
    return text + "    fault = found > fault ? found : fault;\n  }\n  return fault;\n}\n";
  }

  // After the last products of a tile, whose results lie at `t`.
  std::string mend(size_t side, const std::string& t, const std::string& step, std::string_view rows,
                   std::string_view columns) const {
    if (!in_pieces()) return "";
    return fmt::format("          {}_mend{}({}, i0, m, {}, c, {}, {}, {});\n", name_, side, kParameters, rows, columns,
                       t, step);
  }

  bool sums_at_most(int64_t products) const {
    const std::optional<int64_t> k = roles_.extent(Role::summed).constant();
    return k && *k <= products;
  }
  // Whether no sums wait in memory for the next products.
  bool in_one_go() const { return sums_at_most(part()); }
  // Tiles that wait: none, those of one panel of columns, or all of a block.
  int64_t kept_tiles() const {
    if (in_one_go()) return 1;
    return sums_at_most(s_.kc) ? s_.mc / s_.mr : (s_.mc / s_.mr) * (s_.nc / s_.nr);
  }
  std::string kept_tile() const {
    if (in_one_go()) return "0";
    if (sums_at_most(s_.kc)) return fmt::format("(m - m0) / {}", s_.mr);
    return fmt::format("(m - m0) / {} * {} + (c - c0) / {}", s_.mr, s_.nc / s_.nr, s_.nr);
  }

  std::string block_step() const {
    const bool amx = s_.method == ContractMethod::amx;
    std::string text =
        fmt::format("LUMEN_C_KERNEL({}) {{\n{}  int64_t fault = 0, found;\n", name_, kernel_names(body_));
    if (amx) text += amx_begin();
    text += fmt::format(
        "  {0} rows[{1}] __attribute__((aligned(64)));\n"
        "  {2} sums[{3}][{4}][{5}] __attribute__((aligned(64)));\n"
        "  const {0}* const packed = (const {0}*)out[{6}];\n",
        types_.packed, rows_ ? 1 : s_.mc * s_.kc * types_.row_pieces, types_.sum, roles_.columns.size(), kept_tiles(),
        s_.mr * s_.nr, body_.outputs().size());
    if (s_.own != 0) {
      text += fmt::format("  {} columns[{}][{}] __attribute__((aligned(64)));\n", types_.packed, roles_.columns.size(),
                          s_.kc * column_step());
    }
    if (grain_of(body_) != 1) text += fmt::format("  begin = 0, end = end > 0 ? {} : 0;\n", number(blocks()));
    text += "  int64_t held = -1;\n  LUMEN_ROWS(row) {\n" + block_place() + block_loop() + "  }\n";
    if (amx) text += amx_end();
    if (s_.past != 0) text += "  lumen_end_stream();\n";
    return text + "  return fault;\n}\n";
  }

  std::string block_place() const {
    return fmt::format(
        "    const int64_t i0 = row / {cb} / {rb}, block = row / {cb};\n"
        "    const int64_t m0 = block % {rb} * {mc}, c0 = row % {cb} * {nc};\n"
        "    const int64_t m1 = m0 + {mc} < {M} ? m0 + {mc} : {M}, c1 = c0 + {nc} < {N} ? c0 + {nc} : {N};\n",
        fmt::arg("cb", number(column_blocks())), fmt::arg("rb", number(row_blocks())), fmt::arg("mc", s_.mc),
        fmt::arg("nc", s_.nc), fmt::arg("M", number(roles_.extent(Role::row))),
        fmt::arg("N", number(roles_.extent(Role::column))));
  }

  // Rows of a block as tiles take them; once when a block has all its products at once.
  std::string rows_loop() const {
    if (rows_) return "";
    return fmt::format(
        "      if (held != block || {K} > {kc}) {{\n"
        "        for (int64_t m = m0; m < m1; m += {mr}) {{\n"
        "          found = {f}_rows({p}, rows + (m - m0) * depth * {r}, i0, m, k0, k1);\n"
        "          fault = found > fault ? found : fault;\n        }}\n"
        "        held = block;\n      }}\n",
        fmt::arg("kc", s_.kc), fmt::arg("K", number(roles_.extent(Role::summed))), fmt::arg("mr", s_.mr),
        fmt::arg("f", name_), fmt::arg("p", kParameters), fmt::arg("r", types_.row_pieces));
  }

  std::string own_panels() const {
    std::string text;
    for (size_t side = 0; side < roles_.columns.size() && s_.own != 0; ++side) {
      text += fmt::format(
          "        found = {0}_columns{1}({2}, columns[{1}], i0, c, k0, k1);\n"
          "        fault = found > fault ? found : fault;\n",
          name_, side, kParameters);
    }
    return text;
  }

  // Where a tile's rows and columns are. Read where they lie, the last ones of an axis are those of a whole tile, of
  // which some were done before.
  std::string tile_place() const {
    const auto last = [](bool direct, const char* at, int64_t size, const std::string& extent) {
      return direct ? fmt::format("{0} + {1} <= {2} ? {0} : {2} - {1}", at, size, extent) : std::string(at);
    };
    std::string text = fmt::format("        const int64_t i1 = {}, i2 = {}, i3 = s0;\n",
                                   last(rows_.has_value(), "m", s_.mr, number(roles_.extent(Role::row))),
                                   last(!columns_.empty(), "c", s_.nr, number(roles_.extent(Role::column))));
    text += fmt::format("        const {}* const a = ", types_.packed);
    text += rows_ ? fmt::format("(const {}*)a{} + {};\n", types_.packed, rows_->input, print_c(rows_->index).text)
                  : fmt::format("rows + (m - m0) * depth * {} + (s0 - k0) * {};\n", types_.row_pieces, row_step());
    for (size_t side = 0; side < roles_.columns.size(); ++side) {
      text += fmt::format("        const {}* const b{} = {};\n", types_.packed, side, column_place(side));
    }
    return text;
  }

  std::string column_place(size_t side) const {
    if (s_.own != 0) return fmt::format("columns[{}] + (s0 - k0) * {}", side, column_step());
    if (!columns_.empty()) {
      const PlainFactor& plain = columns_[side];
      return fmt::format("(const {}*)a{} + {}", types_.packed, plain.input, print_c(plain.index).text);
    }
    return fmt::format("packed + {0} * {1} + ((i0 * {2} + c / {3}) * {4} + s0) * {5}", side, number(one_side_),
                       number(panels_), s_.nr, number(depth_), column_step());
  }

  // The sums themselves are the only output, and lie along columns: whole tiles are stored by the tile function. Those
  // of the matrix unit wait there for the next products, too: what it has stored is slow to be read by vectors.
  bool stores_whole_tiles() const {
    const Expr index = roles_.result.flat_index(roles_.at_result());
    return s_.past == 0 && (in_one_go() || s_.method == ContractMethod::amx) && body_.outputs().size() == 1 &&
           roles_.contracts.size() == 1 && has_lines(body_, roles_) && step_of(roles_, index, Role::row) &&
           roles_.graph->outputs()[0].value == roles_.contracts[0] && is_held_as_stored(roles_.dtype);
  }

  std::string whole_tile() const {
    const Expr index = roles_.result.flat_index(roles_.at_result());
    const std::string at = fmt::format("({}*)r0 + {}", types_.sum, print_c(index).text);
    const std::string step = number(*step_of(roles_, index, Role::row));
    std::string text = fmt::format(
        "        if (m + {} <= m1 && c + {} <= c1) {{\n"
        "          {}_tile(part, a, b0, {}, {}, s0 == 0{});\n",
        s_.mr, s_.nr, name_, at, step, next(0));
    if (in_pieces()) {
      text += fmt::format("          if (s1 == {})\n", number(roles_.extent(Role::summed))) +
              mend(0, at, step, std::to_string(s_.mr), std::to_string(s_.nr));
    }
    return text + "          continue;\n        }\n";
  }

  // A tile's share of the columns that follow.
  std::string next(size_t side) const {
    if (!fetches_ahead()) return "";
    return fmt::format(", (const char*)(b{} + part * {}) + (m - m0) / {} * (part / {} * {})", side, column_step(),
                       s_.mr, types_.depth, steps().ahead * 64);
  }

  // A sum of nothing is a tile of zeros, so the loop runs once.
  std::string block_loop() const {
    const std::string K = number(roles_.extent(Role::summed));
    std::string text = fmt::format(
        "    int64_t k0 = 0;\n    do {{\n"
        "      const int64_t k1 = k0 + {kc} < {K} ? k0 + {kc} : {K};\n"
        "      const int64_t depth = (k1 - k0 + {D} - 1) / {D} * {D};\n{rows}"
        "      for (int64_t c = c0; c < c1; c += {nr}) {{\n{own}      int64_t s0 = k0;\n      do {{\n"
        "      const int64_t s1 = s0 + {kr} < k1 ? s0 + {kr} : k1, part = (s1 - s0 + {D} - 1) / {D} * {D};\n"
        "      for (int64_t m = m0; m < m1; m += {mr}) {{\n"
        "        const int64_t tile = {tile};\n{place}",
        fmt::arg("kc", s_.kc), fmt::arg("K", K), fmt::arg("D", types_.depth), fmt::arg("mr", s_.mr),
        fmt::arg("nr", s_.nr), fmt::arg("rows", rows_loop()), fmt::arg("own", own_panels()),
        fmt::arg("tile", kept_tile()), fmt::arg("kr", part()), fmt::arg("place", tile_place()));
    if (stores_whole_tiles()) text += whole_tile();
    std::string tiles, mending;
    for (size_t side = 0; side < roles_.columns.size(); ++side) {
      text += fmt::format("        {0}_tile(part, a, b{1}, sums[{1}][tile], {2}, s0 == 0{3});\n", name_, side, s_.nr,
                          next(side));
      const std::string at = fmt::format("sums[{}][tile] + (m - i1) * {} + (c - i2)", side, s_.nr);
      tiles += ", " + at;
      mending += mend(side, at, std::to_string(s_.nr), "rows_left", "columns_left");
    }
    text += fmt::format(
        "        if (s1 == {K}) {{\n"
        "          const int64_t rows_left = m1 - m < {mr} ? m1 - m : {mr}, columns_left = c1 - c < {nr} ? c1 - c : "
        "{nr};\n"
        "{mending}"
        "          found = {f}_store({p}, i0, m, rows_left, c, columns_left{t});\n"
        "          fault = found > fault ? found : fault;\n        }}\n      }}\n"
        "      s0 = s1;\n      }} while (s0 < k1);\n      }}\n"
        "      k0 = k1;\n    }} while (k0 < {K});\n",
        fmt::arg("K", K), fmt::arg("f", name_), fmt::arg("p", kParameters), fmt::arg("mr", s_.mr),
        fmt::arg("nr", s_.nr), fmt::arg("t", tiles), fmt::arg("mending", mending));
    return text;
  }

  const Graph& body_;
  const ContractRoles& roles_;
  std::string name_;
  ContractSchedule s_;
  const Target& target_;
  TileTypes types_;
  Expr depth_;                        // of a packed panel
  Expr panels_;                       // of columns
  Expr one_side_;                     // packed elements
  std::optional<PlainFactor> rows_;   // when they are read where they lie
  std::vector<PlainFactor> columns_;  // likewise
};

// Whether tiles can read a factor where it lies: whole tiles at constant steps.
bool is_direct(const ContractRoles& roles, NodeId factor, Role lane, const ContractSchedule& s,
               const TileTypes& types) {
  if (s.method == ContractMethod::quads) return false;
  const bool amx = s.method == ContractMethod::amx;
  if ((lane == Role::row ? types.row_pieces : types.column_pieces) > 1) return false;
  const std::optional<PlainFactor> plain = held_factor(roles, factor, lane, amx).plain;
  const std::optional<int64_t> extent = roles.extent(lane).constant(), k = roles.extent(Role::summed).constant();
  if (!plain || !extent || !k || !plain->lane.is_constant() || !plain->summed.is_constant()) return false;
  if (lane == Role::column) return !amx && *extent >= s.nr && plain->lane == Expr(1);
  return *extent >= s.mr && (!amx || (plain->summed == Expr(1) && *k % types.depth == 0));
}

Expected<void> check_direct(const ContractRoles& roles, const ContractSchedule& s, const TileTypes& types) {
  bool direct = (s.direct & 1) == 0 || is_direct(roles, roles.rows, Role::row, s, types);
  std::optional<Expr> step;  // one tile function serves all sides
  for (const NodeId factor : roles.columns) {
    if ((s.direct & 2) == 0 || !direct) continue;
    direct = is_direct(roles, factor, Role::column, s, types);
    if (!direct) continue;
    const Expr own = held_factor(roles, factor, Role::column, false).plain->summed;
    direct = !step || *step == own;
    step = own;
  }
  if (s.own != 0 && (s.direct & 2) != 0) direct = false;
  if (direct) return {};
  return error(fmt::format("an operand cannot be read where it lies, as the schedule \"{}\" wants", s.str()));
}

Expected<void> check_gemm(const ContractSchedule& s, const TileTypes& types, int64_t lanes) {
  const bool whole = s.mr > 0 && s.nr > 0 && s.kc > 0 && s.nr % lanes == 0 && s.mc % s.mr == 0 && s.nc % s.nr == 0 &&
                     s.mc > 0 && s.nc > 0 && s.kc % types.depth == 0 && s.kr >= 0 && s.kr <= s.kc &&
                     s.kr % types.depth == 0;
  const bool amx = s.method == ContractMethod::amx;
  const bool registers = !amx || (s.mr % 16 == 0 && (s.mr / 16) * (s.nr / 16) + s.mr / 16 + s.nr / 16 <= 8);
  const bool in_vectors = amx || s.mr % tile_rows(types, lanes) == 0;
  constexpr int64_t kPackedBytes = 4 << 20;
  const bool fits =
      whole &&
      s.mc * s.kc * types.row_pieces * types.sum_bytes / types.group + s.mc * s.nc * types.sum_bytes <= kPackedBytes;
  if (whole && registers && in_vectors && fits) return {};
  return error(
      fmt::format("the schedule \"{}\" does not fit tiles of {} lanes and depth {}", s.str(), lanes, types.depth));
}

}  // namespace

Expected<KernelText> print_gemm(const Graph& body, const ContractRoles& roles, const std::string& name,
                                const ContractSchedule& schedule, const Target& target) {
  TileTypes types = vector_types(roles.dtype);
  int64_t lanes = target.vector_bytes / types.sum_bytes;
  if (schedule.method != ContractMethod::gemm) {
    const bool amx = schedule.method == ContractMethod::amx;
    std::optional<TileTypes> found = amx ? matrix_types(roles, target) : quad_types(roles, target);
    if (amx && !found) found = piece_types(roles, target);
    if (!found) {
      return error(fmt::format("no {} {} for \"{}\"", amx ? "matrix unit multiplies" : "vectors multiply four by four",
                               lumen::name(roles.dtype), schedule.str()));
    }
    types = *found;
    if (amx) lanes = 16;
  }
  LUMEN_TRY(check_gemm(schedule, types, lanes));
  LUMEN_TRY(check_direct(roles, schedule, types));
  return GemmPrinter(body, roles, name, schedule, target, types).print();
}

}  // namespace lumen
