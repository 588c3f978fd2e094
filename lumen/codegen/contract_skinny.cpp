#include "lumen/codegen/contract_skinny.h"

#include <fmt/format.h>

#include "lumen/codegen/contract_narrow.h"
#include "lumen/codegen/contract_nibbles.h"
#include "lumen/codegen/contract_runs.h"
#include "lumen/codegen/contract_skinny_blocks.h"
#include "lumen/codegen/contract_store.h"

namespace lumen {

namespace {

Expected<void> check_blocks(const ContractRoles& roles, const ContractSchedule& s) {
  if (s.blocks >= 0 && s.blocks <= best_blocks(roles, s)) return {};
  return error(fmt::format("the schedule \"{}\" wants columns that are scaled integers{}", s.str(),
                           s.blocks == 2 ? ", and rows that are bf16 or f16" : ""));
}

class SkinnyPrinter : SkinnyFrame {
 public:
  SkinnyPrinter(const Graph& body, SkinnyFrame frame) : SkinnyFrame(std::move(frame)), body_(body) {
    rows_ = ceil_div(roles.extent(Role::row), s_.mr) * s_.mr;
    const std::optional<PlainFactor> held = held_factor(roles, roles.rows, Role::row, false).plain;
    const bool whole = rows_ == roles.extent(Role::row) && !is_fixed();
    if (held && whole && (held->summed == Expr(1) || (held->summed == Expr(0) && s_.blocks == 0))) plain = held;
    if (s_.blocks != 0) scaled_ = scaled_columns(roles, columns).value();
    if (s_.blocks == 0) narrow_ = narrow_columns(*this);
    if (is_fixed()) nibbles_ = nibble_columns(columns, scaled_);
  }

  Expected<KernelText> print() {
    KernelText kernel;
    if (s_.blocks != 0) {
      kernel.text +=
          nibbles_.empty() ? scaled_words(name, block(), is_fixed()) : nibble_words(name, nibbles_[0].offset);
    }
    if (!narrow_.empty()) kernel.text += narrow_words(name, narrow_[0].dtype);
    if (!plain) {
      kernel.text += LUMEN_TRY(rows_step(kernel.faults));
      kernel.steps.push_back({name + "_rows", roles.extent(Role::batch) * rows_});
      kernel.scratch = roles.extent(Role::batch) * rows_ * row_size() * (has_short_rows() ? 2 : types.sum_bytes);
    }
    for (size_t side = 0; side < roles.columns.size(); ++side) {
      kernel.text += LUMEN_TRY(part(side, at_once(), kernel.faults));
      if (at_once() > 1) kernel.text += LUMEN_TRY(part(side, 1, kernel.faults));
    }
    kernel.text += LUMEN_TRY(print_store(body_, roles, {name + "_store", types.sum, s_.nc}, kernel.faults));
    kernel.text += block_step();
    const Expr blocks = roles.extent(Role::batch) * ceil_div(roles.extent(Role::column), s_.nc);
    kernel.steps.push_back({name, grain_of(body_) == 1 ? blocks : Expr(1)});
    return kernel;
  }

 private:
  // Columns of a dot, summed coordinates of a sweep.
  int64_t at_once() const { return dots() ? s_.nr : s_.kc; }
  // Elements with a scale in common.
  int64_t block() const { return scaled_[0].block(); }
  // What the rows' elements are in scratch, and how many a row has there: with a float of scale for each block, when
  // they are integers; whole lines, where these are read as such.
  bool has_short_rows() const { return is_fixed() || (!narrow_.empty() && narrow_[0].are_bytes()); }
  std::string_view row_type() const { return has_short_rows() ? "int16_t" : std::string_view(types.sum); }
  Expr row_size() const {
    constexpr int64_t kLine = 32;
    if (!nibbles_.empty()) return depth * kMostRoom + ceil_div(depth / block() * 2, kLine) * kLine;
    return is_fixed() ? depth + depth / block() * 2 : depth;
  }
  // So many of them are an element's, without its part of the scale, in C.
  std::string room() const { return nibbles_.empty() ? "1" : name + "_room"; }

  // The rows, computed: each along the summed axis, as many as tiles have.
  Expected<std::string> rows_step(std::vector<std::string>& faults) const {
    ElementWriter writer(*roles.graph, 6);
    const std::string value = writer.value(roles.rows, roles.at);
    if (!writer.problem().empty()) return error(writer.problem());
    std::string text = kernel_head(body_, name + "_rows");
    text += fmt::format(
        "  LUMEN_ROWS(row) {{\n"
        "    {T}* LUMEN_RESTRICT const x = ({T}*)out[{scratch}] + row * {size};\n"
        "    const int64_t i0 = row / {R}, i1 = row % {R};\n"
        "    {elements}"
        "    for (int64_t k = i1 < {M} ? {size} : 0; k < {size}; ++k) x[k] = 0;\n  }}\n",
        fmt::arg("T", row_type()), fmt::arg("scratch", body_.outputs().size()), fmt::arg("size", number(row_size())),
        fmt::arg("R", number(rows_)), fmt::arg("M", number(roles.extent(Role::row))),
        fmt::arg("elements", row_elements(writer.text(), value)));
    text += "  return " + fault_number(faults.size()) + ";\n}\n";
    faults.insert(faults.end(), writer.faults().begin(), writer.faults().end());
    return text;
  }

  std::string row_elements(const std::string& element, const std::string& value) const {
    const std::string K = number(depth), M = number(roles.extent(Role::row));
    if (!is_fixed()) {
      return fmt::format("LUMEN_ELEMENTS(i3, i1 < {} ? {} : 0) {{\n{}      x[i3] = ({}){};\n    }}\n", M, K, element,
                         row_type(), value);
    }
    return fmt::format(
        "float block[{B}] __attribute__((aligned(64)));\n"
        "    for (int64_t k = 0; i1 < {M} && k < {K}; k += {B}) {{\n"
        "      LUMEN_ELEMENTS(l, {B}) {{\n        const int64_t i3 = k + l;\n{text}      block[l] = {value};\n      "
        "}}\n"
        "      {name}_fix(block, x + k * {room}, (float*)(x + {K} * {room}) + k / {B});\n    }}\n",
        fmt::arg("B", block()), fmt::arg("M", M), fmt::arg("K", K), fmt::arg("text", element), fmt::arg("value", value),
        fmt::arg("name", name), fmt::arg("room", room()));
  }

  std::string part_name(size_t side, int64_t count) const { return fmt::format("{}_{}_{}", name, side, count); }
  // The sums of a few columns, or what a few summed coordinates add to all columns of a block.
  Expected<std::string> part(size_t side, int64_t count, std::vector<std::string>& faults) const {
    const std::optional<SummedRuns> runs =
        dots() && s_.blocks == 0 ? summed_runs(roles, *columns[side].graph, columns[side].node) : std::nullopt;
    std::vector<std::string> messages;
    std::string loops;
    if (s_.blocks != 0) {
      loops = LUMEN_TRY(blocks_loop(*this, side, scaled_[side], count, messages));
      if (!nibbles_.empty()) loops = nibbles_loop(*this, side, nibbles_[side], count, loops);
    } else if (!narrow_.empty()) {
      loops = narrow_loop(*this, narrow_[side], count);
    } else if (runs) {
      loops = LUMEN_TRY(runs_loop(side, count, *runs, messages));
    } else {
      ElementWriter writer(*columns[side].graph, 6);
      const std::string value = writer.value(columns[side].node, roles.at);
      if (!writer.problem().empty()) return error(writer.problem());
      loops = dots() ? dot_loop(count, writer.text(), value) : sweep_loop(count, writer.text(), value);
      messages = writer.faults();
    }
    std::string text = fmt::format(
        "static int64_t {0}(const void* const* in, void* const* out, const int64_t* dims, const {1}* LUMEN_RESTRICT x, "
        "int64_t step, int64_t i0, int64_t c, int64_t k, int64_t columns, {2}* LUMEN_RESTRICT t) {{\n{3}"
        "  int64_t fault = 0;\n",
        part_name(side, count), row_type(), types.sum, kernel_names(body_));
    text += loops + "  return " + fault_number(faults.size()) + ";\n}\n";
    faults.insert(faults.end(), messages.begin(), messages.end());
    return text;
  }

  std::string dot_loop(int64_t count, const std::string& element, const std::string& value) const {
    std::string sums, terms, stores, names;
    for (int64_t j = 0; j < count; ++j) {
      terms += fmt::format("    {{\n      const int64_t i2 = c + {};\n{}", j, element);
      for (int64_t r = 0; r < s_.mr; ++r) {
        sums += fmt::format("  {} s{}_{} = 0;\n", types.sum, r, j);
        names += fmt::format("{}s{}_{}", names.empty() ? "" : ", ", r, j);
        terms += fmt::format("      s{}_{} += {} * ({}){};\n", r, j, row_element(r, "i3"), types.sum, value);
        stores += fmt::format("  t[{}] = s{}_{};\n", r * s_.nc + j, r, j);
      }
      terms += "    }\n";
    }
    return fmt::format("{}  LUMEN_FOLD(i3, {}, reduction(| : fault) reduction(+ : {})) {{\n{}  }}\n{}", sums,
                       number(depth), names, terms, stores);
  }

  // As many sums as a run is long, so that a run needs no sum across its lanes. `messages` gets the faults'.
  Expected<std::string> runs_loop(size_t side, int64_t count, const SummedRuns& runs,
                                  std::vector<std::string>& messages) const {
    std::string terms;
    for (size_t turn = 0; turn < runs.turns.size(); ++turn) {
      ElementWriter writer(*columns[side].graph, 6, messages);
      writer.open_loop(fmt::format("LUMEN_ELEMENTS(i5, {})", runs.length), Expr::index(5, runs.length), false);
      const std::string value = writer.value(columns[side].node, runs.turns[turn]);
      if (!writer.problem().empty()) return error(writer.problem());
      const std::string k = fmt::format("((i4 * {} + {}) * {} + i5)", runs.turns.size(), turn, runs.length);
      const std::string ahead = fetch_ahead(side, writer, runs.length, runs.length);
      for (int64_t j = 0; j < count; ++j) {
        terms += fmt::format("    {{\n      const int64_t i2 = c + {};\n{}{}", j, ahead, writer.text());
        for (int64_t r = 0; r < s_.mr; ++r) {
          terms += fmt::format("        s{}_{}[i5] += {} * ({}){};\n", r, j, row_element(r, k), types.sum, value);
        }
        terms += "      }\n    }\n";
      }
      messages = writer.faults();
    }
    std::string sums, stores;
    for (int64_t j = 0; j < count * s_.mr; ++j) {
      const std::string sum = fmt::format("s{}_{}", j / count, j % count);
      sums += fmt::format("  {} {}[{}] __attribute__((aligned(64))) = {{0}};\n", types.sum, sum, runs.length);
      stores += fmt::format(
          "  {{\n    {3} all = 0;\n    LUMEN_FOLD(l, {1}, reduction(+ : all)) all += {2}[l];\n    t[{0}] = all;\n  "
          "}}\n",
          j / count * s_.nc + j % count, runs.length, sum, types.sum);
    }
    const auto turn_length = static_cast<int64_t>(runs.turns.size()) * runs.length;
    return fmt::format("{}  for (int64_t i4 = 0; i4 < {} / {}; ++i4) {{\n{}  }}\n{}", sums, number(depth), turn_length,
                       terms, stores);
  }

  std::string sweep_loop(int64_t count, const std::string& element, const std::string& value) const {
    std::string factors, terms, sums;
    for (int64_t r = 0; r < s_.mr; ++r) {
      std::string sum = fmt::format("t[{} + j]", r * s_.nc);
      for (int64_t u = 0; u < count; ++u) {
        factors +=
            fmt::format("  const {} x{}_{} = {};\n", types.sum, r, u, row_element(r, fmt::format("(k + {})", u)));
        sum += fmt::format(" + x{}_{} * e{}", r, u, u);
      }
      sums += fmt::format("    t[{} + j] = {};\n", r * s_.nc, sum);
    }
    for (int64_t u = 0; u < count; ++u) {
      terms +=
          fmt::format("    {0} e{1};\n    {{\n      const int64_t i3 = k + {1};\n{2}      e{1} = ({0}){3};\n    }}\n",
                      types.sum, u, element, value);
    }
    return fmt::format("{}  LUMEN_ELEMENTS(j, columns) {{\n    const int64_t i2 = c + j;\n{}{}  }}\n", factors, terms,
                       sums);
  }

  std::string block_step() const {
    std::string text = fmt::format("LUMEN_C_KERNEL({}) {{\n{}  int64_t fault = 0, found;\n", name, kernel_names(body_));
    const Expr blocks = ceil_div(roles.extent(Role::column), s_.nc);
    if (grain_of(body_) != 1) {
      text += fmt::format("  begin = 0, end = end > 0 ? {} : 0;\n", number(roles.extent(Role::batch) * blocks));
    }
    text += fmt::format(
        "  {T} sums[{sides}][{size}] __attribute__((aligned(64)));\n"
        "  LUMEN_ROWS(row) {{\n"
        "    const int64_t i0 = row / {blocks}, c0 = row % {blocks} * {nc};\n"
        "    const int64_t columns = {N} - c0 < {nc} ? {N} - c0 : {nc};\n"
        "    for (int64_t m = 0; m < {M}; m += {mr}) {{\n"
        "      const int64_t i1 = m, i3 = 0, step = {step};\n"
        "      const {X}* const x = (const {X}*){x};\n",
        fmt::arg("T", types.sum), fmt::arg("X", row_type()), fmt::arg("sides", roles.columns.size()),
        fmt::arg("size", s_.mr * s_.nc), fmt::arg("blocks", number(blocks)), fmt::arg("nc", s_.nc),
        fmt::arg("N", number(roles.extent(Role::column))), fmt::arg("M", number(roles.extent(Role::row))),
        fmt::arg("mr", s_.mr), fmt::arg("step", number(plain ? plain->lane : row_size())),
        fmt::arg("x", plain ? fmt::format("(a{} + {})", plain->input, print_c(plain->index).text)
                            : fmt::format("out[{}] + (i0 * {} + m) * {}", body_.outputs().size(), number(rows_),
                                          number(row_size()))));
    std::string tiles;
    for (size_t side = 0; side < roles.columns.size(); ++side) {
      text += parts(side);
      tiles += fmt::format(", sums[{}]", side);
    }
    text += fmt::format(
        "      found = {}_store(in, out, dims, i0, m, {} - m < {} ? {} - m : {}, c0, columns{});\n"
        "      fault = found > fault ? found : fault;\n    }}\n  }}\n  return fault;\n}}\n",
        name, number(roles.extent(Role::row)), s_.mr, number(roles.extent(Role::row)), s_.mr, tiles);
    return text;
  }

  // The parts of one side, a few at a time and then one at a time.
  std::string parts(size_t side) const {
    const char* const axis = dots() ? "j" : "k";
    std::string text = fmt::format("      int64_t {}_{} = 0;\n", axis, side);
    if (!dots()) text += fmt::format("      __builtin_memset(sums[{}], 0, sizeof sums[{}]);\n", side, side);
    std::vector<int64_t> counts{at_once()};
    if (at_once() > 1) counts.push_back(1);
    for (const int64_t count : counts) {
      text += fmt::format(
          "      for (; {axis}_{side} + {count} <= {extent}; {axis}_{side} += {count}) {{\n"
          "        found = {f}(in, out, dims, x, step, i0, {c}, {k}, columns, sums[{side}]{t});\n"
          "        fault = found > fault ? found : fault;\n      }}\n",
          fmt::arg("axis", axis), fmt::arg("side", side), fmt::arg("count", count),
          fmt::arg("extent", dots() ? "columns" : number(depth)), fmt::arg("f", part_name(side, count)),
          fmt::arg("c", dots() ? fmt::format("c0 + j_{}", side) : "c0"),
          fmt::arg("k", dots() ? "0" : fmt::format("k_{}", side)),
          fmt::arg("t", dots() ? fmt::format(" + j_{}", side) : ""));
    }
    return text;
  }

  const Graph& body_;
  const ContractSchedule& s_ = schedule;
  Expr rows_;                          // filled up to whole groups
  std::vector<ScaledRuns> scaled_;     // of the columns, when the schedule has blocks
  std::vector<NibbleBlocks> nibbles_;  // of them, when all are such and rows are integers
  std::vector<NarrowColumns> narrow_;  // the columns, when they are read as vectors
};

}  // namespace

int64_t best_blocks(const ContractRoles& roles, const ContractSchedule& schedule) {
  const bool dots = schedule.method == ContractMethod::dot && roles.dtype == f32;
  if (!dots || !scaled_columns(roles, column_factors(roles, schedule.wide != 0))) return 0;
  const std::optional<NarrowFactor> rows = narrow_factor(roles, roles.rows);
  return rows && is_float(rows->dtype) ? 2 : 1;
}

Expected<KernelText> print_skinny(const Graph& body, const ContractRoles& roles, const std::string& name,
                                  const ContractSchedule& schedule) {
  const int64_t at_once = schedule.method == ContractMethod::dot ? schedule.nr : schedule.kc;
  const bool sized = schedule.mr > 0 && at_once > 0 && schedule.nc > 0 && schedule.direct == 0;
  if (!sized || schedule.mr * schedule.nc > (1 << 16) || schedule.mr * at_once > 128) {
    return error(fmt::format("the schedule \"{}\" is not one of a product with few rows", schedule.str()));
  }
  if (schedule.blocks != 0) LUMEN_TRY(check_blocks(roles, schedule));
  SkinnyFrame frame{roles,
                    name,
                    schedule,
                    vector_types(roles.dtype),
                    roles.extent(Role::summed),
                    std::nullopt,
                    column_factors(roles, schedule.wide != 0)};
  return SkinnyPrinter(body, std::move(frame)).print();
}

}  // namespace lumen
