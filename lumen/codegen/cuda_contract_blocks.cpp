#include "lumen/codegen/cuda_contract_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/cuda_contract_blocks_plan.h"
#include "lumen/codegen/cuda_contract_warps.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int64_t kFloatsAtOnce = 16;         // elements of a run that are floats at a time
constexpr int64_t kCacheLine = 128;           // bytes
constexpr int64_t kPaddingBytes = 16;         // words may end behind the last byte that is wanted
constexpr int64_t kReserved = 1 << 10;        // bytes of shared memory that a block has besides
constexpr int64_t kMostThreadsAtOnce = 1024;  // of a multiprocessor, so that each has 64 registers
constexpr int64_t kMostBlocks = 4;            // blocks of a multiprocessor

// One for each side, all of one size; none when that is not so.
std::vector<BlocksPlan> plans_of(const ContractRoles& roles, const std::vector<FactorIn>& columns) {
  std::vector<BlocksPlan> plans;
  if (roles.dtype != DType::f32) return plans;
  for (const FactorIn& column : columns) {
    const std::optional<BlocksPlan> plan = blocks_plan(roles, column);
    if (!plan) return {};
    const bool same = plans.empty() || (plan->elements == plans[0].elements && plan->bytes == plans[0].bytes &&
                                        plan->column == plans[0].column && plan->length == plans[0].length);
    if (!same) return {};
    plans.push_back(*plan);
  }
  return plans;
}

class BlocksPrinter {
 public:
  BlocksPrinter(const ContractRoles& roles, const CudaContractSchedule& schedule, const Target& target,
                std::vector<FactorIn> columns, std::vector<BlocksPlan> plans)
      : roles_(roles),
        s_(schedule),
        target_(target),
        warps_(roles, schedule),
        columns_(std::move(columns)),
        plans_(std::move(plans)) {
    sides_ = std::ssize(plans_);
    warps_.of_lane = plan().unit();
    warps_.group = 132;
    depth_ = *roles.extent(Role::summed).constant();
    slot_ = sides_ * s_.lanes * plan().bytes;
    sums_at_ = (warps_.shared() + s_.threads / kWarp * s_.ahead * slot_ + kPaddingBytes + 15) / 16 * 16;
    shared_ = sums_at_ + RowSums(roles, schedule, 0).shared();
    const bool one = roles.extent(Role::batch) == Expr(1) && bounds(roles.extent(Role::row)).hi <= s_.rows;
    keeps_rows_ = one && depth_ <= s_.summed;
    if (one && s_.parts <= 1) {
      blocks_ = target.multiprocessors * blocks_at_once(target, shared_, s_.threads);
    }
  }

  Expected<CudaTileText> print() {
    CudaTileText made;
    made.shared = shared_;
    made.sums.emplace(roles_, s_, sums_at_);
    made.blocks = blocks_;
    made.at_once = static_cast<int>(blocks_at_once(target_, shared_, s_.threads));
    if (blocks_ > 0) made.ahead = prefetches();
    std::string fill = LUMEN_TRY(warps_.fill_rows(*made.sums, made.faults));
    fill += "      __syncthreads();\n";
    const bool keeps = blocks_ > 0 && keeps_rows_;
    if (keeps) fill = "      if (row == first_row) {\n" + fill + "      }\n";
    const std::string chosen = LUMEN_TRY(chosen_text(made.faults));
    const std::string products = LUMEN_TRY(stage_text());
    made.text = fmt::format(
        "{head}    unsigned char* const ring = shared + {ring} + warp * {warp};\n"
        "    const Index stages = (k1 - k0 + {T} - 1) / {T};\n"
        "    const Index own = stages > piece ? (stages - piece + {S} - 1) / {S} : 0;\n"
        "{chosen}{bring}"
        "    {first}LUMEN_UNROLL for (int t = 0; t < {A}; ++t) bring(t);\n"
        "    Index t = 0;\n"
        "    for (Index kk = k0; kk < k1; kk += {K}) {{\n"
        "      const Index count = k1 - kk < {K} ? k1 - kk : {K};\n{fill}"
        "      for (; t < own && k0 + (piece + t * {S}) * {T} < kk + count; ++t) {{\n"
        "        lumen_wait_for_copies<{A} - 1>();\n"
        "        __syncwarp();\n"
        "        const Index k = k0 + (piece + t * {S}) * {T};\n"
        "        const unsigned char* const stage = ring + (done + t) % {A} * {slot};\n"
        "        const float* const own_x = x + (k - kk) / {T} * {span} + lane * 4;\n{products}"
        "        __syncwarp();\n"
        "        bring(t + {A});\n"
        "      }}\n"
        "{after}    }}\n{together}",
        fmt::arg("head", warps_.head()), fmt::arg("ring", warps_.shared()), fmt::arg("warp", s_.ahead * slot_),
        fmt::arg("T", plan().elements), fmt::arg("S", warps_.split()), fmt::arg("chosen", chosen),
        fmt::arg("bring", bring_text()), fmt::arg("first", blocks_ > 0 ? "if (row == first_row) " : ""),
        fmt::arg("A", s_.ahead), fmt::arg("K", s_.summed), fmt::arg("fill", fill), fmt::arg("slot", slot_),
        fmt::arg("span", warps_.span()), fmt::arg("products", products),
        fmt::arg("after", keeps ? "" : "      __syncthreads();\n"), fmt::arg("together", warps_.together()));
    return made;
  }

 private:
  const BlocksPlan& plan() const { return plans_[0]; }

  // bring(t): stage number t of this warp is on its way; behind the tile's last one, a stage of the tile that this
  // block has next. Every call is one commit. `done` stages were brought before this tile.
  std::string bring_text() const {
    const std::string tiles = plain_number(ceil_div(roles_.extent(Role::column), s_.columns));
    std::string copies;
    for (int64_t side = 0; side < sides_; ++side) copies += copy_text(side);
    const std::string where =
        blocks_ > 0 ? fmt::format(
                          "    const Index blocks = (Index)lumen_min_i64({tiles}, {blocks});\n"
                          "    const Index done = (Index)((row - first_row) / blocks) * own;\n"
                          "    const auto bring = [&](Index t) {{\n"
                          "      const Index first = c0 + (own > 0 ? t / own : 0) * blocks * {C};\n"
                          "      const Index number = piece + (own > 0 ? t % own : 0) * {S};\n"
                          "      const bool is_there = own > 0 && first < {N};\n",
                          fmt::arg("tiles", tiles), fmt::arg("blocks", blocks_), fmt::arg("C", s_.columns),
                          fmt::arg("S", warps_.split()), fmt::arg("N", plain_number(roles_.extent(Role::column))))
                    : fmt::format(
                          "    const Index done = 0;\n"
                          "    const auto bring = [&](Index t) {{\n"
                          "      const Index first = c0, number = k0 / {} + piece + t * {};\n"
                          "      const bool is_there = t < own;\n",
                          plan().elements, warps_.split());
    return where + fmt::format(
                       "      unsigned char* const to = ring + (done + t) % {} * {} + lane * 16;\n"
                       "      if (is_there) {{\n{}      }}\n      lumen_commit_copies();\n    }};\n",
                       s_.ahead, slot_, copies);
  }

  std::string copy_text(int64_t side) const {
    const BlocksPlan& of = plans_[static_cast<size_t>(side)];
    const bool is_whole = of.column % of.bytes == 0;
    return fmt::format(
        "        LUMEN_UNROLL for (int c = 0; c < {C}; ++c) {{\n          {column}"
        "          const unsigned char* const from = (const unsigned char*)a{input} + {first} + number * {B} + "
        "lane * 16;\n"
        "          const Index left = {left} - lane * 16;\n"
        "          LUMEN_UNROLL for (int w = 0; w < {B}; w += 512)\n"
        "            if (w < left) lumen_copy_async(to + ({side} + c) * {B} + w, from + w, 16);\n        }}\n",
        fmt::arg("C", s_.lanes), fmt::arg("column", warps_.column_line("first")), fmt::arg("input", of.input),
        fmt::arg("first", plain_number(first_of(side))), fmt::arg("B", of.bytes), fmt::arg("side", side * s_.lanes),
        fmt::arg("left",
                 is_whole ? fmt::format("{}", of.bytes)
                          : fmt::format("(Index)lumen_min_i64({}, {} - number * {})", of.bytes, of.column, of.bytes)));
  }

  Expr first_of(int64_t side) const {
    const BlocksPlan& of = plans_[static_cast<size_t>(side)];
    if (!of.chosen) return of.first;
    const Expr matrix = chosen_matrix(of.chosen->extent);
    if (matrix.is_constant()) return of.first;
    const auto [least, most] = matrix.dim_bounds();
    const std::pair<Expr, Expr> own[] = {{matrix, Expr::dim(fmt::format("chosen{}", side), least, most)}};
    return substitute(of.first, own);
  }

  // Which matrices a batch has.
  Expected<std::string> chosen_text(std::vector<std::string>& faults) const {
    std::string text;
    for (size_t side = 0; side < plans_.size(); ++side) {
      if (!plans_[side].chosen) continue;
      const ChosenMatrix& chosen = *plans_[side].chosen;
      ElementWriter writer(*columns_[side].graph, 6, faults);
      const std::string found = writer.value(chosen.index.node, chosen.index.at);
      const Expr inside = writer.checked("(int64_t)" + found, chosen.extent, chosen.message);
      if (!writer.problem().empty()) return error(writer.problem());
      faults = writer.faults();
      text += fmt::format("    Index chosen{0};\n    {{\n{1}      chosen{0} = (Index){2};\n    }}\n", side,
                          writer.text(), plain_number(inside));
    }
    return text;
  }

  // The lines of the first stages of a block's first tile.
  std::string prefetches() const {
    std::string text;
    for (const BlocksPlan& of : plans_) {
      if (of.chosen) continue;  // by an index that must not be read yet
      const int64_t bytes = std::min(of.column, s_.ahead * warps_.split() * of.bytes);
      text += fmt::format(
          "  for (int e = threadIdx.x; e < {C} * {lines}; e += {threads}) {{\n"
          "    const int64_t i0 = 0, i2 = (int64_t)blockIdx.x * {C} + e / {lines};\n"
          "    if (i2 < {N}) lumen_prefetch((const char*)a{input} + {first} + e % {lines} * {line});\n  }}\n",
          fmt::arg("C", s_.columns), fmt::arg("lines", (bytes + kCacheLine - 1) / kCacheLine),
          fmt::arg("threads", s_.threads), fmt::arg("N", plain_number(roles_.extent(Role::column))),
          fmt::arg("input", of.input), fmt::arg("first", plain_number(of.first)), fmt::arg("line", kCacheLine));
    }
    return text;
  }

  // What a stage adds to the sums: run by run of a lane's unit.
  Expected<std::string> stage_text() const {
    std::string text;
    for (size_t turn = 0; turn < plan().turns.size(); ++turn) text += LUMEN_TRY(turn_text(turn));
    const bool is_whole = depth_ % plan().elements == 0;
    const std::string own =
        is_whole ? "        {\n" : fmt::format("        if (k + lane * {} < k1) {{\n", plan().unit());
    return own + "        const Index i4 = lane;\n" + text + "        }\n";
  }

  Expected<std::string> turn_text(size_t turn) const {
    std::string values, scales;
    for (size_t side = 0; side < plans_.size(); ++side) {
      const Graph& graph = *columns_[side].graph;
      const Spot factor{plans_[side].node, plans_[side].turns[turn]};
      const Expr along = Expr::index(5, plan().length);
      const std::optional<ScaledRun> scaled = scaled_run(graph, factor, along);
      const std::optional<RaisedRun> raised = raised_run(graph, factor, along);
      const std::optional<IntegerWords> integers = scaled   ? integer_words(graph, *scaled)
                                                   : raised ? integer_words(graph, raised->scaled)
                                                            : std::nullopt;
      if (!integers) {
        values += LUMEN_TRY(value_text(side, factor));
      } else {
        values += LUMEN_TRY(integer_text(side, *integers, scaled ? nullptr : &*raised));
      }
      scales += integers && scaled ? LUMEN_TRY(scale_text(side, scaled->scale)) : each_column(side, sum_line(side, ""));
    }
    return fmt::format(
        "        {{\n"
        "        float part[{sides}][{R}][{C}] = {{}};\n"
        "        LUMEN_UNROLL for (int from = 0; from < {L}; from += {P}) {{\n"
        "          float y[{sides}][{C}][{P}];\n{values}"
        "          LUMEN_UNROLL for (int r = 0; r < {R}; ++r) {{\n"
        "            float xs[{P}];\n"
        "            LUMEN_UNROLL for (int h = 0; h < {P}; h += 4)\n"
        "              lumen_spread(*(const uint4*)(own_x + r * {pitch} + ({begin} + from + h) / 4 * {group}), xs + "
        "h);\n"
        "            LUMEN_UNROLL for (int j = 0; j < {P}; ++j)\n"
        "              LUMEN_UNROLL for (int side = 0; side < {sides}; ++side)\n"
        "                LUMEN_UNROLL for (int c = 0; c < {C}; ++c) part[side][r][c] += xs[j] * y[side][c][j];\n"
        "          }}\n        }}\n{scales}        }}\n",
        fmt::arg("sides", sides_), fmt::arg("R", s_.rows), fmt::arg("C", s_.lanes), fmt::arg("L", plan().length),
        fmt::arg("P", kFloatsAtOnce), fmt::arg("values", values), fmt::arg("pitch", warps_.pitch()),
        fmt::arg("begin", static_cast<int64_t>(turn) * plan().length), fmt::arg("group", warps_.group),
        fmt::arg("scales", scales));
  }

  // Statements for each column, in which the input is what was copied of it.
  std::string each_column(size_t side, const std::string& text) const {
    const BlocksPlan& of = plans_[side];
    const Graph& graph = *columns_[side].graph;
    const std::string type(storage_type(graph[graph.inputs()[of.input]].type.dtype));
    return fmt::format(
        "          LUMEN_UNROLL for (int c = 0; c < {C}; ++c) {{\n"
        "            const {T}* const a{input} = (const {T}*)(stage + ({side} + c) * {B} - {offset});\n{text}"
        "          }}\n",
        fmt::arg("C", s_.lanes), fmt::arg("T", type), fmt::arg("input", of.input),
        fmt::arg("side", static_cast<int64_t>(side) * s_.lanes), fmt::arg("B", of.bytes), fmt::arg("offset", of.offset),
        fmt::arg("text", text));
  }

  std::string sum_line(size_t side, const std::string& scale) const {
    return fmt::format("            LUMEN_UNROLL for (int r = 0; r < {0}; ++r) s[{1}][r][c] += {2}part[{1}][r][c];\n",
                       s_.rows, side, scale);
  }

  // The words of a piece that begins at `from`: q<number>.
  std::string words_text(size_t side, const WordRead& words, size_t number, ElementWriter& writer) const {
    const std::pair<Expr, Expr> start[] = {{Expr::index(5, plan().length), Expr::dim("from", 0, plan().length)}};
    const int64_t count = (words.skipped + kFloatsAtOnce + 3) / 4;
    return fmt::format("uint32_t q{0}[{1}]; lumen_get_words<{2}, {1}>((const char*)a{3} + ({4}), q{0});", number, count,
                       words.align, plans_[side].input,
                       writer.index(substitute(words.read.flat, start) - words.skipped));
  }

  struct IntegerWords {
    StoredIntegers integers;
    WordRead words;
    int64_t offset;
  };
  std::optional<IntegerWords> integer_words(const Graph& graph, const ScaledRun& run) const {
    const std::optional<StoredIntegers> integers = stored_integers(graph, run.integer);
    const auto words = integers ? word_read(integers->read, plan().length, kFloatsAtOnce) : std::nullopt;
    return words ? std::optional(IntegerWords{*integers, *words, run.offset}) : std::nullopt;
  }

  // Small integers as the last bits of a large float, from which that is taken away again: exactly. Where they are
  // raised, they are scaled one by one.
  Expected<std::string> integer_text(size_t side, const IntegerWords& of, const RaisedRun* raised) const {
    ElementWriter writer(*columns_[side].graph, 12);
    writer.line(words_text(side, of.words, 0, writer));
    const int64_t count = (of.words.skipped + kFloatsAtOnce + 3) / 4;
    const uint32_t sign = of.integers.is_signed ? 1u << (of.integers.bits - 1) : 0;
    const std::string shifted = of.integers.shift == 0 ? "q0[w]" : fmt::format("q0[w] >> {}", of.integers.shift);
    const std::string masked = of.integers.bits == 8 ? shifted : fmt::format("({} & 0x0f0f0f0fu)", shifted);
    writer.line(
        fmt::format("LUMEN_UNROLL for (int w = 0; w < {}; ++w) q0[w] = {} ^ {}u;", count, masked, sign * 0x01010101u));
    std::string value = fmt::format("(lumen_float_above(q0[(j + {0}) / 4], (j + {0}) % 4) - {1}.0f)", of.words.skipped,
                                    (1 << 23) + static_cast<int64_t>(sign) - of.offset);
    if (raised != nullptr) {
      const std::string scale = writer.value(raised->scaled.scale.node, raised->scaled.scale.at);
      value = fmt::format("__fmaf_rn({}, {}, {})", value, scale, writer.value(raised->base.node, raised->base.at));
    }
    if (!writer.problem().empty()) return error(writer.problem());
    writer.line(fmt::format("LUMEN_UNROLL for (int j = 0; j < {}; ++j) y[{}][c][j] = {};", kFloatsAtOnce, side, value));
    return each_column(side, writer.text());
  }

  Expected<std::string> scale_text(size_t side, const Spot& scale) const {
    ElementWriter writer(*columns_[side].graph, 12);
    const std::string value = writer.value(scale.node, scale.at);
    if (!writer.problem().empty()) return error(writer.problem());
    return each_column(side, writer.text() + sum_line(side, value + " * "));
  }

  // Any other values: bytes that are neighbours are read together.
  Expected<std::string> value_text(size_t side, const Spot& factor) const {
    const Graph& graph = *columns_[side].graph;
    const Expr along = Expr::index(5, plan().length);
    ElementWriter probe(graph, 0), writer(graph, 12);
    probe.open_loop("", along, false);
    probe.value(factor.node, factor.at);
    size_t number = 0;
    std::vector<const ExprNode*> seen;
    for (const ElementWriter::Read& read : probe.byte_reads()) {
      const std::optional<WordRead> words = word_read(read, plan().length, kFloatsAtOnce);
      if (!words || std::ranges::find(seen, read.flat.node()) != seen.end()) continue;
      seen.push_back(read.flat.node());
      writer.line(words_text(side, *words, number, writer));
      writer.stage(read, fmt::format("(uint8_t)(q{0}[(j + {1}) / 4] >> (j + {1}) % 4 * 8)", number, words->skipped));
      ++number;
    }
    writer.open_loop(fmt::format("LUMEN_UNROLL for (int j = 0; j < {}; ++j)", kFloatsAtOnce), along, false);
    writer.line("const Index i5 = from + j;");
    writer.line(fmt::format("y[{}][c][j] = {};", side, writer.value(factor.node, factor.at)));
    writer.close();
    if (!writer.problem().empty()) return error(writer.problem());
    return each_column(side, writer.text());
  }

  const ContractRoles& roles_;
  CudaContractSchedule s_;
  Target target_;
  WarpTile warps_;
  std::vector<FactorIn> columns_;
  std::vector<BlocksPlan> plans_;
  int64_t sides_ = 0, depth_ = 0;
  int64_t slot_ = 0, shared_ = 0;  // bytes: of a stage of a warp, of a block
  int64_t sums_at_ = 0;            // bytes before the sums of rows
  int64_t blocks_ = 0;             // that have one tile after another; 0: a block has one tile
  bool keeps_rows_ = false;        // all rows, whole, are in shared memory
};

}  // namespace

int64_t blocks_at_once(const Target& target, int64_t shared, int64_t threads) {
  const int64_t by_memory = (target.shared_bytes + kReserved) / (shared + kReserved);
  return std::max<int64_t>(1, std::min({by_memory, kMostThreadsAtOnce / threads, kMostBlocks}));
}

std::optional<BlocksStage> blocks_stage(const ContractRoles& roles, bool wide) {
  const std::vector<BlocksPlan> plans = plans_of(roles, column_factors(roles, wide));
  if (plans.empty()) return std::nullopt;
  return BlocksStage{plans[0].elements, plans[0].bytes * std::ssize(plans)};
}

Expected<CudaTileText> print_cuda_blocks(const ContractRoles& roles, const CudaContractSchedule& s,
                                         const Target& target) {
  if (!is_warp_tile(roles, s)) return error(fmt::format("the schedule \"{}\" is not one of warps that dot", s.str()));
  const std::vector<FactorIn> columns = column_factors(roles, s.wide != 0);
  const std::vector<BlocksPlan> plans = plans_of(roles, columns);
  if (plans.empty()) {
    return error(
        fmt::format("columns of whole blocks, of a multiple of 16 bytes, as the schedule \"{}\" wants", s.str()));
  }
  const int64_t depth = *roles.extent(Role::summed).constant();
  const bool in_pieces = depth > s.summed || s.parts > 1;
  if (in_pieces && s.summed % plans[0].elements != 0) {
    return error(fmt::format("the schedule \"{}\" needs pieces of {} coordinates", s.str(), plans[0].elements));
  }
  return BlocksPrinter(roles, s, target, columns, plans).print();
}

}  // namespace lumen
