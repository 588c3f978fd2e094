#include "lumen/codegen/attention_direct.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/attention_pack.h"
#include "lumen/codegen/attention_rows.h"
#include "lumen/codegen/attention_sharers.h"
#include "lumen/codegen/attention_skip.h"
#include "lumen/codegen/contract_skinny_frame.h"

namespace lumen {

namespace {

constexpr const char* kArguments = "const void* const* in, void* const* out, const int64_t* dims, int64_t i0";

class DirectPrinter {
 public:
  DirectPrinter(const Graph& body, const AttentionForm& form, std::string name, const AttentionSchedule& schedule,
                const Target& target)
      : body_(body), form_(form), name_(std::move(name)), s_(schedule), target_(target) {
    rows_ = *form.rows().constant();
    depth_ = *form.first.extent(Role::summed).constant();
    features_ = *form.second.extent(Role::column).constant();
    parts_ = ceil_div(form.keys(), s_.keys);
    if (target.avx512_bf16 && target.vector_bytes == 64 && depth_ % 32 == 0) find_pairs();
  }

  Expected<KernelText> print() {
    KernelText kernel;
    kernel.text += LUMEN_TRY(queries(kernel));
    kernel.text += LUMEN_TRY(dots(kernel)) + LUMEN_TRY(sums(kernel));
    kernel.text += print_weight_exp2(name_, false);
    kernel.text += LUMEN_TRY(print_weigh(form_, name_, {features_, false, target_.vector_bytes}, kernel.faults));
    kernel.text += LUMEN_TRY(print_row_store(body_, form_, name_, kernel.faults));
    kernel.text += print_excluded(form_, name_) + part_step() + combine_step();
    kernel.steps.push_back({name_ + "_parts", form_.batch() * parts_});
    kernel.steps.push_back({name_, grain_of(body_) == 1 ? form_.batch() : Expr(1)});
    kernel.scratch = form_.batch() * parts_ * (part_size() * 4);
    return kernel;
  }

 private:
  // Maxima, totals and sums.
  int64_t part_size() const { return rows_ * (features_ + kTotals + 1); }

  // Keys of bf16 that lie along their depth are multiplied two by two, as they are.
  void find_pairs() {
    const std::optional<NarrowFactor> queries = narrow_factor(form_.first, form_.first.rows);
    const std::optional<NarrowFactor> keys = narrow_factor(form_.first, form_.first.columns[0]);
    if (!queries || queries->dtype != bf16 || !keys || keys->dtype != bf16) return;
    pairs_ = held_factor(form_.first, form_.first.columns[0], Role::column, true).plain;
    if (pairs_ && pairs_->summed != Expr(1)) pairs_.reset();
  }

  std::string_view query_type() const { return pairs_ ? "uint16_t" : "float"; }

  Expected<std::string> queries(KernelText& kernel) const {
    AttentionPacking packing{vector_types(f32), target_.vector_bytes, pairs_.has_value(), rows_};
    packing.types.packed = query_type();
    return print_query_packing(form_, name_ + "_queries", packing, rows_, kernel.faults);
  }

  int64_t lanes() const { return target_.vector_bytes / 4; }

  // Sums across as many vectors as they have lanes: neighbours are added until one vector has them all.
  std::string across() const {
    const int64_t n = lanes();
    std::string text = fmt::format(
        "typedef float {0}_v __attribute__((vector_size({1}), aligned(4), may_alias));\n"
        "static inline __attribute__((always_inline)) void {0}_across(const float* from, float* to) {{\n",
        name_, target_.vector_bytes);
    for (int64_t i = 0; i < n; ++i) {
      text += fmt::format("  const {0}_v x0_{1} = *(const {0}_v*)(from + {2});\n", name_, i, i * n);
    }
    int64_t stage = 0;
    for (int64_t left = n / 2; left > 0; left /= 2, ++stage) {
      for (int64_t i = 0; i < left; ++i) {
        std::string even, odd;
        for (int64_t l = 0; l < 2 * n; l += 2) even += fmt::format(", {}", l), odd += fmt::format(", {}", l + 1);
        text += fmt::format(
            "  const {0}_v x{1}_{2} = __builtin_shufflevector(x{3}_{4}, x{3}_{5}{6}) + "
            "__builtin_shufflevector(x{3}_{4}, x{3}_{5}{7});\n",
            name_, stage + 1, i, stage, 2 * i, 2 * i + 1, even, odd);
      }
    }
    return text + fmt::format("  *({0}_v*)to = x{1}_0;\n}}\n", name_, stage);
  }

  // One key with every row: two products to a lane.
  std::string pair_products() const {
    const std::pair<Expr, Expr> start[] = {{Expr::index(3, depth_), 0}};
    std::string text = fmt::format("      const uint16_t* const k = a{} + {};\n", pairs_->input,
                                   print_c(substitute(pairs_->index, start)).text);
    constexpr int64_t kLine = 32;
    for (int64_t i3 = 0; i3 < depth_; i3 += kLine) {
      text += fmt::format("      __builtin_prefetch(k + {});\n", kPage / 2 + i3);
    }
    std::string add, put;
    for (int64_t r = 0; r < rows_; ++r) {
      text += fmt::format("      {}_v p{} = {{0}};\n", name_, r);
      add += fmt::format(
          "        __asm__(\"vdpbf16ps %2, %1, %0\" : \"+v\"(p{0}) : \"v\"(*(const {1}_v*)(q + {2} + i3)), "
          "\"v\"(x));\n",
          r, name_, r * depth_);
      put += fmt::format("      *({0}_v*)&parts[{1}][u][0] = p{1};\n", name_, r);
    }
    return text + fmt::format(
                      "      for (int64_t i3 = 0; i3 < {}; i3 += 32) {{\n        const {}_v x = *(const {}_v*)(k + "
                      "i3);\n{}      }}\n{}",
                      depth_, name_, name_, add, put);
  }

  // Every row with as many keys at a time as a vector has lanes. The last ones are computed again to fill it up. Two
  // vectors of sums, so that elements half as wide are read a whole vector at a time.
  Expected<std::string> dots(KernelText& kernel) const {
    ElementWriter writer(*form_.graph, 8, kernel.faults);
    const std::string key = writer.value(form_.first.columns[0], form_.first.at);
    if (!writer.problem().empty()) return error(writer.problem());
    kernel.faults = writer.faults();
    const int64_t n = lanes();
    std::string start, add, put, gather;
    for (int64_t r = 0; r < rows_; ++r) {
      start += fmt::format("{}p{}[{}] = {{0}}", r == 0 ? "" : ", ", r, 2 * n);
      add += fmt::format("        p{}[l] += q[{} + i3] * {};\n", r, r * depth_, key);
      put += fmt::format("      LUMEN_ELEMENTS(l, {0}) parts[{1}][u][l] = p{1}[l] + p{1}[l + {0}];\n", n, r);
      gather += fmt::format("    {}_across(&parts[{}][0][0], s + {} + j);\n", name_, r, r * s_.keys);
    }
    std::string loops = pairs_ ? pair_products() : fmt::format("      float {};\n", start);
    for (const char* loop : {"LUMEN_FULL", "LUMEN_REST"}) {
      if (pairs_) break;
      loops += fmt::format("      {}(b, l, {}, 0, {}) {{\n        const int64_t i3 = b + l;\n{}{}      }}\n", loop,
                           2 * n, depth_, writer.text(), add);
    }
    return fmt::format(
        "{across}static __attribute__((noinline)) int64_t {f}_dots({arguments}, int64_t first, int64_t count, "
        "const {Q}* LUMEN_RESTRICT q, float* LUMEN_RESTRICT s) {{\n{names}  int64_t fault = 0;\n"
        "  float parts[{rows}][{n}][{n}] __attribute__((aligned(64)));\n"
        "  for (int64_t j = 0; j < count; j += {n}) {{\n    for (int64_t u = 0; u < {n}; ++u) {{\n"
        "      const int64_t i2 = first + (j + u < count ? j + u : count - 1);\n{loops}{put}"
        "    }}\n{gather}  }}\n  return fault;\n}}\n",
        fmt::arg("across", across()), fmt::arg("f", name_), fmt::arg("arguments", kArguments),
        fmt::arg("names", kernel_names(body_)), fmt::arg("rows", rows_), fmt::arg("n", n), fmt::arg("loops", loops),
        fmt::arg("put", pairs_ ? "" : put), fmt::arg("Q", query_type()), fmt::arg("gather", gather));
  }

  // Several values at a time, so that sums are not stored and loaded for each.
  Expected<std::string> sums(KernelText& kernel) const {
    ElementWriter writer(*form_.graph, 8, kernel.faults);
    const std::string value = writer.value(form_.second.columns[0], form_.second.at);
    if (!writer.problem().empty()) return error(writer.problem());
    kernel.faults = writer.faults();
    const auto is_narrow = [](const ElementWriter::Access& access) { return access.bits < 32; };
    const bool fetches = std::ranges::any_of(writer.accesses(), is_narrow);
    const std::string ahead =
        fetches ? fetch_page_ahead(*form_.graph, writer, Expr::index(2, features_), features_, 3) : "";
    const auto loop = [&](int64_t unroll) {
      std::string text;
      for (int64_t u = 0; u < unroll && fetches; ++u) {
        text += fmt::format("    {{\n      const int64_t i3 = first + j + {};\n{}    }}\n", u, ahead);
      }
      text += fmt::format("    LUMEN_ELEMENTS(i2, {}) {{\n", features_);
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
    return fmt::format(
        "LUMEN_C_KERNEL({f}_parts) {{\n{names}  int64_t fault = 0;\n"
        "  {Q} q[{q}] __attribute__((aligned(64)));\n"
        "  float s[{s}] __attribute__((aligned(64))), t[{keys}] __attribute__((aligned(64)));\n"
        "  int64_t held = -1;\n"
        "  LUMEN_ROWS(row) {{\n"
        "    const int64_t i0 = row / {parts}, k0 = row % {parts} * {keys};\n"
        "    const int64_t k1 = k0 + {keys} < {K} ? k0 + {keys} : {K}, count = k1 - k0;\n"
        "    float* const top = (float*)out[{scratch}] + row * {size}, * const total = top + {rows}, "
        "* const sums = total + {rows} * {L};\n"
        "    for (int64_t r = 0; r < {rows}; ++r) top[r] = -lumen_inf_f32();\n"
        "    for (int64_t c = {rows}; c < {size}; ++c) top[c] = 0;\n"
        "    if ({f}_excluded(in, out, dims, i0, 0, {rows}, k0, k1)) continue;\n"
        "    if (held != i0) {{\n"
        "      const int64_t found = {f}_queries(in, out, dims, q, i0, 0, 0, {depth});\n"
        "      if (found > 0) fault |= (int64_t)1 << (found < 62 ? found - 1 : 61);\n"
        "      held = i0;\n    }}\n"
        "    fault |= {f}_dots(in, out, dims, i0, k0, count, q, s);\n"
        "    for (int64_t r = 0; r < {rows}; ++r) {{\n"
        "      fault |= {f}_weigh(in, out, dims, i0, r, k0, count, s + r * {keys}, s + r * {keys}, t, sums + r * {F}, "
        "top + r, "
        "total + r * {L});\n    }}\n"
        "    fault |= {f}_sums(in, out, dims, i0, k0, count, s, sums);\n"
        "  }}\n  LUMEN_RETURN;\n}}\n",
        fmt::arg("f", name_), fmt::arg("names", kernel_names(body_)), fmt::arg("Q", query_type()),
        fmt::arg("q", std::max<int64_t>(1, rows_ * depth_)), fmt::arg("s", rows_ * s_.keys), fmt::arg("keys", s_.keys),
        fmt::arg("parts", number(parts_)), fmt::arg("rows", rows_), fmt::arg("K", number(form_.keys())),
        fmt::arg("scratch", body_.outputs().size()), fmt::arg("size", part_size()), fmt::arg("L", kTotals),
        fmt::arg("depth", depth_), fmt::arg("F", features_));
  }

  std::string combine_step() const {
    return fmt::format(
        "LUMEN_C_KERNEL({f}) {{\n{names}  int64_t fault = 0;\n  float all[{room}];\n{whole}"
        "  LUMEN_ROWS(i0) for (int64_t r = 0; r < {rows}; ++r) {{\n"
        "    const float* const parts = (const float*)out[{scratch}] + i0 * {parts} * {size};\n"
        "    float m = -lumen_inf_f32(), total[{L}] = {{0}};\n"
        "    for (int64_t p = 0; p < {parts}; ++p) m = parts[p * {size} + r] > m ? parts[p * {size} + r] : m;\n"
        "    const float used = m == -lumen_inf_f32() ? 0.0f : m;\n"
        "    for (int64_t c = 0; c < {F}; ++c) all[c] = 0;\n"
        "    for (int64_t p = 0; p < {parts}; ++p) {{\n"
        "      const float* const part = parts + p * {size};\n"
        "      const float scale = {f}_exp2((part[r] - used) * {a:.9e}f);\n"
        "      LUMEN_ELEMENTS(c, {L}) total[c] += scale * part[{rows} + r * {L} + c];\n"
        "      LUMEN_ELEMENTS(c, {F}) all[c] += scale * part[({L} + 1) * {rows} + r * {F} + c];\n    }}\n"
        "    fault |= {f}_store(in, out, dims, i0, r, all, m, total);\n"
        "  }}\n  LUMEN_RETURN;\n}}\n",
        fmt::arg("f", name_), fmt::arg("names", kernel_names(body_)), fmt::arg("rows", rows_),
        fmt::arg("room", std::max<int64_t>(1, features_)), fmt::arg("scratch", body_.outputs().size()),
        fmt::arg("parts", number(parts_)), fmt::arg("size", part_size()), fmt::arg("F", features_),
        fmt::arg("a", form_.steepness), fmt::arg("L", kTotals),
        fmt::arg("whole", grain_of(body_) == 1
                              ? ""
                              : fmt::format("  begin = 0, end = end > 0 ? {} : 0;\n", number(form_.batch()))));
  }

  const Graph& body_;
  const AttentionForm& form_;
  std::string name_;
  AttentionSchedule s_;
  const Target& target_;
  int64_t rows_ = 0, depth_ = 0, features_ = 0;
  Expr parts_;
  std::optional<PlainFactor> pairs_;  // the keys, when products are made in pairs
};

}  // namespace

Expected<KernelText> print_direct_attention(const Graph& body, const AttentionForm& form, const std::string& name,
                                            const AttentionSchedule& schedule, const Target& target) {
  const AttentionForm merged = with_shared_rows(form);
  const std::optional<int64_t> rows = merged.rows().constant();
  if (!rows || *rows > kMostDirectRows || schedule.keys <= 0 || schedule.keys % 16 != 0 || schedule.keys > (1 << 14)) {
    return error(fmt::format("the schedule \"{}\" does not fit {} rows", schedule.str(), merged.rows().str()));
  }
  return DirectPrinter(body, merged, name, schedule, target).print();
}

}  // namespace lumen
