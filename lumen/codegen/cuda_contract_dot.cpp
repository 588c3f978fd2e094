#include "lumen/codegen/cuda_contract_dot.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_runs.h"
#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/cuda_contract_factor.h"
#include "lumen/codegen/cuda_contract_warps.h"
#include "lumen/codegen/element.h"
#include "lumen/ir/expr_bounds.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

constexpr int64_t kLanePiece = 8;      // elements of a run that a lane takes
constexpr int64_t kBlocksAtOnce = 4;   // of a multiprocessor
constexpr int64_t kFetchedLine = 128;  // bytes

class DotPrinter {
 public:
  DotPrinter(const ContractRoles& roles, const CudaContractSchedule& schedule, const Target& target)
      : roles_(roles), s_(schedule), warps_(roles, schedule) {
    type_ = sum_type(roles.dtype);
    split_ = warps_.split();
    sides_ = std::ssize(roles.columns);
    columns_ = column_factors(roles, s_.wide != 0);
    find_vectors();
    if (!vectors_.empty()) warps_.of_lane = at_once_;
    const Expr depth = roles.extent(Role::summed);
    const bool one = roles.extent(Role::batch) == Expr(1) && bounds(roles.extent(Role::row)).hi <= s_.rows;
    if (one && s_.parts <= 1 && bounds(depth).hi <= s_.summed) blocks_ = target.multiprocessors * kBlocksAtOnce;
  }

  Expected<CudaTileText> print() {
    CudaTileText made;
    made.sums.emplace(roles_, s_, warps_.shared());
    made.shared = warps_.shared() + made.sums->shared();
    std::string fill = LUMEN_TRY(warps_.fill_rows(*made.sums, made.faults));
    made.blocks = blocks_;
    if (blocks_ > 0) {
      fill = "      if (row == first_row) {\n" + fill + "      }\n";
      made.ahead = prefetches();
    }
    const std::string from = LUMEN_TRY(pointers(made.faults));
    std::string first, loop;
    if (vectors_.empty()) {
      loop = LUMEN_TRY(units_loop(made.faults));
    } else {
      first = first_loads();
      loop = vectors_loop();
    }
    made.text = fmt::format(
        "{head}{pointers}"
        "    for (Index kk = k0; kk < k1; kk += {K}) {{\n"
        "      const Index count = k1 - kk < {K} ? k1 - kk : {K};\n{first}{fill}"
        "      __syncthreads();\n{loop}      __syncthreads();\n    }}\n{together}",
        fmt::arg("head", warps_.head()), fmt::arg("K", s_.summed), fmt::arg("pointers", from), fmt::arg("first", first),
        fmt::arg("fill", fill), fmt::arg("loop", loop), fmt::arg("together", warps_.together()));
    return made;
  }

 private:
  // All sides by wide loads, of equally many elements, or none.
  void find_vectors() {
    for (const FactorIn& column : columns_) {
      ElementWriter probe(*column.graph, 0);
      const std::optional<StoredFactor> stored = stored_factor(roles_, *column.graph, column.node, &probe);
      const int64_t count = stored ? elements_at_once(roles_, *stored, Role::summed) : 0;
      const bool same = vectors_.empty() || count == at_once_;
      if (count == 0 || !same || !is_unpacked(stored->dtype) || sum_bytes(roles_.dtype) != 4 ||
          s_.summed % (kWarp * count) != 0) {
        vectors_.clear();
        return;
      }
      at_once_ = count;
      vectors_.push_back(*stored);
    }
  }

  Expected<std::string> pointers(std::vector<std::string>& faults) const {
    std::string text;
    for (size_t side = 0; side < vectors_.size(); ++side) {
      ElementWriter gathers(*columns_[side].graph, 6, faults);
      const StoredFactor stored = *stored_factor(roles_, *columns_[side].graph, columns_[side].node, &gathers);
      if (!gathers.problem().empty()) return error(gathers.problem());
      faults = gathers.faults();
      text += fmt::format(
          "    const {T}* from{side}[{C}];\n"
          "    LUMEN_UNROLL for (int c = 0; c < {C}; ++c) {{\n      {column}      const Index i3 = k0;\n{gathers}"
          "      from{side}[c] = a{input} + {index};\n    }}\n",
          fmt::arg("T", storage_type(stored.dtype)), fmt::arg("side", side), fmt::arg("C", s_.lanes),
          fmt::arg("column", warps_.column_line()), fmt::arg("gathers", gathers.text()),
          fmt::arg("input", stored.input), fmt::arg("index", plain_number(stored.index)));
    }
    return text;
  }

  std::string load(size_t side, const std::string& k) const {
    return fmt::format("w{0}[c][u] = lumen_read_once(from{0}[c] + (kk - k0) + {1});", side, k);
  }

  // The first lines of the columns of a block's first tile, one to a thread.
  std::string prefetches() const {
    std::string text;
    const int64_t lines = std::max<int64_t>(1, s_.threads / s_.columns);
    for (size_t side = 0; side < vectors_.size(); ++side) {
      const auto factor = stored_factor(roles_, *columns_[side].graph, columns_[side].node);
      if (!factor) continue;  // an index that must not be read yet says where it is
      const int64_t elements = kFetchedLine * 8 / info(factor->dtype).bits;
      text += fmt::format(
          "  {{\n    const int64_t i0 = 0, i1 = 0, i3 = threadIdx.x % {lines} * {elements};\n"
          "    const int64_t i2 = (int64_t)blockIdx.x * {C} + threadIdx.x / {lines};\n"
          "    if (i2 < {N} && i3 < {K}) lumen_prefetch(a{input} + {index});\n  }}\n",
          fmt::arg("lines", lines), fmt::arg("elements", elements), fmt::arg("C", s_.columns),
          fmt::arg("N", plain_number(roles_.extent(Role::column))),
          fmt::arg("K", plain_number(roles_.extent(Role::summed))), fmt::arg("input", factor->input),
          fmt::arg("index", plain_number(factor->index)));
    }
    return text;
  }

  // Before the rows are filled in: memory is never idle.
  std::string first_loads() const {
    std::string text, loads;
    for (size_t side = 0; side < vectors_.size(); ++side) {
      text += fmt::format("      uint4 w{}[{}][{}];\n", side, s_.lanes, s_.ahead);
      loads += "          " + load(side, "k") + "\n";
    }
    return text + fmt::format(
                      "      LUMEN_UNROLL for (int u = 0; u < {U}; ++u) {{\n"
                      "        const Index k = ((piece + u * {S}) * 32 + lane) * {V};\n"
                      "        LUMEN_UNROLL for (int c = 0; c < {C}; ++c) if (k < count) {{\n{loads}        }}\n"
                      "      }}\n",
                      fmt::arg("U", s_.ahead), fmt::arg("S", split_), fmt::arg("V", at_once_), fmt::arg("C", s_.lanes),
                      fmt::arg("loads", loads));
  }

  // A vector is replaced by the next one as soon as it is in use.
  std::string vectors_loop() const {
    std::string unpack, loads;
    for (size_t side = 0; side < vectors_.size(); ++side) {
      unpack += fmt::format("            lumen_unpack_{0}(w{1}[c][u], y[{1}][c]);\n", name(vectors_[side].dtype), side);
      loads += "              " + load(side, "next") + "\n";
    }
    return fmt::format(
        "      for (Index q = piece; q * {span} < count; q += {step}) {{\n"
        "        LUMEN_UNROLL for (int u = 0; u < {U}; ++u) {{\n"
        "          const Index k = ((q + u * {S}) * 32 + lane) * {V}, next = k + {step} * {span};\n"
        "          if (k >= count) continue;\n"
        "          {T} y[{sides}][{C}][{V}];\n"
        "          LUMEN_UNROLL for (int c = 0; c < {C}; ++c) {{\n{unpack}"
        "            if (next < count) {{\n{loads}            }}\n          }}\n"
        "          LUMEN_UNROLL for (int r = 0; r < {R}; ++r) {{\n"
        "            {T} xs[{V}];\n"
        "            LUMEN_UNROLL for (int h = 0; h < {V} / 4; ++h)\n"
        "              lumen_spread(*(const uint4*)(x + r * {K} + (q + u * {S}) * {span} + h * 128 + lane * 4), "
        "xs + 4 * h);\n"
        "            LUMEN_UNROLL for (int side = 0; side < {sides}; ++side)\n"
        "              LUMEN_UNROLL for (int c = 0; c < {C}; ++c)\n"
        "                LUMEN_UNROLL for (int j = 0; j < {V}; ++j) s[side][r][c] += xs[j] * y[side][c][j];\n"
        "          }}\n        }}\n      }}\n",
        fmt::arg("span", kWarp * at_once_), fmt::arg("step", split_ * s_.ahead), fmt::arg("U", s_.ahead),
        fmt::arg("S", split_), fmt::arg("V", at_once_), fmt::arg("T", type_), fmt::arg("sides", sides_),
        fmt::arg("C", s_.lanes), fmt::arg("unpack", unpack), fmt::arg("loads", loads), fmt::arg("R", s_.rows),
        fmt::arg("K", s_.summed));
  }

  // Element by element, or where the summed axis is in runs (contract_runs.h), a piece of each run of a turn at a time.
  Expected<std::string> units_loop(std::vector<std::string>& faults) const {
    std::string text;
    for (size_t side = 0; side < columns_.size(); ++side) {
      const std::optional<SummedRuns> runs = summed_runs(roles_, *columns_[side].graph, columns_[side].node);
      const bool whole = runs && s_.summed % (runs->length * std::ssize(runs->turns)) == 0;
      text += whole ? LUMEN_TRY(runs_text(side, *runs, faults)) : LUMEN_TRY(elements_text(side, faults));
    }
    return text;
  }

  std::string sum_lines(size_t side, const std::string& k, const std::string& value) const {
    return fmt::format("LUMEN_UNROLL for (int r = 0; r < {}; ++r) s[{}][r][c] += x[r * {} + {}] * ({}){};\n", s_.rows,
                       side, s_.summed, k, type_, value);
  }

  Expected<std::string> elements_text(size_t side, std::vector<std::string>& faults) const {
    ElementWriter writer(*columns_[side].graph, 10, faults);
    const std::string value = writer.value(columns_[side].node, roles_.at);
    if (!writer.problem().empty()) return error(writer.problem());
    faults = writer.faults();
    return fmt::format(
        "      LUMEN_UNROLL_BY(4) for (Index k = piece * 32 + lane; k < count; k += {}) {{\n"
        "        const Index i3 = kk + k;\n"
        "        LUMEN_UNROLL for (int c = 0; c < {}; ++c) {{\n          {}{}          {}        }}\n      }}\n",
        split_ * kWarp, s_.lanes, warps_.column_line(), writer.text(), sum_lines(side, "k", value));
  }

  // A read of bytes that are neighbours along a run: those of a lane's piece are read together, in words of `align`
  // bytes.
  struct WideRead {
    ElementWriter::Read read;
    int64_t align;
  };
  static std::vector<WideRead> wide_reads(const Graph& graph, NodeId factor, std::span<const Expr> at, int64_t length) {
    const Expr along = Expr::index(5, length);
    const std::pair<Expr, Expr> pieces[] = {{along, Expr::dim("piece", 0, INT32_MAX) * kLanePiece}};
    ElementWriter probe(graph, 0);
    probe.open_loop("", along, false);
    probe.value(factor, at);
    std::vector<WideRead> found;
    for (const ElementWriter::Read& read : probe.byte_reads()) {
      const auto same = [&](const WideRead& each) {
        return each.read.input == read.input && each.read.flat.node() == read.flat.node();
      };
      if (step_along(read.flat, along) != Expr(1) || std::ranges::any_of(found, same)) continue;
      int64_t align = 4;
      while (align > 1 && !(substitute(read.flat, pieces) % align == Expr(0))) align /= 2;
      if (align > 1) found.push_back({read, align});
    }
    return found;
  }

  // The words of a piece, and each of its bytes as one of theirs.
  void read_words(ElementWriter& writer, const Graph& graph, const WideRead& wide, size_t number,
                  int64_t length) const {
    const std::pair<Expr, Expr> start[] = {{Expr::index(5, length), Expr::dim("from", 0, length)}};
    const auto input = std::ranges::find(graph.inputs(), wide.read.input) - graph.inputs().begin();
    const int64_t words = kLanePiece / wide.align;
    writer.line(fmt::format("uint{}_t q{}[{}];", wide.align * 8, number, words));
    writer.line(fmt::format(
        "LUMEN_UNROLL for (int w = 0; w < {0}; ++w) q{1}[w] = ((const uint{2}_t*)((const char*)a{3} + {4}))[w];", words,
        number, wide.align * 8, input, writer.index(substitute(wide.read.flat, start))));
    writer.stage(wide.read, fmt::format("(uint8_t)(q{}[j / {}] >> j % {} * 8)", number, wide.align, wide.align));
  }

  Expected<std::string> runs_text(size_t side, const SummedRuns& runs, std::vector<std::string>& faults) const {
    const int64_t turns = std::ssize(runs.turns), pieces = runs.length / kLanePiece;
    const Graph& graph = *columns_[side].graph;
    std::string inside;
    for (int64_t turn = 0; turn < turns; ++turn) {
      const std::vector<Expr>& at = runs.turns[static_cast<size_t>(turn)];
      ElementWriter writer(graph, 10, faults);
      const std::vector<WideRead> wide = wide_reads(graph, columns_[side].node, at, runs.length);
      for (size_t k = 0; k < wide.size(); ++k) read_words(writer, graph, wide[k], k, runs.length);
      writer.open_loop(fmt::format("LUMEN_UNROLL for (int j = 0; j < {}; ++j)", kLanePiece),
                       Expr::index(5, runs.length), false);
      writer.line("const Index i5 = from + j;");
      writer.line(fmt::format("y[j] = ({}){};", type_, writer.value(columns_[side].node, at)));
      writer.close();
      if (!writer.problem().empty()) return error(writer.problem());
      faults = writer.faults();
      inside +=
          fmt::format("          {{\n          {} y[{}];\n{}{}          }}\n", type_, kLanePiece, writer.text(),
                      piece_products(side, fmt::format("(i4 * {} + {}) * {} + from - kk", turns, turn, runs.length)));
    }
    return fmt::format(
        "      LUMEN_UNROLL_BY(4) for (Index unit = piece * 32 + lane; unit < count / {per}; unit += {step}) {{\n"
        "        const Index i4 = kk / {length} + unit / {pieces}, from = unit % {pieces} * {piece};\n"
        "        LUMEN_UNROLL for (int c = 0; c < {C}; ++c) {{\n          {column}{inside}        }}\n      }}\n",
        fmt::arg("per", kLanePiece * turns), fmt::arg("step", split_ * kWarp), fmt::arg("length", runs.length * turns),
        fmt::arg("pieces", pieces), fmt::arg("piece", kLanePiece), fmt::arg("C", s_.lanes),
        fmt::arg("column", warps_.column_line()), fmt::arg("inside", inside));
  }

  // A piece of a column, `y`, with the same piece of every row.
  std::string piece_products(size_t side, const std::string& k) const {
    const std::string rows =
        sum_bytes(roles_.dtype) == 4
            ? fmt::format(
                  "            LUMEN_UNROLL for (int h = 0; h < {}; ++h) lumen_spread(*(const "
                  "uint4*)(own + 4 * h), xs + 4 * h);\n",
                  kLanePiece / 4)
            : fmt::format("            LUMEN_UNROLL for (int j = 0; j < {}; ++j) xs[j] = own[j];\n", kLanePiece);
    return fmt::format(
        "          LUMEN_UNROLL for (int r = 0; r < {R}; ++r) {{\n"
        "            const {T}* const own = x + r * {K} + {k};\n            {T} xs[{P}];\n{rows}"
        "            LUMEN_UNROLL for (int j = 0; j < {P}; ++j) s[{side}][r][c] += xs[j] * y[j];\n          }}\n",
        fmt::arg("R", s_.rows), fmt::arg("T", type_), fmt::arg("K", s_.summed), fmt::arg("k", k),
        fmt::arg("P", kLanePiece), fmt::arg("rows", rows), fmt::arg("side", side));
  }

  const ContractRoles& roles_;
  CudaContractSchedule s_;
  WarpTile warps_;
  std::string type_;
  int64_t split_ = 0, sides_ = 0, at_once_ = 0;
  int64_t blocks_ = 0;  // that have all rows in shared memory, for one tile after another; 0: a block has one tile
  std::vector<FactorIn> columns_;
  std::vector<StoredFactor> vectors_;  // empty: columns are read element by element
};

}  // namespace

Expected<CudaTileText> print_cuda_dot(const ContractRoles& roles, const CudaContractSchedule& s, const Target& target) {
  if (!is_warp_tile(roles, s)) {
    return error(fmt::format("the schedule \"{}\" is not one of warps that dot", s.str()));
  }
  return DotPrinter(roles, s, target).print();
}

}  // namespace lumen
