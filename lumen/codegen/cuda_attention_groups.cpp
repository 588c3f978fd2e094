#include "lumen/codegen/cuda_attention_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/cuda_attention_tiles.h"
#include "lumen/codegen/cuda_contract_frame.h"
#include "lumen/codegen/cuda_contract_stage.h"

namespace lumen {

namespace {

constexpr int64_t kGroup = 128;     // threads
constexpr int64_t kGroupRows = 64;  // of one product
constexpr int64_t kMostFeatures = 256;
constexpr int kHopper = 90;
constexpr int64_t kOtherRegisters = 40;  // of a thread that multiplies, beside scores, weights and sums
constexpr int64_t kFewRegisters = 40;    // enough for a thread that copies
// Places where some groups meet: all of a block; those that multiply; and from here on, each when its turn comes.
constexpr int kBlock = 1, kMultiplied = 2, kOrder = 3;

// Columns of a product: 64, 128 or 256.
int64_t columns_of(int64_t size) { return size <= 64 ? 64 : size <= 128 ? 128 : 256; }
// A size of tiles in shared memory: whole lines.
int64_t padded_to_lines(int64_t size) { return (size + 63) / 64 * 64; }

// Of a thread, when a kernel begins and when each group has taken what it needs. Nothing where they are too few.
struct Registers {
  int64_t first = 0, copier = 0, multiplier = 0;
};
std::optional<Registers> registers_of(const CudaAttentionSchedule& s, int64_t features) {
  const int64_t groups = s.rows / kGroupRows, sums = s.keys / 2 + s.keys / 4 + columns_of(features) / 2;
  Registers each;
  each.first = std::min<int64_t>(65536 / kGroup / (groups + 1) / 8 * 8, 255);
  each.multiplier = std::max(each.first, (sums + kOtherRegisters + 7) / 8 * 8);
  each.copier = each.first * (groups + 1) - each.multiplier * groups;
  return each.copier >= kFewRegisters && each.multiplier <= 255 ? std::optional(each) : std::nullopt;
}

class GroupsPrinter {
 public:
  GroupsPrinter(const Graph& body, const AttentionForm& form, std::string name, const CudaAttentionSchedule& schedule,
                DType dtype)
      : body_(body),
        form_(form),
        name_(std::move(name)),
        s_(schedule),
        dtype_(dtype),
        groups_(schedule.rows / kGroupRows),
        depth_(*form.first.extent(Role::summed).constant()),
        columns_(columns_of(*form.second.extent(Role::column).constant())),
        tiles_(body, form, schedule, 1, columns_ / 8),
        queries_(form.first, form.first.rows, Role::row, dtype, s_.rows, padded_to_lines(depth_), StageReader::groups),
        keys_(form.first, form.first.columns[0], Role::column, dtype, s_.keys, padded_to_lines(depth_),
              StageReader::groups),
        values_(form.second, form.second.columns[0], Role::column, dtype, columns_, s_.keys, StageReader::groups) {}

  Expected<KernelText> print() {
    KernelText kernel;
    const KeyBounds& bounds = tiles_.bounds();
    const std::string copies = LUMEN_TRY(copier_text(kernel.faults));
    const std::string weigh = LUMEN_TRY(tiles_.weigh("", kernel.faults));
    const std::string meet = fmt::format("lumen_meet({}, {});", kMultiplied, s_.threads - kGroup);
    const std::string store = LUMEN_TRY(tiles_.store(kGroup, meet, kernel.faults));
    const std::string place = attention_place(form_, bounds, s_);
    const std::string known = bounds.all.empty() ? "" : fmt::format("    lumen_meet({}, {});\n", kBlock, s_.threads);
    const std::string row_end = fmt::format("    lumen_meet({}, {});\n  }}\n", kBlock, s_.threads);
    kernel.text = kernel_head(body_, name_, static_cast<int>(s_.threads)) + "  LUMEN_SHARED_TILES(shared);\n";
    kernel.text += fmt::format(
        "  typedef {I} Index;\n"
        "  uint16_t* const rows = (uint16_t*)shared;\n  uint16_t* const key_stages = rows + {q};\n"
        "  uint16_t* const value_stages = key_stages + {k};\n"
        "  int* const begins = (int*)(value_stages + {v});\n  int* const ends = begins + {R};\n"
        "  uint64_t* const keys_there = (uint64_t*)((char*)shared + {g});\n"
        "  uint64_t* const keys_used = keys_there + {S};\n"
        "  uint64_t* const values_there = keys_used + {S};\n  uint64_t* const values_used = values_there + {S};\n"
        "  const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0), lane = threadIdx.x % 32;\n"
        "  if (threadIdx.x == 0) {{\n    for (int k = 0; k < {S}; ++k) {{\n"
        "      lumen_set_gate(keys_there + k, 4), lumen_set_gate(keys_used + k, {W});\n"
        "      lumen_set_gate(values_there + k, 4), lumen_set_gate(values_used + k, {W});\n    }}\n  }}\n"
        "  __syncthreads();\n",
        fmt::arg("I", attention_index_type(body_, form_)), fmt::arg("q", queries_.elements()),
        fmt::arg("k", s_.stages * keys_.elements()), fmt::arg("v", s_.stages * values_.elements()),
        fmt::arg("g", gates_at()), fmt::arg("R", s_.rows), fmt::arg("S", s_.stages), fmt::arg("W", 4 * groups_));
    kernel.text += fmt::format(
        "  if (warp < 4) {{\n{fewer}  int turn = 0, parity = 1;\n  LUMEN_ROWS(row) {{\n{place}{bounds}{known}{range}"
        "{copies}{row_end}  }} else {{\n{more}",
        fmt::arg("fewer", registers_text(true)), fmt::arg("place", place),
        fmt::arg("bounds", LUMEN_TRY(attention_row_bounds(form_, bounds, s_, kGroup, kernel.faults))),
        fmt::arg("known", known), fmt::arg("range", attention_range(form_, bounds, s_)), fmt::arg("copies", copies),
        fmt::arg("row_end", row_end), fmt::arg("more", registers_text(false)));
    kernel.text += fmt::format(
        "  const int group = warp / 4 - 1, down = warp * 16 - {G};\n  int turn = 0, parity = 0;\n{first_turn}"
        "  LUMEN_ROWS(row) {{\n{place}"
        "    float top[1][2], total[1][2], scale[1][2], sc[1][{T}][4] = {{}}, o[1][{F}][4] = {{}};\n"
        "    uint32_t weights[{W}][4];\n"
        "    LUMEN_UNROLL for (int h = 0; h < 2; ++h) top[0][h] = -lumen_inf_f32(), total[0][h] = 0;\n"
        "{known}{range}{all}{loop}{store}{row_end}  }}\n  LUMEN_RETURN;\n}}\n",
        fmt::arg("G", kGroupRows), fmt::arg("first_turn", first_turn()), fmt::arg("place", place),
        fmt::arg("T", s_.keys / 8), fmt::arg("F", columns_ / 8), fmt::arg("W", s_.keys / 16), fmt::arg("known", known),
        fmt::arg("range", attention_range(form_, bounds, s_)), fmt::arg("all", tiles_.all_range()),
        fmt::arg("loop", loop_text(weigh)), fmt::arg("store", store), fmt::arg("row_end", row_end));
    KernelStep step{name_, attention_blocks(form_, s_)};
    step.threads = static_cast<int>(s_.threads);
    step.shared = gates_at() + 32 * s_.stages;
    kernel.steps.push_back(step);
    return kernel;
  }

 private:
  // Behind the tiles with the bounds of their rows, and behind the sums, which take the place of both: gates are for
  // all rows of a block.
  int64_t gates_at() const {
    const int64_t tiles = queries_.elements() + s_.stages * (keys_.elements() + values_.elements());
    return std::max(tiles * 2 + 8 * s_.rows, tiles_.store_bytes());
  }

  // The group that copies gives registers away.
  std::string registers_text(bool copies) const {
    const Registers each = *registers_of(s_, columns_);
    if (each.copier == each.first) return "";
    return copies ? fmt::format("  lumen_fewer_registers<{}>();\n", each.copier)
                  : fmt::format("  lumen_more_registers<{}>();\n", each.multiplier);
  }

  // The first group copies: queries, then keys and values of one tile after the other, each into the next stage as soon
  // as all have multiplied what is there. Nobody is told of a tile before it is seen by products: while one is on its
  // way, the one before it is waited for.
  Expected<std::string> copier_text(std::vector<std::string>& faults) const {
    const std::string queries = LUMEN_TRY(queries_.fill("rows", "m0", kGroup, faults, true));
    const std::string keys = either(LUMEN_TRY(keys_.fill("to", "from", kGroup, faults)),
                                    keys_.fill_inside("to", "from", kGroup, Role::column, faults));
    const std::string values = either(LUMEN_TRY(values_.fill("to", "0", kGroup, faults)),
                                      values_.fill_inside("to", "0", kGroup, Role::summed, faults));
    const auto tell = [](const char* gate) {
      return fmt::format("lumen_show_products();\n      __syncwarp();\n      if (lane == 0) lumen_arrive({});\n", gate);
    };
    return fmt::format(
        "    if (first < last) {{\n      const Index kk = 0, k1 = {D};\n{queries}    }}\n"
        "    for (Index k0 = first; k0 < last; k0 += {T}) {{\n"
        "      lumen_pass(keys_used + turn, parity);\n{keys}      lumen_commit_copies();\n"
        "      if (k0 > first) {{\n      lumen_wait_for_copies<1>();\n      {values_before}      }}\n"
        "      lumen_pass(values_used + turn, parity);\n{values}      lumen_commit_copies();\n"
        "      lumen_wait_for_copies<1>();\n      {keys_told}{next}    }}\n"
        "    if (first < last) {{\n      lumen_wait_for_copies<0>();\n      {values_before}    }}\n",
        fmt::arg("D", depth_), fmt::arg("queries", queries), fmt::arg("T", s_.keys),
        fmt::arg("keys", fill_at("key_stages", keys_, keys)),
        fmt::arg("values", fill_at("value_stages", values_, values)),
        fmt::arg("values_before",
                 tell(fmt::format("values_there + (turn == 0 ? {} : turn - 1)", s_.stages - 1).c_str())),
        fmt::arg("keys_told", tell("keys_there + turn")), fmt::arg("next", next_turn()));
  }

  std::string next_turn() const { return fmt::format("      if (++turn == {}) turn = 0, parity ^= 1;\n", s_.stages); }

  // Groups take turns: while one weighs scores, the next one multiplies. The last one lets the first begin.
  std::string first_turn() const {
    if (groups_ == 1) return "";
    return fmt::format("  if (group == {}) lumen_let_go({}, {});\n", groups_ - 1, kOrder, 2 * kGroup);
  }
  std::string await_turn() const {
    return groups_ == 1 ? "" : fmt::format("      lumen_meet({} + group, {});\n", kOrder, 2 * kGroup);
  }
  std::string end_turn() const {
    if (groups_ == 1) return "";
    return fmt::format("      lumen_let_go({} + (group == {} ? 0 : group + 1), {});\n", kOrder, groups_ - 1,
                       2 * kGroup);
  }

  // Scores of some keys are multiplied, then, while these are weighed, the weights before them and their values.
  std::string loop_text(const std::string& weigh) const {
    const std::string begin = "      lumen_begin_products();\n";
    const std::string begin_sums =
        fmt::format("      lumen_pin<{}>(o[0][0]);\n      lumen_pin<{}>(weights[0]);\n", columns_ / 2, s_.keys / 4) +
        begin;
    const std::string scores_are_there = fmt::format(
        "      if (lane == 0) lumen_arrive(keys_used + turn);\n      lumen_pin<{}>(sc[0][0]);\n", s_.keys / 2);
    const auto sums_are_there = [&](const char* turn) {
      return fmt::format(
          "      lumen_wait_for_products<0>();\n      if (lane == 0) lumen_arrive(values_used + {});\n"
          "      lumen_pin<{}>(o[0][0]);\n",
          turn, columns_ / 2);
    };
    return fmt::format(
        "    if (first < last) {{\n      {{\n      const Index k0 = first, next = k0 + {T};\n"
        "      lumen_pass(keys_there + turn, parity);\n{begin}{scores}      lumen_wait_for_products<0>();\n{scored}"
        "{weigh}{pack}      }}\n"
        "      for (Index k0 = first + {T}; k0 < last; k0 += {T}) {{\n      const Index next = k0 + {T};\n"
        "      const int before = turn, parity_before = parity;\n{next_turn}"
        "      lumen_pass(keys_there + turn, parity);\n{await_turn}{begin}{scores}"
        "      lumen_pass(values_there + before, parity_before);\n{begin_sums}{sum_before}{end_turn}"
        "      lumen_wait_for_products<1>();\n{scored}{weigh}"
        "      {{\n        const int m = 0;\n{rescale}      }}\n{pack}      }}\n"
        "      lumen_pass(values_there + turn, parity);\n{begin_sums}{sum}{summed}{next_turn}    }}\n",
        fmt::arg("T", s_.keys), fmt::arg("begin", begin), fmt::arg("begin_sums", begin_sums),
        fmt::arg("scores", scores_text()), fmt::arg("scored", scores_are_there), fmt::arg("weigh", weigh),
        fmt::arg("pack", pack_text()), fmt::arg("next_turn", next_turn()), fmt::arg("await_turn", await_turn()),
        fmt::arg("end_turn", end_turn()), fmt::arg("sum_before", sums_text("before")),
        fmt::arg("rescale", tiles_.rescale_after(sums_are_there("before"))), fmt::arg("sum", sums_text("turn")),
        fmt::arg("summed", sums_are_there("turn")));
  }

  // What fills a stage, or what does so where all of its keys are there.
  std::string either(const std::string& fill, const std::optional<std::string>& inside) const {
    if (!inside) return fill;
    return fmt::format("      if (k0 + {} <= last) {{\n{}      }} else {{\n{}      }}\n", s_.keys, *inside, fill);
  }

  // Keys or values from `k0` on, into the stage `turn`.
  std::string fill_at(const std::string& stages, const CudaStage& stage, const std::string& fill) const {
    const bool values = &stage == &values_;
    return fmt::format(
        "      {{\n      const Index from = k0, kk = {}, k1 = {};\n      uint16_t* const to = {} + turn * {};\n{}"
        "      }}\n",
        values ? "from" : "0", values ? "last" : std::to_string(depth_), stages, stage.elements(), fill);
  }

  std::string scores_text() const {
    const std::string stage = fmt::format("key_stages + turn * {}", keys_.elements());
    return fmt::format(
        "      LUMEN_UNROLL for (int k = 0; k < {D}; ++k)\n"
        "        lumen_group_multiply_{d}<{T}, {left}, {right}>(sc[0][0], {a}, {b}, k > 0);\n"
        "      lumen_commit_products();\n",
        fmt::arg("D", (depth_ + 15) / 16), fmt::arg("d", name(dtype_)), fmt::arg("T", s_.keys),
        fmt::arg("left", queries_.is_turned() ? 1 : 0), fmt::arg("right", keys_.is_turned() ? 1 : 0),
        fmt::arg("a", queries_.describe("rows", "group * 64", "k * 16")),
        fmt::arg("b", keys_.describe(stage, "0", "k * 16")));
  }

  // Weights as the left side of the next products.
  std::string pack_text() const {
    return fmt::format(
        "      LUMEN_UNROLL for (int k = 0; k < {T}; ++k) LUMEN_UNROLL for (int j = 0; j < 4; ++j)\n"
        "        weights[k][j] = lumen_pack_{d}(sc[0][2 * k + j / 2][j % 2 * 2], sc[0][2 * k + j / 2][j % 2 * 2 + "
        "1]);\n",
        fmt::arg("T", s_.keys / 16), fmt::arg("d", name(dtype_)));
  }

  std::string sums_text(const std::string& turn) const {
    const std::string stage = fmt::format("value_stages + {} * {}", turn, values_.elements());
    return fmt::format(
        "      LUMEN_UNROLL for (int k = 0; k < {T}; ++k)\n"
        "        lumen_group_multiply_{d}<{F}, {right}>(o[0][0], weights[k], {b});\n"
        "      lumen_commit_products();\n",
        fmt::arg("T", s_.keys / 16), fmt::arg("d", name(dtype_)), fmt::arg("F", columns_),
        fmt::arg("right", values_.is_turned() ? 1 : 0), fmt::arg("b", values_.describe(stage, "0", "k * 16")));
  }

  const Graph& body_;
  const AttentionForm& form_;
  std::string name_;
  CudaAttentionSchedule s_;
  DType dtype_;
  int64_t groups_;           // that multiply
  int64_t depth_, columns_;  // columns: features, and some behind them
  AttentionTiles tiles_;
  CudaStage queries_, keys_, values_;
};

}  // namespace

Expected<KernelText> print_cuda_groups(const Graph& body, const AttentionForm& form, const std::string& name,
                                       const CudaAttentionSchedule& s, const Target& target) {
  if (target.sm != kHopper) return error(fmt::format("only sm_90 multiplies as \"{}\" wants", s.str()));
  const std::optional<DType> dtype = flash_dtype(form);
  if (!dtype) return error(fmt::format("no tensor cores multiply these factors, as \"{}\" wants", s.str()));
  const int64_t depth = *form.first.extent(Role::summed).constant();
  const int64_t features = *form.second.extent(Role::column).constant();
  const int64_t groups = s.rows / kGroupRows;
  const bool whole = s.rows % kGroupRows == 0 && s.threads == (groups + 1) * kGroup && groups <= 3 && s.parts <= 1 &&
                     (s.stages == 2 || s.stages == 3) && (s.keys == 64 || s.keys == 128) && depth > 0 && features > 0 &&
                     depth <= kMostFeatures && features <= kMostFeatures;
  if (!whole) return error(fmt::format("the schedule \"{}\" is not one of 64 rows of groups", s.str()));
  if (!registers_of(s, features)) {
    return error(fmt::format("the sums of \"{}\" are too many for registers", s.str()));
  }
  return GroupsPrinter(body, form, name, s, *dtype).print();
}

}  // namespace lumen
