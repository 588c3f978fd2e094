#include "lumen/codegen/attention.h"

#include <fmt/format.h>

#include "lumen/codegen/attention_direct.h"
#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/attention_pack.h"
#include "lumen/codegen/attention_rows.h"
#include "lumen/codegen/attention_skip.h"
#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/schedule_text.h"

namespace lumen {

namespace {

constexpr int64_t kStackBytes = 2 << 20;
constexpr int64_t kApart = 16;  // rows of scores whose addresses differ by a power of two share lines of the cache

// Keys and values are packed once for all rows; then each block of rows runs over the blocks of keys.
class AttentionPrinter {
 public:
  AttentionPrinter(const Graph& body, const AttentionForm& form, std::string name, const AttentionSchedule& schedule,
                   const Target& target)
      : body_(body), form_(form), name_(std::move(name)), s_(schedule), target_(target) {
    if (is_amx()) types_ = *matrix_types(form.first, target);
    depth_ = *form.first.extent(Role::summed).constant();
    padded_depth_ = round_up(depth_, types_.depth);
    features_ = round_up(*form.second.extent(Role::column).constant(), s_.nr);
    key_panels_ = ceil_div(form.keys(), s_.nr);
    padded_keys_ = ceil_div(form.keys(), types_.depth) * types_.depth;
    sources_ = form.batch() / form.sharers;
  }

  Expected<KernelText> print() {
    KernelText kernel;
    LUMEN_TRY(print_packings(kernel));
    LUMEN_TRY(print_rows(kernel));
    kernel.text += pack_step() + block_step();
    kernel.steps.push_back({name_ + "_pack", sources_ * (key_panels_ + features_ / s_.nr)});
    kernel.steps.push_back({name_, grain_of(body_) == 1 ? pieces() : Expr(1)});
    kernel.scratch = sources_ * (keys_of_one() + values_of_one()) * (types_.sum_bytes / types_.group);
    return kernel;
  }

 private:
  bool is_amx() const { return s_.method == AttentionMethod::amx; }
  Expr row_blocks() const { return ceil_div(form_.rows(), s_.rows); }
  Expr pieces() const { return form_.batch() * row_blocks(); }
  // Packed elements of one batch.
  Expr keys_of_one() const { return key_panels_ * (padded_depth_ * s_.nr); }
  Expr values_of_one() const { return padded_keys_ * features_; }
  int64_t score_step() const { return s_.keys + kApart; }

  Expected<void> print_packings(KernelText& kernel) const {
    const AttentionPacking packing{types_, target_.vector_bytes, is_amx(), s_.nr};
    kernel.text += LUMEN_TRY(print_key_packing(form_, name_ + "_keys", packing, kernel.faults));
    kernel.text += LUMEN_TRY(print_value_packing(form_, name_ + "_values", packing, kernel.faults));
    kernel.text += LUMEN_TRY(print_query_packing(form_, name_ + "_queries", packing, s_.rows, kernel.faults));
    return {};
  }

  Expected<void> print_rows(KernelText& kernel) const {
    ContractSchedule tile;
    tile.mr = s_.mr, tile.nr = s_.nr;
    const TileSteps score{padded_depth_, types_.depth, s_.nr * types_.depth};
    const TileSteps sum{score_step(), types_.depth, s_.nr * types_.depth};
    for (auto [what, steps] : {std::pair{"_score", score}, std::pair{"_sum", sum}}) {
      steps.by_lanes = target_.lane_products;
      kernel.text += is_amx() ? print_amx_tile(name_ + what, types_, tile, steps)
                              : print_vector_tile(name_ + what, types_, tile, target_.vector_bytes, steps);
    }
    kernel.text += print_weight_exp2(name_, is_amx());
    kernel.text += LUMEN_TRY(print_weigh(form_, name_, {features_, is_amx(), target_.vector_bytes}, kernel.faults));
    kernel.text += LUMEN_TRY(print_row_store(body_, form_, name_, kernel.faults));
    kernel.text += print_excluded(form_, name_);
    return {};
  }

  // What a packing found becomes a bit.
  static constexpr const char* kFound = "    if (found > 0) fault |= (int64_t)1 << (found < 62 ? found - 1 : 61);\n";

  std::string pack_step() const {
    return fmt::format(
               "LUMEN_C_KERNEL({f}_pack) {{\n{names}  int64_t fault = 0, found;\n"
               "  {T}* const keys = ({T}*)out[{scratch}];\n"
               "  {T}* const values = keys + {sources} * {K1};\n"
               "  LUMEN_ROWS(row) {{\n"
               "    const int64_t source = row / ({kp} + {vp}), panel = row % ({kp} + {vp}), c = panel - {kp};\n"
               "    const int64_t i0 = source * {sharers};\n"
               "    found = panel < {kp} ? {f}_keys(in, out, dims, keys + source * {K1} + panel * {kn}, i0, "
               "panel * {nr}, 0, {depth})\n"
               "      : {f}_values(in, out, dims, values + source * {V1} + c * {nr} * {Kp}, i0, c * {nr}, 0, {K});\n",
               fmt::arg("f", name_), fmt::arg("names", kernel_names(body_)), fmt::arg("T", types_.packed),
               fmt::arg("scratch", body_.outputs().size()), fmt::arg("sources", number(sources_)),
               fmt::arg("K1", number(keys_of_one())), fmt::arg("V1", number(values_of_one())),
               fmt::arg("kp", number(key_panels_)), fmt::arg("vp", features_ / s_.nr),
               fmt::arg("sharers", number(form_.sharers)), fmt::arg("kn", padded_depth_ * s_.nr), fmt::arg("nr", s_.nr),
               fmt::arg("depth", depth_), fmt::arg("K", number(form_.keys())), fmt::arg("Kp", number(padded_keys_))) +
           kFound + "  }\n  LUMEN_RETURN;\n}\n";
  }

  std::string block_step() const {
    std::string text =
        fmt::format("LUMEN_C_KERNEL({}) {{\n{}  int64_t fault = 0, found;\n", name_, kernel_names(body_));
    if (is_amx()) text += amx_begin();
    if (grain_of(body_) != 1) text += fmt::format("  begin = 0, end = end > 0 ? {} : 0;\n", number(pieces()));
    text += buffers() + "  LUMEN_ROWS(row) {\n" + block_place() + kFound;
    text += fmt::format(
        "    for (int64_t r = 0; r < {}; ++r) top[r] = -lumen_inf_f32();\n"
        "    __builtin_memset(total, 0, sizeof total);\n    __builtin_memset(sums, 0, sizeof sums);\n",
        s_.rows);
    text += key_loop();
    text += fmt::format(
        "    for (int64_t r = 0; r < have; ++r) {{\n"
        "      fault |= {}_store(in, out, dims, i0, m0 + r, sums + r * {}, top[r], total + r * {});\n    }}\n  }}\n",
        name_, features_, kTotals);
    if (is_amx()) text += amx_end();
    return text + "  LUMEN_RETURN;\n}\n";
  }

  // Weights of vectors take the place of the scores.
  std::string buffers() const {
    return fmt::format(
        "  {T} q[{q}] __attribute__((aligned(64))){w};\n"
        "  float s[{s}] __attribute__((aligned(64))), t[{keys}] __attribute__((aligned(64)));\n"
        "  float sums[{a}] __attribute__((aligned(64))), top[{rows}], total[{rows} * {L}];\n",
        fmt::arg("T", types_.packed), fmt::arg("q", std::max<int64_t>(1, s_.rows * padded_depth_)),
        fmt::arg("w", is_amx() ? fmt::format(", w[{}] __attribute__((aligned(64)))", s_.rows * score_step()) : ""),
        fmt::arg("s", s_.rows * score_step()), fmt::arg("keys", s_.keys),
        fmt::arg("a", std::max<int64_t>(1, s_.rows * features_)), fmt::arg("rows", s_.rows), fmt::arg("L", kTotals));
  }

  // Where keys are skipped the last blocks of rows have the most to do: light and heavy ones alternate.
  std::string block_place() const {
    return fmt::format(
        "    const int64_t i0 = row / {rb}, turn = row % {rb};\n"
        "    const int64_t m0 = (turn % 2 ? {rb} - 1 - turn / 2 : turn / 2) * {rows};\n"
        "    const int64_t m1 = m0 + {rows} < {R} ? m0 + {rows} : {R}, have = m1 - m0;\n"
        "    const {T}* const keys = (const {T}*)out[{scratch}] + i0 / {sharers} * {K1};\n"
        "    const {T}* const values = (const {T}*)out[{scratch}] + {sources} * {K1} + i0 / {sharers} * {V1};\n"
        "    found = {f}_queries(in, out, dims, q, i0, m0, 0, {depth});\n",
        fmt::arg("f", name_), fmt::arg("T", types_.packed), fmt::arg("rows", s_.rows),
        fmt::arg("rb", number(row_blocks())), fmt::arg("R", number(form_.rows())),
        fmt::arg("scratch", body_.outputs().size()), fmt::arg("sharers", number(form_.sharers)),
        fmt::arg("K1", number(keys_of_one())), fmt::arg("V1", number(values_of_one())),
        fmt::arg("sources", number(sources_)), fmt::arg("depth", depth_));
  }

  std::string key_loop() const {
    return fmt::format(
        "    for (int64_t k0 = 0; k0 < {K}; k0 += {keys}) {{\n"
        "      int64_t k1 = k0 + {keys} < {K} ? k0 + {keys} : {K};\n"
        "      for (int64_t k; k1 > k0 && {f}_excluded(in, out, dims, i0, m0, m1, k = k0 + (k1 - 1 - k0) / {nr} * "
        "{nr}, k1);) k1 = k;\n"
        "      const int64_t count = k1 - k0;\n"
        "      if (count == 0) continue;\n"
        "      for (int64_t c = 0; c < count; c += {nr}) for (int64_t r = 0; r < have; r += {mr}) {{\n"
        "        {f}_score({dp}, q + r * {dp}, keys + (k0 + c) * {dp}, s + r * {S} + c, {S}, 1);\n      }}\n"
        "      for (int64_t r = 0; r < have; ++r) {{\n"
        "        fault |= {f}_weigh(in, out, dims, i0, m0 + r, k0, count, s + r * {S}, {w} + r * {S}, t, "
        "sums + r * {F}, top + r, total + r * {L});\n      }}\n"
        "      for (int64_t c = 0; c < {F}; c += {nr}) for (int64_t r = 0; r < have; r += {mr}) {{\n"
        "        {f}_sum((count + {D} - 1) / {D} * {D}, {w} + r * {S}, values + c * {Kp} + k0 * {nr}, "
        "sums + r * {F} + c, {F}, 0);\n      }}\n"
        "    }}\n",
        fmt::arg("f", name_), fmt::arg("K", number(form_.keys())), fmt::arg("keys", s_.keys), fmt::arg("nr", s_.nr),
        fmt::arg("mr", s_.mr), fmt::arg("dp", padded_depth_), fmt::arg("S", score_step()),
        fmt::arg("w", is_amx() ? "w" : "s"), fmt::arg("F", features_), fmt::arg("D", types_.depth),
        fmt::arg("Kp", number(padded_keys_)), fmt::arg("L", kTotals));
  }

  const Graph& body_;
  const AttentionForm& form_;
  std::string name_;
  AttentionSchedule s_;
  const Target& target_;
  TileTypes types_ = vector_types(f32);
  int64_t depth_ = 0, padded_depth_ = 0, features_ = 0;
  Expr key_panels_, padded_keys_, sources_;
};

Expected<void> check_attention(const AttentionSchedule& s, const AttentionForm& form, const Target& target) {
  const std::optional<int64_t> depth = form.first.extent(Role::summed).constant();
  const std::optional<int64_t> features = form.second.extent(Role::column).constant();
  if (!depth || !features) return error("attention needs constant sizes of its heads");
  if (s.method == AttentionMethod::direct) return {};
  const bool amx = s.method == AttentionMethod::amx;
  if (amx && !fits_matrix_unit(form, target)) {
    return error(fmt::format("no matrix unit multiplies what \"{}\" is to", s.str()));
  }
  const int64_t lanes = amx ? 16 : target.vector_bytes / 4, deep = amx ? 32 : 1;
  const bool whole = s.mr > 0 && s.nr > 0 && s.nr % lanes == 0 && s.rows > 0 && s.rows % s.mr == 0 && s.keys > 0 &&
                     s.keys % s.nr == 0 && s.keys % deep == 0;
  const bool registers = !amx || (s.mr % 16 == 0 && (s.mr / 16) * (s.nr / 16) + s.mr / 16 + s.nr / 16 <= 8);
  const int64_t room = whole ? s.rows * (2 * (s.keys + kApart) + *depth + deep + *features + s.nr) + s.keys : 0;
  if (whole && registers && room * 4 <= kStackBytes) return {};
  return error(fmt::format("the schedule \"{}\" does not fit tiles of {} lanes and heads of {} and {}", s.str(), lanes,
                           *depth, *features));
}

}  // namespace

Expected<KernelText> print_attention(const Graph& body, const std::string& name, const AttentionSchedule& schedule,
                                     const Target& target) {
  const AttentionForm form = LUMEN_TRY(attention_form(body));
  LUMEN_TRY(check_attention(schedule, form, target));
  if (schedule.method == AttentionMethod::direct) return print_direct_attention(body, form, name, schedule, target);
  return AttentionPrinter(body, form, name, schedule, target).print();
}

}  // namespace lumen
