#include "lumen/codegen/attention_direct.h"

#include <fmt/format.h>

#include "lumen/codegen/attention_rows.h"
#include "lumen/codegen/attention_sharers.h"
#include "lumen/codegen/attention_skip.h"
#include "lumen/codegen/contract_pack.h"

namespace lumen {

namespace {

constexpr const char* kArguments = "const void* const* in, void* const* out, const int64_t* dims, int64_t i0";

std::string number(Expr e) { return "(int64_t)(" + print_c(e).text + ")"; }

class DirectPrinter {
 public:
  DirectPrinter(const Graph& body, const AttentionForm& form, std::string name, const AttentionSchedule& schedule)
      : body_(body), form_(form), name_(std::move(name)), s_(schedule) {
    rows_ = *form.rows().constant();
    depth_ = *form.first.extent(Role::summed).constant();
    features_ = *form.second.extent(Role::column).constant();
    parts_ = ceil_div(form.keys(), s_.keys);
  }

  Expected<KernelText> print() {
    KernelText kernel;
    kernel.text += LUMEN_TRY(queries(kernel));
    kernel.text += LUMEN_TRY(dots(kernel)) + LUMEN_TRY(sums(kernel));
    kernel.text += print_weight_exp2(name_);
    kernel.text += LUMEN_TRY(print_weigh(form_, name_, features_, kernel.faults));
    kernel.text += LUMEN_TRY(print_row_store(body_, form_, name_, kernel.faults));
    kernel.text += part_step() + combine_step();
    kernel.steps.push_back({name_ + "_parts", form_.batch() * parts_});
    kernel.steps.push_back({name_, grain_of(body_) == 1 ? form_.batch() : Expr(1)});
    kernel.scratch = form_.batch() * parts_ * (part_size() * 4);
    return kernel;
  }

 private:
  // A maximum, a total and sums for each row.
  int64_t part_size() const { return rows_ * (features_ + 2); }

  Expected<std::string> queries(KernelText& kernel) const {
    Packing p;
    p.function = name_ + "_queries";
    p.graph = form_.graph.get();
    p.factor = form_.first.rows;
    p.lane = Role::row;
    p.lanes = rows_;
    p.type = "float";
    p.depth = p.multiple = std::max<int64_t>(depth_, 1);
    return print_packing(form_.first, p, kernel.faults);
  }

  // Every row with one key after the other.
  Expected<std::string> dots(KernelText& kernel) const {
    ElementWriter writer(*form_.graph, 6, kernel.faults);
    const std::string key = writer.value(form_.first.columns[0], form_.first.at);
    std::string list, start, add, put;
    for (int64_t r = 0; r < rows_; ++r) {
      list += fmt::format("{}x{}", r == 0 ? "" : ", ", r);
      start += fmt::format("{}x{} = 0", r == 0 ? "" : ", ", r);
      add += fmt::format("      x{} += q[{} + i3] * {};\n", r, r * depth_, key);
      put += fmt::format("    s[{} + j] = x{};\n", r * s_.keys, r);
    }
    if (!writer.problem().empty()) return error(writer.problem());
    kernel.faults = writer.faults();
    return fmt::format(
        "static __attribute__((noinline)) int64_t {}_dots({}, int64_t first, int64_t count, "
        "const float* LUMEN_RESTRICT q, float* LUMEN_RESTRICT s) {{\n{}  int64_t fault = 0;\n"
        "  for (int64_t j = 0; j < count; ++j) {{\n    const int64_t i2 = first + j;\n    float {};\n"
        "    _Pragma(\"omp simd reduction(+:{}) reduction(|:fault)\") for (int64_t i3 = 0; i3 < {}; ++i3) {{\n{}{}"
        "    }}\n{}  }}\n  return fault;\n}}\n",
        name_, kArguments, kernel_names(body_), start, list, depth_, writer.text(), add, put);
  }

  // Several values at a time, so that sums are not stored and loaded for each.
  Expected<std::string> sums(KernelText& kernel) const {
    ElementWriter writer(*form_.graph, 8, kernel.faults);
    const std::string value = writer.value(form_.second.columns[0], form_.second.at);
    if (!writer.problem().empty()) return error(writer.problem());
    kernel.faults = writer.faults();
    const auto loop = [&](int64_t unroll) {
      std::string text = fmt::format("    LUMEN_ELEMENTS(i2, {}) {{\n", features_);
      for (int64_t u = 0; u < unroll; ++u) {
        text += fmt::format(
            "      float v{0}_;\n      {{\n        const int64_t i3 = first + j + {0};\n{1}"
            "        v{0}_ = {2};\n      }}\n",
            u, writer.text(), value);
      }
      for (int64_t r = 0; r < rows_; ++r) {
        text += fmt::format("      sums[{} + i2] +=", r * features_);
        for (int64_t u = 0; u < unroll; ++u) {
          text += fmt::format("{} w[{} + j + {}] * v{}_", u == 0 ? "" : " +", r * s_.keys, u, u);
        }
        text += ";\n";
      }
      return text + "    }\n";
    };
    constexpr int64_t kUnroll = 4;
    return fmt::format(
        "static __attribute__((noinline)) int64_t {}_sums({}, int64_t first, int64_t count, "
        "const float* LUMEN_RESTRICT w, float* LUMEN_RESTRICT sums) {{\n{}  int64_t fault = 0, j = 0;\n"
        "  for (; j + {} <= count; j += {}) {{\n{}  }}\n  for (; j < count; ++j) {{\n{}  }}\n  return fault;\n}}\n",
        name_, kArguments, kernel_names(body_), kUnroll, kUnroll, loop(kUnroll), loop(1));
  }

  std::string part_step() const {
    const std::string excluded = print_excluded(form_);
    return fmt::format(
        "LUMEN_KERNEL({f}_parts) {{\n{names}  int64_t fault = 0;\n"
        "  float q[{q}] __attribute__((aligned(64))), s[{s}] __attribute__((aligned(64)));\n"
        "  float t[{keys}] __attribute__((aligned(64)));\n"
        "  int64_t held = -1;\n"
        "  LUMEN_ROWS(row) {{\n"
        "    const int64_t i0 = row / {parts}, k0 = row % {parts} * {keys}, m0 = 0, m1 = {rows};\n"
        "    const int64_t k1 = k0 + {keys} < {K} ? k0 + {keys} : {K}, count = k1 - k0;\n"
        "    float* const top = (float*)out[{scratch}] + row * {size}, * const total = top + {rows}, "
        "* const sums = total + {rows};\n"
        "    for (int64_t r = 0; r < {rows}; ++r) top[r] = -lumen_inf_f32(), total[r] = 0;\n"
        "    for (int64_t c = 0; c < {sums}; ++c) sums[c] = 0;\n"
        "    if ({excluded}) continue;\n"
        "    if (held != i0) {{\n"
        "      const int64_t found = {f}_queries(in, out, dims, q, i0, 0, 0, {depth});\n"
        "      if (found > 0) fault |= (int64_t)1 << (found < 62 ? found - 1 : 61);\n"
        "      held = i0;\n    }}\n"
        "    fault |= {f}_dots(in, out, dims, i0, k0, count, q, s);\n"
        "    for (int64_t r = 0; r < {rows}; ++r) {{\n"
        "      fault |= {f}_weigh(in, out, dims, i0, r, k0, count, s + r * {keys}, t, sums + r * {F}, top + r, "
        "total + r);\n    }}\n"
        "    fault |= {f}_sums(in, out, dims, i0, k0, count, s, sums);\n"
        "  }}\n  LUMEN_RETURN;\n}}\n",
        fmt::arg("f", name_), fmt::arg("names", kernel_names(body_)),
        fmt::arg("q", std::max<int64_t>(1, rows_ * depth_)), fmt::arg("s", rows_ * s_.keys), fmt::arg("keys", s_.keys),
        fmt::arg("parts", number(parts_)), fmt::arg("rows", rows_), fmt::arg("K", number(form_.keys())),
        fmt::arg("scratch", body_.outputs().size()), fmt::arg("size", part_size()), fmt::arg("sums", rows_ * features_),
        fmt::arg("excluded", excluded.empty() ? "0" : excluded), fmt::arg("depth", depth_), fmt::arg("F", features_));
  }

  std::string combine_step() const {
    return fmt::format(
        "LUMEN_KERNEL({f}) {{\n{names}  int64_t fault = 0;\n  float all[{room}];\n"
        "  LUMEN_ROWS(i0) for (int64_t r = 0; r < {rows}; ++r) {{\n"
        "    const float* const parts = (const float*)out[{scratch}] + i0 * {parts} * {size};\n"
        "    float m = -lumen_inf_f32(), l = 0;\n"
        "    for (int64_t p = 0; p < {parts}; ++p) m = parts[p * {size} + r] > m ? parts[p * {size} + r] : m;\n"
        "    const float used = m == -lumen_inf_f32() ? 0.0f : m;\n"
        "    for (int64_t c = 0; c < {F}; ++c) all[c] = 0;\n"
        "    for (int64_t p = 0; p < {parts}; ++p) {{\n"
        "      const float* const part = parts + p * {size};\n"
        "      const float scale = {f}_exp2((part[r] - used) * {a:.9g}f);\n"
        "      l += scale * part[{rows} + r];\n"
        "      LUMEN_ELEMENTS(c, {F}) all[c] += scale * part[2 * {rows} + r * {F} + c];\n    }}\n"
        "    fault |= {f}_store(in, out, dims, i0, r, all, m, l);\n"
        "  }}\n  LUMEN_RETURN;\n}}\n",
        fmt::arg("f", name_), fmt::arg("names", kernel_names(body_)), fmt::arg("rows", rows_),
        fmt::arg("room", std::max<int64_t>(1, features_)), fmt::arg("scratch", body_.outputs().size()),
        fmt::arg("parts", number(parts_)), fmt::arg("size", part_size()), fmt::arg("F", features_),
        fmt::arg("a", form_.steepness));
  }

  const Graph& body_;
  const AttentionForm& form_;
  std::string name_;
  AttentionSchedule s_;
  int64_t rows_ = 0, depth_ = 0, features_ = 0;
  Expr parts_;
};

}  // namespace

Expected<KernelText> print_direct_attention(const Graph& body, const AttentionForm& form, const std::string& name,
                                            const AttentionSchedule& schedule, const Target&) {
  const AttentionForm merged = with_shared_rows(form);
  const std::optional<int64_t> rows = merged.rows().constant();
  if (!rows || *rows > kMostDirectRows || schedule.keys <= 0 || schedule.keys > (1 << 14)) {
    return error(fmt::format("the schedule \"{}\" does not fit {} rows", schedule.str(), merged.rows().str()));
  }
  return DirectPrinter(body, merged, name, schedule).print();
}

}  // namespace lumen
