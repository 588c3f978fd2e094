#include "lumen/codegen/attention.h"

#include <fmt/format.h>

#include "lumen/codegen/attention_direct.h"
#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/attention_rows.h"
#include "lumen/codegen/attention_skip.h"
#include "lumen/codegen/attention_tile.h"
#include "lumen/codegen/contract_pack.h"

namespace lumen {

namespace {

std::string number(Expr e) { return "(int64_t)(" + print_c(e).text + ")"; }

constexpr int64_t kStackBytes = 2 << 20;

int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

// Keys and values are packed once for all rows; then each block of rows runs over the blocks of keys.
class AttentionPrinter {
 public:
  AttentionPrinter(const Graph& body, const AttentionForm& form, std::string name, const AttentionSchedule& schedule,
                   const Target& target)
      : body_(body), form_(form), name_(std::move(name)), s_(schedule), target_(target) {
    depth_ = *form.first.extent(Role::summed).constant();
    features_ = round_up(*form.second.extent(Role::column).constant(), s_.nr);
    key_panels_ = ceil_div(form.keys(), s_.nr);
    sources_ = form.batch() / form.sharers;
  }

  Expected<KernelText> print() {
    KernelText kernel;
    kernel.text += LUMEN_TRY(packing(kernel, form_.first, form_.first.columns[0], "keys", Role::column));
    kernel.text += LUMEN_TRY(packing(kernel, form_.second, form_.second.columns[0], "values", Role::column));
    kernel.text += LUMEN_TRY(packing(kernel, form_.first, form_.first.rows, "queries", Role::row));
    kernel.text += print_row_tile({name_ + "_score", s_.mr, s_.nr, depth_, s_.keys, false, target_.vector_bytes});
    kernel.text += print_row_tile({name_ + "_sum", s_.mr, s_.nr, s_.keys, features_, true, target_.vector_bytes});
    kernel.text += print_weight_exp2(name_);
    kernel.text += LUMEN_TRY(print_weigh(form_, name_, features_, kernel.faults));
    kernel.text += LUMEN_TRY(print_row_store(body_, form_, name_, kernel.faults));
    kernel.text += pack_step() + block_step();
    kernel.steps.push_back({name_ + "_pack", sources_ * (key_panels_ + features_ / s_.nr)});
    kernel.steps.push_back({name_, grain_of(body_) == 1 ? form_.batch() * row_blocks() : Expr(1)});
    kernel.scratch = sources_ * (keys_of_one() + values_of_one()) * 4;
    return kernel;
  }

 private:
  Expr row_blocks() const { return ceil_div(form_.rows(), s_.rows); }
  // Packed elements of one batch.
  Expr keys_of_one() const { return key_panels_ * (depth_ * s_.nr); }
  Expr values_of_one() const { return form_.keys() * features_; }

  Expected<std::string> packing(KernelText& kernel, const ContractRoles& roles, NodeId factor, const std::string& what,
                                Role lane) const {
    Packing p;
    p.function = name_ + "_" + what;
    p.graph = form_.graph.get();
    p.factor = factor;
    p.lane = lane;
    p.lanes = lane == Role::row ? s_.rows : s_.nr;
    p.type = "float";
    p.vector_bytes = target_.vector_bytes;
    if (lane == Role::row) p.depth = p.multiple = std::max<int64_t>(depth_, 1);
    const std::optional<Expr> step = step_of(roles, place_of(roles, *form_.graph, factor).index, Role::summed);
    p.along_summed = step && *step == Expr(1);
    return print_packing(roles, p, kernel.faults);
  }

  // What a packing found becomes a bit.
  static constexpr const char* kFound = "    if (found > 0) fault |= (int64_t)1 << (found < 62 ? found - 1 : 61);\n";

  std::string pack_step() const {
    return fmt::format(
               "LUMEN_KERNEL({f}_pack) {{\n{names}  int64_t fault = 0, found;\n"
               "  float* const keys = (float*)out[{scratch}];\n"
               "  float* const values = keys + {sources} * {K1};\n"
               "  LUMEN_ROWS(row) {{\n"
               "    const int64_t source = row / ({kp} + {vp}), panel = row % ({kp} + {vp}), c = panel - {kp};\n"
               "    const int64_t i0 = source * {sharers};\n"
               "    found = panel < {kp} ? {f}_keys(in, out, dims, keys + source * {K1} + panel * {kn}, i0, "
               "panel * {nr}, 0, {depth})\n"
               "      : {f}_values(in, out, dims, values + source * {V1} + c * {nr} * {K}, i0, c * {nr}, 0, {K});\n",
               fmt::arg("f", name_), fmt::arg("names", kernel_names(body_)),
               fmt::arg("scratch", body_.outputs().size()), fmt::arg("sources", number(sources_)),
               fmt::arg("K1", number(keys_of_one())), fmt::arg("V1", number(values_of_one())),
               fmt::arg("kp", number(key_panels_)), fmt::arg("vp", features_ / s_.nr),
               fmt::arg("sharers", number(form_.sharers)), fmt::arg("kn", depth_ * s_.nr), fmt::arg("nr", s_.nr),
               fmt::arg("depth", depth_), fmt::arg("K", number(form_.keys()))) +
           kFound + "  }\n  LUMEN_RETURN;\n}\n";
  }

  std::string block_step() const {
    return fmt::format(
               "LUMEN_KERNEL({f}) {{\n{names}  int64_t fault = 0, found;\n"
               "  float q[{q}] __attribute__((aligned(64))), s[{s}] __attribute__((aligned(64)));\n"
               "  float t[{keys}] __attribute__((aligned(64))), sums[{a}] __attribute__((aligned(64)));\n"
               "  float top[{rows}], total[{rows}];\n"
               "  LUMEN_ROWS(row) {{\n"
               "    const int64_t i0 = row / {rb}, m0 = row % {rb} * {rows};\n"
               "    const int64_t m1 = m0 + {rows} < {R} ? m0 + {rows} : {R}, have = m1 - m0;\n"
               "    const float* const keys = (const float*)out[{scratch}] + i0 / {sharers} * {K1};\n"
               "    const float* const values =\n"
               "      (const float*)out[{scratch}] + {sources} * {K1} + i0 / {sharers} * {V1};\n"
               "    found = {f}_queries(in, out, dims, q, i0, m0, 0, {depth});\n",
               fmt::arg("f", name_), fmt::arg("names", kernel_names(body_)),
               fmt::arg("q", std::max<int64_t>(1, s_.rows * depth_)), fmt::arg("s", s_.rows * s_.keys),
               fmt::arg("keys", s_.keys), fmt::arg("a", std::max<int64_t>(1, s_.rows * features_)),
               fmt::arg("rows", s_.rows), fmt::arg("rb", number(row_blocks())), fmt::arg("R", number(form_.rows())),
               fmt::arg("scratch", body_.outputs().size()), fmt::arg("sharers", number(form_.sharers)),
               fmt::arg("K1", number(keys_of_one())), fmt::arg("V1", number(values_of_one())),
               fmt::arg("sources", number(sources_)), fmt::arg("depth", depth_)) +
           kFound +
           fmt::format(
               "    for (int64_t r = 0; r < {rows}; ++r) top[r] = -lumen_inf_f32(), total[r] = 0;\n"
               "    __builtin_memset(sums, 0, sizeof sums);\n",
               fmt::arg("rows", s_.rows)) +
           key_loop() +
           fmt::format(
               "    for (int64_t r = 0; r < have; ++r) {{\n"
               "      fault |= {f}_store(in, out, dims, i0, m0 + r, sums + r * {F}, top[r], total[r]);\n    }}\n"
               "  }}\n  LUMEN_RETURN;\n}}\n",
               fmt::arg("f", name_), fmt::arg("F", features_));
  }

  std::string key_loop() const {
    return fmt::format(
        "    for (int64_t k0 = 0; k0 < {K}; k0 += {keys}) {{\n"
        "      const int64_t k1 = k0 + {keys} < {K} ? k0 + {keys} : {K}, count = k1 - k0;\n"
        "{skip}"
        "      for (int64_t c = 0; c < count; c += {nr}) for (int64_t r = 0; r < have; r += {mr}) {{\n"
        "        {f}_score({depth}, q + r * {depth}, keys + (k0 + c) * {depth}, s + r * {keys} + c);\n      }}\n"
        "      for (int64_t r = 0; r < have; ++r) {{\n"
        "        fault |= {f}_weigh(in, out, dims, i0, m0 + r, k0, count, s + r * {keys}, t, sums + r * {F}, top + r, "
        "total + r);\n      }}\n"
        "      for (int64_t c = 0; c < {F}; c += {nr}) for (int64_t r = 0; r < have; r += {mr}) {{\n"
        "        {f}_sum(count, s + r * {keys}, values + c * {K} + k0 * {nr}, sums + r * {F} + c);\n      }}\n"
        "    }}\n",
        fmt::arg("f", name_), fmt::arg("K", number(form_.keys())), fmt::arg("keys", s_.keys), fmt::arg("nr", s_.nr),
        fmt::arg("mr", s_.mr), fmt::arg("depth", depth_), fmt::arg("F", features_), fmt::arg("skip", skip()));
  }

  std::string skip() const {
    const std::string condition = print_excluded(form_);
    return condition.empty() ? "" : fmt::format("      if ({}) continue;\n", condition);
  }

  const Graph& body_;
  const AttentionForm& form_;
  std::string name_;
  AttentionSchedule s_;
  const Target& target_;
  int64_t depth_ = 0, features_ = 0;
  Expr key_panels_, sources_;
};

Expected<void> check(const AttentionSchedule& s, const AttentionForm& form, const Target& target) {
  const std::optional<int64_t> depth = form.first.extent(Role::summed).constant();
  const std::optional<int64_t> features = form.second.extent(Role::column).constant();
  if (!depth || !features) return error("attention needs constant sizes of its heads");
  if (s.method == AttentionMethod::direct) return {};
  const int64_t lanes = target.vector_bytes / 4;
  const bool whole =
      s.mr > 0 && s.nr > 0 && s.nr % lanes == 0 && s.rows > 0 && s.rows % s.mr == 0 && s.keys > 0 && s.keys % s.nr == 0;
  const bool fits = whole && (s.rows * (s.keys + *depth + *features + s.nr) + s.keys) * 4 <= kStackBytes;
  if (fits) return {};
  return error(fmt::format("the schedule \"{}\" does not fit vectors of {} lanes and heads of {} and {}", s.str(),
                           lanes, *depth, *features));
}

}  // namespace

Expected<KernelText> print_attention(const Graph& body, const std::string& name, const AttentionSchedule& schedule,
                                     const Target& target) {
  const AttentionForm form = LUMEN_TRY(attention_form(body));
  LUMEN_TRY(check(schedule, form, target));
  if (schedule.method == AttentionMethod::direct) return print_direct_attention(body, form, name, schedule, target);
  return AttentionPrinter(body, form, name, schedule, target).print();
}

}  // namespace lumen
