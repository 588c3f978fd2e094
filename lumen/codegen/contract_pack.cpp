#include "lumen/codegen/contract_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lumen/codegen/contract_runs.h"
#include "lumen/codegen/element.h"
#include "lumen/codegen/guard_range.h"
#include "lumen/codegen/kernel_text.h"
#include "lumen/codegen/scalar.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

// Columns of a row are exchanged with rows of a column, in blocks of 1, 2, 4, … lanes.
std::string transpose_function(const std::string& name, int64_t lanes, std::string_view unit, int64_t width) {
  std::string text = fmt::format(
      "typedef {1} {0}_v __attribute__((vector_size({2}), aligned(1), may_alias));\n"
      "static inline __attribute__((always_inline)) void {0}(const {1}* from, int64_t step, {1}* to, int64_t to_step, "
      "int64_t rows) {{\n",
      name, unit, lanes * (unit == "uint64_t" ? 8 : 4));
  for (int64_t r = 0; r < lanes; ++r) {
    text += fmt::format("  {0}_v x0_{1} = *(const {0}_v*)(from + {1} * step);\n", name, r);
  }
  int stage = 0;
  for (int64_t h = 1; h < lanes; h *= 2, ++stage) {
    for (int64_t r = 0; r < lanes; ++r) {
      const int64_t low = r & ~h;
      text += fmt::format("  const {0}_v x{1}_{2} = __builtin_shufflevector(x{3}_{4}, x{3}_{5}", name, stage + 1, r,
                          stage, low, low | h);
      for (int64_t c = 0; c < lanes; ++c) {
        const bool own = (c & h) == (r & h);
        const int64_t lane = (r & h) == 0 ? (own ? c : c - h + lanes) : (own ? c + lanes : c + h);
        text += fmt::format(", {}", lane);
      }
      text += ");\n";
    }
  }
  for (int64_t r = 0; r < lanes; ++r) {
    text += fmt::format("  if ({} < rows) ", r);
    text += width == lanes ? fmt::format("*({0}_v*)(to + {1} * to_step) = x{2}_{1};\n", name, r, stage)
                           : fmt::format("__builtin_memcpy(to + {0} * to_step, &x{1}_{0}, {2} * sizeof({3}));\n", r,
                                         stage, width, unit);
  }
  return text + "}\n";
}

class PackPrinter {
 public:
  PackPrinter(const ContractRoles& roles, const Packing& packing)
      : roles_(roles), packing_(packing), writer_(*packing.graph, 8), halves_(find_halves()) {
    element_ = writer_.converted(packing.convert, packing.factor, roles.at);
    i_ = packing.lane == Role::row ? "i1" : "i2";
    if (writer_.divisions() == 0 || roles.widths[static_cast<size_t>(packing.lane)] == Expr(1)) return;
    const std::vector<Expr> at = split_coordinates(roles, packing.lane);
    split_ = element_at(at, false);
    find_guarded(at);
    if (narrow_) find_period(at);
  }

  Expected<std::string> print(std::vector<std::string>& faults) {
    if (!writer_.problem().empty()) return error(writer_.problem());
    const Packing& p = packing_;
    std::string text;
    const bool exchanged = exchanges();
    if (exchanged) text += transpose_function(p.function + "_exchange", lanes(), unit(), std::min(lanes(), p.lanes));
    text += head(p.function + "_part", ", int64_t count, int64_t left",
                 "static inline __attribute__((always_inline)) int64_t");
    text += p.depth > 0 ? rows_loop() : exchanged ? exchanged_loop() : lanes_loop();
    text += "  return " + fault_number(faults.size()) + ";\n}\n";
    text += head(p.function, "", "static __attribute__((noinline)) int64_t");
    text += fmt::format(
        "  const int64_t left = (int64_t)({0}) - first;\n"
        "  if (left >= {1}) return {2}_part(in, out, dims, to, i0, first, k0, k1, {1}, left);\n"
        "  return {2}_part(in, out, dims, to, i0, first, k0, k1, left, left);\n}}\n",
        print_c(roles_.extent(p.lane)).text, p.lanes, p.function);
    faults.insert(faults.end(), writer_.faults().begin(), writer_.faults().end());
    return text;
  }

 private:
  struct Element {
    std::string text, value;  // statements, and what is packed
  };
  Element element_at(std::span<const Expr> at, bool inside) const {
    ElementWriter writer(*packing_.graph, 8);
    if (inside) writer.assume_guards();
    std::string value = writer.converted(packing_.convert, packing_.factor, at);
    return {writer.text(), std::move(value)};
  }

  void find_guarded(std::span<const Expr> at) {
    ElementWriter writer(*packing_.graph, 8);
    writer.value(packing_.factor, at);
    if (writer.guards().empty()) return;
    narrow_ = narrow_range(writer.guards(), Expr::index(5, width()));
    outside_ = element_at(at, false);
    inside_ = element_at(at, true);
  }

  // The summed coordinate is period * i7 + i6, where guards do not depend on i7 and indices grow evenly with it: the
  // places of a window come again with every channel.
  void find_period(std::span<const Expr> at) {
    const std::optional<int64_t> extent = roles_.extent(Role::summed).constant();
    const std::optional<int64_t> last = roles_.widths[static_cast<size_t>(Role::summed)].constant();
    constexpr int64_t kLongest = 128;
    for (int64_t period = last.value_or(0); extent && last && period <= std::min(*extent / 2, kLongest);
         period += *last) {
      if (*extent % period != 0) continue;
      const Expr turns = Expr::index(7, *extent / period);
      const std::pair<Expr, Expr> parts[] = {
          {Expr::index(static_cast<int>(Role::summed), *extent), turns * period + Expr::index(6, period)}};
      std::vector<Expr> found;
      for (const Expr& coordinate : at) found.push_back(substitute(coordinate, parts));
      ElementWriter writer(*packing_.graph, 8);
      writer.value(packing_.factor, found);
      const auto stays = [&](Expr guard) { return step_along(guard, turns) == Expr(0); };
      const auto grows = [&](Expr index) { return step_along(index, turns).has_value(); };
      if (!std::ranges::all_of(writer.guards(), stays) || !std::ranges::all_of(writer.indices(), grows)) continue;
      period_ = period;
      return find_guarded(found);
    }
  }
  // Units come again after so many elements.
  int64_t turn() const { return std::lcm(*period_, packing_.group); }

  // Of a run of lanes, where coordinates divide along them.
  Expr width() const { return roles_.widths[static_cast<size_t>(packing_.lane)]; }
  int64_t unit_bytes() const {
    const bool wide = packing_.type == "double" || packing_.type == "int64_t" || packing_.type == "uint64_t";
    return wide ? 8 : 4;
  }
  std::string_view unit() const { return unit_bytes() == 8 ? "uint64_t" : "uint32_t"; }
  int64_t lanes() const { return packing_.vector_bytes / unit_bytes(); }
  // Elements along the summed axis are read as they lie, and exchanged a block at a time.
  bool exchanges() const {
    return packing_.depth == 0 && packing_.along_summed && lanes() > 1 &&
           (packing_.lanes <= lanes() || packing_.lanes % lanes() == 0);
  }

  std::string head(const std::string& name, std::string_view more, std::string_view kind) const {
    return fmt::format(
        "{} {}(const void* const* in, void* const* out, const int64_t* dims, {}* to, int64_t i0, int64_t first, "
        "int64_t k0, int64_t k1{}) {{\n{}  int64_t fault = 0;\n",
        kind, name, packing_.type, more, kernel_names(*packing_.graph));
  }

  // To the next multiple, in elements from k0.
  std::string padded() const {
    return packing_.multiple == 1 ? "(k1 - k0)" : fmt::format("((k1 - k0 + {0} - 1) / {0} * {0})", packing_.multiple);
  }

  // One summed coordinate after the other, all lanes of it.
  std::string lanes_loop() const {
    return fmt::format(
        "  int64_t k = 0;\n{groups}"
        "  for (; k < {padded}; ++k) {{\n"
        "    {T}* const put = to + {unit} * {g} + k % {g};\n"
        "    const int64_t i3 = k0 + k, have = i3 < k1 ? count : 0;\n{lanes}"
        "    for (int64_t l = have; l < {P}; ++l) {{\n{zero}    }}\n"
        "  }}\n",
        fmt::arg("groups", narrow_                         ? guarded_loop()
                           : packing_.group > 1 && !split_ ? groups_loop()
                                                           : ""),
        fmt::arg("padded", padded()), fmt::arg("T", packing_.type), fmt::arg("g", packing_.group),
        fmt::arg("P", packing_.lanes), fmt::arg("lanes", lane_loop()), fmt::arg("unit", unit_of("k")),
        fmt::arg("zero", put_zeros(fmt::format("put[l * {}]", packing_.group), packing_.group)));
  }

  // The first unit of summed coordinate `k` in a panel.
  std::string unit_of(std::string_view k) const {
    if (packing_.pieces == 1) return fmt::format("({} / {} * {})", k, packing_.group, packing_.lanes);
    return fmt::format("(({0} / {1} * {2} + {0} % {1}) / {3} * {4})", k, packing_.multiple,
                       packing_.multiple * packing_.pieces, packing_.group, packing_.lanes);
  }
  // From a piece of a unit to the next one's.
  int64_t units_of_piece() const { return packing_.multiple / packing_.group * packing_.lanes; }

  // "place[step * piece] = …" of an element that was computed; `step` is in what `place` counts.
  std::string put_element(const std::string& place, int64_t step, const std::string& element) const {
    if (packing_.pieces == 1) return fmt::format("        {} = {};\n", place, element);
    std::string text = pieces_of(element);
    for (int64_t p = 0; p < packing_.pieces; ++p) {
      text += fmt::format("        (&{})[{}] = (uint16_t)(piece{} >> 16);\n", place, p * step, p);
    }
    return text;
  }
  std::string put_zeros(const std::string& place, int64_t group) const {
    std::string text;
    for (int64_t p = 0; p < packing_.pieces; ++p) {
      text += fmt::format("      (&{})[{}] = 0;\n", place, p * units_of_piece() * group);
    }
    return text;
  }
  // The bits of each piece as a float: rounded to bf16, but the last, which is what is left. Of an infinity or NaN one
  // is NaN.
  std::string pieces_of(const std::string& element) const {
    std::string text = fmt::format("        const float left0 = {};\n", element);
    for (int64_t p = 0; p + 1 < packing_.pieces; ++p) {
      text += fmt::format(
          "        const uint32_t piece{0} = (lumen_bits_f32(left{0}) + 0x8000u) & 0xffff0000u;\n"
          "        const float left{1} = left{0} - lumen_from_bits_f32(piece{0});\n",
          p, p + 1);
    }
    return text + fmt::format("        const uint32_t piece{0} = lumen_bits_f32(left{0});\n", packing_.pieces - 1);
  }

  // Where coordinates divide along the lanes, they do so once for each run.
  std::string lane_loop() const {
    const auto put = [&](const std::string& element) {
      return put_element(fmt::format("put[l * {}]", packing_.group), units_of_piece() * packing_.group, element);
    };
    if (split_) return loop_in_runs(roles_, packing_.lane, "first", "have", split_->text + put(split_->value));
    return fmt::format("    LUMEN_ELEMENTS(l, have) {{\n        const int64_t {} = first + l;\n{}{}    }}\n", i_,
                       writer_.text(), put(element_));
  }

  // Whole groups, each put by `lanes` as one unit for each lane, at put[lane].
  std::string units_loop(std::string_view lanes) const {
    return fmt::format("  for (; k + {0} <= k1 - k0; k += {0}) {{\n{1}{2}{3}  }}\n", packing_.group, put_here(), lanes,
                       clear_rest());
  }
  std::string put_here() const {
    return fmt::format("    {0}* const put = ({0}*)to + {1};\n", packing_.group == 1 ? packing_.type : "uint32_t",
                       unit_of("k"));
  }
  std::string clear_rest() const {
    return fmt::format("    for (int64_t l = count; l < {}; ++l) {{\n{}    }}\n", packing_.lanes,
                       put_zeros("put[l]", 1));
  }

  // The summed coordinate of element `e` of a unit.
  std::string summed(int64_t e) const {
    if (!period_) return fmt::format("        const int64_t i3 = k0 + k + {};\n", e);
    return fmt::format("        const int64_t i6 = (w + {e}) % {P}, i7 = turn * {T} + (w + {e}) / {P};\n",
                       fmt::arg("e", e), fmt::arg("P", *period_), fmt::arg("T", turn() / *period_));
  }

  // The elements of a lane are put together in a register, which compilers see how to do for many lanes.
  std::string put_unit(std::string_view lane, const Element& element) const {
    if (packing_.group == 1) {
      return fmt::format("{}{}        put[{}] = {};\n", summed(0), element.text, lane, element.value);
    }
    std::string text, parts, puts;
    for (int64_t p = 0; p < packing_.pieces; ++p) {
      text += fmt::format("        uint32_t all{} = 0;\n", p);
      puts += fmt::format("        put[{} + {}] = all{};\n", lane, p * units_of_piece(), p);
    }
    for (int64_t e = 0; e < packing_.group; ++e) {
      parts += "        {\n" + summed(e) + element.text;
      if (packing_.pieces > 1) parts += pieces_of(element.value);
      for (int64_t p = 0; p < packing_.pieces; ++p) {
        const std::string value = packing_.pieces == 1 ? fmt::format("({}){}", packing_.type, element.value)
                                                       : fmt::format("(piece{} >> 16)", p);
        parts += fmt::format("        all{} |= (uint32_t){} << {};\n", p, value, e * 32 / packing_.group);
      }
      parts += "        }\n";
    }
    return text + parts + puts;
  }

  std::string groups_loop() const {
    return units_loop(fmt::format("    LUMEN_ELEMENTS(l, count) {{\n        const int64_t {} = first + l;\n{}    }}\n",
                                  i_, put_unit("l", {writer_.text(), element_})));
  }

  // Runs of lanes: what lies inside a guarded view is read without asking.
  std::string guarded_loop() const {
    const std::string whole = fmt::format(
        "  const int64_t width = {width}, i4 = first / width, from = first % width, run = {P}, done = 0;\n"
        "  if (count == {P} && from + {P} <= width) {{\n",
        fmt::arg("P", packing_.lanes), fmt::arg("width", print_c(width()).text));
    const std::string any = runs_loop(roles_, packing_.lane, "first", "count", run_loop("run"));
    if (!period_) return whole + units_loop(run_loop(std::to_string(packing_.lanes))) + "  }\n" + units_loop(any);
    return whole + run_loop(std::to_string(packing_.lanes)) + "  } else {\n" + any +
           fmt::format("    for (; count < {} && k + {} <= k1 - k0; k += {}) {{\n", packing_.lanes, packing_.group,
                       packing_.group) +
           put_here() + clear_rest() + "    }\n  }\n" + fmt::format("  k = (k1 - k0) / {0} * {0};\n", packing_.group);
  }

  // One run; most of the time it lies inside as a whole: so many elements, side by side.
  std::string run_loop(const std::string& count) const {
    std::string range = "      int64_t lo = from, hi = from + run;\n";
    for (int64_t e = 0; e < packing_.group; ++e) {
      range += fmt::format("      {{\n{}{}      }}\n", summed(e), *narrow_);
    }
    const std::string inside = fmt::format(
        "        LUMEN_ELEMENTS(l, {}) {{\n        const int64_t i5 = from + l;\n{}"
        "        }}\n",
        count, put_unit("done + l", inside_));
    const std::string parts = fmt::format(
        "      LUMEN_RANGE(i5, from, lo) {{\n{outside}      }}\n"
        "      LUMEN_RANGE(i5, lo, hi) {{\n{inside}      }}\n"
        "      LUMEN_RANGE(i5, hi, from + run) {{\n{outside}      }}\n",
        fmt::arg("inside", put_unit("done + i5 - from", inside_)),
        fmt::arg("outside", put_unit("done + i5 - from", outside_)));
    const std::string sort =
        "      lo = lumen_min_i64(lo, from + run), hi = lumen_max_i64(lumen_min_i64(hi, from + run), lo);\n";
    const std::string is_inside = "      if (lo <= from && hi >= from + run) {\n";
    if (!period_) return range + is_inside + inside + "        continue;\n      }\n" + sort + parts;
    return period_head() + range + is_inside + in_turns(inside) + "        continue;\n      }\n" + sort +
           in_turns(parts) + "    }\n";
  }

  // Units that lie alike, one after the other.
  std::string period_head() const {
    return fmt::format(
        "    for (int64_t w = 0; w < {T}; w += {g}) {{\n"
        "      const int64_t start = ((w - k0) % {T} + {T}) % {T};\n"
        "      int64_t turn = (k0 + start) / {T};\n",
        fmt::arg("T", turn()), fmt::arg("g", packing_.group));
  }
  std::string in_turns(const std::string& body) const {
    return fmt::format("      for (int64_t k = start; k + {} <= k1 - k0; k += {}, ++turn) {{\n{}{}      }}\n",
                       packing_.group, turn(), put_here(), body);
  }

  std::string exchanged_loop() const {
    const int64_t depth = 4 * lanes() * packing_.group;
    return fmt::format(
        "  for (int64_t l0 = 0; l0 < {P}; l0 += {V}) for (int64_t k = 0; k < k1 - k0; k += {D}) {{\n"
        "    {T} block[{C}][{V}][{D}] __attribute__((aligned(64)));\n"
        "    const int64_t have = k1 - k0 - k < {D} ? k1 - k0 - k : {D};\n{whole}"
        "    if (have < {D} || l0 + {V} > count) __builtin_memset(block, 0, sizeof block);\n"
        "    for (int64_t l = 0; l < {V} && l0 + l < count; ++l) {{\n"
        "      const int64_t {i} = first + l0 + l;\n{runs}{elements}"
        "    }}\n"
        "    const int64_t units = {padded} / {g} - k / {g};\n"
        "    for (int64_t u = 0; u < {D} / {g} && u < units; u += {V}) {{\n"
        "      for (int64_t p = 0; p < {C}; ++p) {{\n"
        "        {name}((const {U}*)block[p] + u, {D} / {g}, ({U}*)to + {put} + p * {units} + l0, {P}, units - u);\n"
        "      }}\n"
        "    }}\n"
        "  }}\n",
        fmt::arg("P", packing_.lanes), fmt::arg("V", lanes()), fmt::arg("D", depth), fmt::arg("T", packing_.type),
        fmt::arg("i", i_), fmt::arg("elements", elements()), fmt::arg("g", packing_.group),
        fmt::arg("padded", padded()), fmt::arg("name", packing_.function + "_exchange"), fmt::arg("U", unit()),
        fmt::arg("whole", whole_block()), fmt::arg("runs", whole_runs(depth)), fmt::arg("C", packing_.pieces),
        fmt::arg("put", unit_of(fmt::format("(k + u * {})", packing_.group))), fmt::arg("units", units_of_piece()));
  }
  // Of a block's element in row l.
  std::string put_in_block(const std::string& place, const std::string& element) const {
    return put_element(fmt::format("block[0][l][{}]", place), 4 * lanes() * packing_.group * lanes(), element);
  }

  // One lane of a block.
  std::string elements() const {
    if (halves_) {
      return fmt::format("      const int64_t i3 = k0 + k;\n      lumen_bf16_of_f16(block[0][l], a{} + {}, have);\n",
                         halves_->input, print_c(halves_->place).text);
    }
    return fmt::format(
        "      LUMEN_ELEMENTS(j, have) {{\n"
        "        const int64_t i3 = k0 + k + j;\n{}{}"
        "      }}\n",
        writer_.text(), put_in_block("j", element_));
  }

  // An input of f16, along the summed axis, that is packed as bf16.
  struct Halves {
    std::ptrdiff_t input;
    Expr place;
  };
  std::optional<Halves> find_halves() const {
    const Graph& graph = *packing_.graph;
    NodeId id = packing_.factor;
    if (packing_.convert != store_function(bf16)) return std::nullopt;
    // Rounded to bf16 on the way or not: it is where it is packed.
    const auto keeps_halves = [&](const Node& node) {
      const bool is_wide = node.type.dtype == bf16 || node.type.dtype == f32;
      return node.is<hlir::View>() || (node.is<hlir::Cast>() && is_wide);
    };
    while (keeps_halves(graph[id])) id = graph[id].operands[0];
    if (!graph[id].is<Input>() || graph[id].type.dtype != f16) return std::nullopt;
    ElementWriter writer(graph, 8);
    writer.value(packing_.factor, roles_.at);
    if (writer.accesses().size() != 1 || !writer.guards().empty() || !writer.faults().empty()) return std::nullopt;
    const Expr place = writer.accesses()[0].place;
    if (step_of(roles_, place, Role::summed) != Expr(1)) return std::nullopt;
    return Halves{std::ranges::find(graph.inputs(), id) - graph.inputs().begin(), place};
  }

  // A block of whole runs (contract_runs.h) is computed run by run.
  std::string whole_runs(int64_t depth) const {
    const std::optional<SummedRuns> runs = summed_runs(roles_, *packing_.graph, packing_.factor);
    if (!runs) return "";
    const int64_t turns = std::ssize(runs->turns), length = runs->length * turns;
    if (depth % length != 0) return "";
    std::string body;
    for (int64_t turn = 0; turn < turns; ++turn) {
      ElementWriter writer(*packing_.graph, 10);
      writer.open_loop(fmt::format("LUMEN_ELEMENTS(i5, {})", runs->length), Expr::index(5, runs->length), false);
      const std::string value =
          writer.converted(packing_.convert, packing_.factor, runs->turns[static_cast<size_t>(turn)]);
      if (!writer.faults().empty()) return "";
      body += fmt::format("          {{\n{}{}          }}\n          }}\n", writer.text(),
                          put_in_block(fmt::format("j + {} + i5", turn * runs->length), value));
    }
    return fmt::format(
        "      if (have == {D} && (k0 + k) % {L} == 0) {{\n"
        "        for (int64_t j = 0; j < {D}; j += {L}) {{\n"
        "          const int64_t i4 = (k0 + k + j) / {L};\n{body}        }}\n"
        "        continue;\n      }}\n",
        fmt::arg("D", depth), fmt::arg("L", length), fmt::arg("body", body));
  }

  // A block that lies whole in an input is exchanged from there.
  std::string whole_block() const {
    if (!packing_.plain) return "";
    const Expr step = packing_.plain->lane / packing_.group;
    if (!(step * packing_.group == packing_.plain->lane)) return "";
    return fmt::format(
        "    if (have == {D} && l0 + {V} <= left) {{\n"
        "      const int64_t {i} = first + l0, i3 = k0 + k;\n"
        "      const {U}* const from = (const {U}*)(a{input} + {index});\n"
        "      for (int64_t u = 0; u < {units}; u += {V}) {{\n"
        "        {name}(from + u, {step}, ({U}*)to + (k / {g} + u) * {P} + l0, {P}, {V});\n"
        "      }}\n      continue;\n    }}\n",
        fmt::arg("D", 4 * lanes() * packing_.group), fmt::arg("V", lanes()), fmt::arg("i", i_), fmt::arg("U", unit()),
        fmt::arg("input", packing_.plain->input), fmt::arg("index", print_c(packing_.plain->index).text),
        fmt::arg("units", 4 * lanes()), fmt::arg("name", packing_.function + "_exchange"),
        fmt::arg("step", print_c(step).text), fmt::arg("g", packing_.group), fmt::arg("P", packing_.lanes));
  }

  std::string rows_loop() const {
    const int64_t piece = packing_.lanes * packing_.depth;
    std::string zeros;
    for (int64_t p = 0; p < packing_.pieces; ++p) zeros += fmt::format("      put[j + {}] = 0;\n", p * piece);
    return fmt::format(
        "  for (int64_t k = 0; k < {padded}; k += {D}) for (int64_t l = 0; l < {P}; ++l) {{\n"
        "    {T}* const put = to + (k / {D} * {P} * {C} + l) * {D};\n"
        "    const int64_t {i} = first + l, most = l < count ? k1 - k0 - k : 0, have = most < {D} ? most : {D};\n"
        "    LUMEN_ELEMENTS(j, have) {{\n"
        "        const int64_t i3 = k0 + k + j;\n{text}{put}"
        "    }}\n"
        "    for (int64_t j = have; j < {D}; ++j) {{\n{zero}    }}\n"
        "  }}\n",
        fmt::arg("padded", padded()), fmt::arg("D", packing_.depth), fmt::arg("P", packing_.lanes),
        fmt::arg("T", packing_.type), fmt::arg("i", i_), fmt::arg("text", writer_.text()),
        fmt::arg("C", packing_.pieces), fmt::arg("put", put_element("put[j]", piece, element_)),
        fmt::arg("zero", zeros));
  }

  const ContractRoles& roles_;
  const Packing& packing_;
  ElementWriter writer_;
  std::optional<Halves> halves_;
  std::string element_;
  std::optional<Element> split_;       // over i4 and i5, where that divides less
  std::optional<std::string> narrow_;  // of a guarded element: where no guard is needed,
  Element inside_, outside_;           // and what it is there and elsewhere; over i6 and i7, too, with a
  std::optional<int64_t> period_;
  std::string_view i_;
};

}  // namespace

Expected<std::string> print_packing(const ContractRoles& roles, const Packing& packing,
                                    std::vector<std::string>& faults) {
  return PackPrinter(roles, packing).print(faults);
}

}  // namespace lumen
