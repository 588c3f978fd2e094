#include "lumen/codegen/cuda_attention_tiles.h"

#include <fmt/format.h>

#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/cuda_contract_frame.h"

namespace lumen {

namespace {

constexpr int64_t kRowPadding = 8;                                       // of a row of sums
constexpr int64_t kStorers = 16;                                         // threads to a row of results
const char* const kGrew = "scale[m][0] != 1.0f || scale[m][1] != 1.0f";  // a maximum

}  // namespace

std::optional<DType> flash_dtype(const AttentionForm& form) {
  const std::optional<NarrowFactor> queries = narrow_factor(form.first, form.first.rows);
  const std::optional<NarrowFactor> keys = narrow_factor(form.first, form.first.columns[0]);
  const std::optional<NarrowFactor> values = narrow_factor(form.second, form.second.columns[0]);
  if (!queries || !keys || !values || !is_float(queries->dtype)) return std::nullopt;
  return keys->dtype == queries->dtype && values->dtype == queries->dtype ? std::optional(queries->dtype)
                                                                          : std::nullopt;
}

AttentionTiles::AttentionTiles(const Graph& body, const AttentionForm& form, const CudaAttentionSchedule& schedule,
                               int64_t tiles, int64_t feature_tiles)
    : body_(body),
      form_(form),
      s_(schedule),
      bounds_(key_bounds(form)),
      tiles_(tiles),
      feature_tiles_(feature_tiles),
      features_(*form.second.extent(Role::column).constant()) {
  if (bounds_.scale && *bounds_.scale > 0 && form.at_most_one) scale_ = *bounds_.scale;
}

int64_t AttentionTiles::pitch() const { return feature_tiles_ * 8 + kRowPadding; }
int64_t AttentionTiles::store_bytes() const { return (s_.rows * pitch() + 2 * s_.rows) * 4; }

std::string AttentionTiles::over_tile_rows(const char* name, const char* of, const char* sign) const {
  return fmt::format(
      "    int {name} = {of}[down + lane % {W}];\n"
      "    LUMEN_UNROLL for (int step = 1; step < {W}; step *= 2) {{\n"
      "      const int other = __shfl_xor_sync(0xffffffffu, {name}, step);\n"
      "      {name} = other {sign} {name} ? other : {name};\n    }}\n",
      fmt::arg("name", name), fmt::arg("of", of), fmt::arg("sign", sign), fmt::arg("W", tiles_ * 16));
}

std::string AttentionTiles::own_range() const {
  if (bounds_.all.empty()) return "    const Index own_begin = 0, own_end = last;\n";
  return (bounds_.has_begins() ? over_tile_rows("own_begin", "begins", "<") : "    const int own_begin = 0;\n") +
         over_tile_rows("own_end", "ends", ">");
}

std::string AttentionTiles::all_range() const {
  if (bounds_.all.empty()) return "    const Index all_begin = 0, all_end = last;\n";
  return (bounds_.has_begins() ? over_tile_rows("all_begin", "begins", ">") : "    const int all_begin = 0;\n") +
         over_tile_rows("all_end", "ends", "<");
}

Expected<std::string> AttentionTiles::weigh(const std::string& rescale, std::vector<std::string>& faults) const {
  const CudaWeigh weigh = LUMEN_TRY(print_cuda_weigh(form_, bounds_, 10, faults));
  if (!scale_ && weigh.needs_product) return error("the weights of attention need more than the scores");
  const double steep = form_.steepness * scale_.value_or(1);
  const std::string loops = fmt::format(
      "        LUMEN_UNROLL for (int n = 0; n < {}; ++n) LUMEN_UNROLL for (int j = 0; j < 4; ++j)", s_.keys / 8);
  return fmt::format(
      "      const bool inside = k0 >= all_begin && next <= all_end;\n"
      "      LUMEN_UNROLL for (int m = 0; m < {M}; ++m) {{\n{scores}"
      "        if (!inside) {{\n          LUMEN_UNROLL for (int h = 0; h < 2; ++h) {{\n"
      "            const int r = down + m * 16 + h * 8 + lane / 4;\n            {range}\n"
      "            LUMEN_UNROLL for (int n = 0; n < {T}; ++n) LUMEN_UNROLL for (int j = 0; j < 2; ++j) {{\n"
      "              const Index i3 = k0 + n * 8 + lane % 4 * 2 + j;\n"
      "              if (i3 < begin || i3 >= end) sc[m][n][2 * h + j] = -lumen_inf_f32();\n            }}\n"
      "          }}\n        }}\n"
      "        float most[2] = {{top[m][0], top[m][1]}}, useds[2];\n"
      "{loops} most[j / 2] = fmaxf(most[j / 2], sc[m][n][j]);\n"
      "        LUMEN_UNROLL for (int h = 0; h < 2; ++h) {{\n"
      "          LUMEN_UNROLL for (int step = 1; step < 4; step *= 2)\n"
      "            most[h] = fmaxf(most[h], __shfl_xor_sync(0xffffffffu, most[h], step));\n"
      "          useds[h] = most[h] == -lumen_inf_f32() ? 0.0f : most[h];\n"
      "          scale[m][h] = most[h] > top[m][h] ? lumen_exp2_rough((top[m][h] - most[h]) * {a:.9e}f) : 1.0f;\n"
      "          top[m][h] = most[h], total[m][h] *= scale[m][h];\n        }}\n"
      "{rescale}{shifts}{loops} {{\n{weight}          total[m][j / 2] += one;\n          sc[m][n][j] = one;\n        "
      "}}\n"
      "      }}\n",
      fmt::arg("M", tiles_), fmt::arg("scores", scale_ ? "" : loops + " {\n" + score_lines(weigh) + "        }\n"),
      fmt::arg("range", attention_row_range(bounds_, "r")), fmt::arg("T", s_.keys / 8), fmt::arg("loops", loops),
      fmt::arg("a", steep), fmt::arg("rescale", rescale),
      fmt::arg("shifts", scale_ ? fmt::format("        const float shifts[2] = {{useds[0] * {0:.9e}f, useds[1] * "
                                              "{0:.9e}f}};\n",
                                              -steep)
                                : ""),
      fmt::arg("weight", weight_lines(weigh, steep)));
}

// Of element j of a product's tile n: its row and its key, or the last ones there are.
std::string AttentionTiles::element_lines() const {
  return fmt::format(
      "          const Index down_there = m0 + down + m * 16 + j / 2 * 8 + lane / 4;\n"
      "          const Index key = k0 + n * 8 + lane % 4 * 2 + j % 2;\n"
      "          const Index i1 = down_there < m1 ? down_there : m1 - 1;\n"
      "          const Index i3 = key < {0} ? key : {0} - 1;\n",
      plain_number(form_.keys()));
}
std::string AttentionTiles::score_lines(const CudaWeigh& weigh) const {
  return element_lines() + "          const float x = sc[m][n][j];\n" + weigh.score_text +
         fmt::format("          sc[m][n][j] = {};\n", weigh.score);
}

// Of the scores; of those that are -inf only if what is added to them is finite.
std::string AttentionTiles::weight_lines(const CudaWeigh& weigh, double steep) const {
  if (scale_) {
    return fmt::format(
        "          const float one = lumen_exp2_rough(lumen_fma_f32(sc[m][n][j], {:.9e}f, shifts[j / 2]));\n", steep);
  }
  return element_lines() + "          const float y = sc[m][n][j], used = useds[j / 2];\n" + weigh.weight_text +
         fmt::format("          const float one = {};\n",
                     form_.at_most_one ? weigh.weight : "key < last ? " + weigh.weight + " : 0.0f");
}

std::string AttentionTiles::rescale() const {
  return fmt::format("        if (__any_sync(0xffffffffu, {})) {{\n{}        }}\n", kGrew, shrink());
}

// The last condition is never true, but nobody knows before all weights are there: so the wait stands behind them. In
// one place it would be moved in front of them, and nothing would be done while products run.
std::string AttentionTiles::rescale_after(const std::string& wait) const {
  return fmt::format(
      "        if (__any_sync(0xffffffffu, {} || total[m][0] + total[m][1] < 0.0f)) {{\n{}{}        }} else {{\n{}"
      "        }}\n",
      kGrew, wait, shrink(), wait);
}

std::string AttentionTiles::shrink() const {
  return fmt::format(
      "          LUMEN_UNROLL for (int n = 0; n < {}; ++n)\n"
      "            LUMEN_UNROLL for (int j = 0; j < 4; ++j) o[m][n][j] *= scale[m][j / 2];\n",
      feature_tiles_);
}

// They go through shared memory so that neighbours are stored by neighbours. What is the same for all
// features of a row is found once for those of a thread.
Expected<std::string> AttentionTiles::store(int64_t first_thread, const std::string& meet,
                                            std::vector<std::string>& faults) const {
  const std::string store = LUMEN_TRY(print_cuda_row_store(body_, form_, 8, faults));
  return fmt::format(
      "    {meet}\n    float* const sums = (float*)shared;\n    float* const tops = sums + {R} * {P};\n"
      "    float* const totals = tops + {R};\n"
      "    LUMEN_UNROLL for (int m = 0; m < {M}; ++m) LUMEN_UNROLL for (int h = 0; h < 2; ++h) {{\n"
      "      const int r = down + m * 16 + h * 8 + lane / 4;\n"
      "      float all = total[m][h];\n"
      "      LUMEN_UNROLL for (int step = 1; step < 4; step *= 2) all += __shfl_xor_sync(0xffffffffu, all, step);\n"
      "      if (lane % 4 == 0) tops[r] = top[m][h] * {scale:.9e}f, totals[r] = all;\n"
      "      LUMEN_UNROLL for (int n = 0; n < {N}; ++n)\n"
      "        *(float2*)(sums + r * {P} + n * 8 + lane % 4 * 2) = float2{{o[m][n][2 * h], o[m][n][2 * h + 1]}};\n"
      "    }}\n    {meet}\n"
      "    const int thread = (int)threadIdx.x - {first};\n"
      "    for (int r = thread / {L}; r < {R}; r += {threads} / {L}) {{\n"
      "      const Index i1 = m0 + r;\n      if (i1 >= m1) break;\n"
      "      const float top = tops[r], total = totals[r];\n"
      "      LUMEN_UNROLL for (int n = 0; n < {turns}; ++n) {{\n"
      "        const Index i2 = n * {L} + thread % {L};\n{rest}"
      "        const float sum = sums[r * {P} + i2];\n{store}      }}\n    }}\n",
      fmt::arg("L", kStorers), fmt::arg("turns", (features_ + kStorers - 1) / kStorers),
      fmt::arg("rest", features_ % kStorers == 0 ? "" : fmt::format("        if (i2 >= {}) break;\n", features_)),
      fmt::arg("R", s_.rows), fmt::arg("P", pitch()), fmt::arg("M", tiles_), fmt::arg("scale", scale_.value_or(1)),
      fmt::arg("N", feature_tiles_), fmt::arg("threads", s_.threads - first_thread), fmt::arg("first", first_thread),
      fmt::arg("meet", meet), fmt::arg("store", store));
}

}  // namespace lumen
