#include "lumen/codegen/cuda_attention_flash.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/cuda_attention_parts.h"
#include "lumen/codegen/cuda_contract_frame.h"
#include "lumen/codegen/cuda_contract_stage.h"

namespace lumen {

namespace {

constexpr int64_t kStages = 2;    // of keys and values: one is multiplied while the other comes
constexpr int64_t kPadding = 8;   // of a row of sums
constexpr int64_t kStorers = 16;  // threads to a row of results
constexpr int64_t kHeld = 32;     // registers of queries that a thread has besides its sums

// A size of tiles in shared memory.
int64_t padded(int64_t size) {
  return std::max<int64_t>(16, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size))));
}

class FlashPrinter {
 public:
  FlashPrinter(const Graph& body, const AttentionForm& form, std::string name, const CudaAttentionSchedule& schedule,
               DType dtype)
      : body_(body),
        form_(form),
        name_(std::move(name)),
        s_(schedule),
        dtype_(dtype),
        bounds_(key_bounds(form)),
        depth_(*form.first.extent(Role::summed).constant()),
        features_(*form.second.extent(Role::column).constant()),
        queries_(form.first, form.first.rows, Role::row, dtype, s_.rows, padded(depth_)),
        keys_(form.first, form.first.columns[0], Role::column, dtype, s_.keys, padded(depth_)),
        values_(form.second, form.second.columns[0], Role::column, dtype, padded(features_), s_.keys) {
    tiles_ = s_.rows * 32 / s_.threads / 16;
    depth_steps_ = (depth_ + 15) / 16;
    feature_steps_ = (features_ + 15) / 16;
    stage_ = keys_.elements() + values_.elements();
    if (bounds_.scale && *bounds_.scale > 0 && form.at_most_one) scale_ = *bounds_.scale;
    holds_queries_ = tiles_ * depth_steps_ * 4 <= kHeld;
  }

  Expected<KernelText> print() {
    KernelText kernel;
    const std::string place = LUMEN_TRY(attention_place(form_, bounds_, s_, kernel.faults));
    const std::string queries = LUMEN_TRY(queries_.fill("rows", "m0", s_.threads, kernel.faults, true));
    const std::string fill = LUMEN_TRY(fill_stage(kernel.faults));
    const std::string weigh = LUMEN_TRY(weigh_text(kernel.faults));
    const std::string store = LUMEN_TRY(store_text(kernel.faults));
    kernel.text = kernel_head(body_, name_, static_cast<int>(s_.threads)) + "  LUMEN_DYNAMIC_SHARED(shared);\n";
    kernel.text += fmt::format(
        "  typedef {I} Index;\n"
        "  uint16_t* const rows = (uint16_t*)shared;\n  uint16_t* const stages = rows + {q};\n"
        "  int* const begins = (int*)(stages + {stages});\n  int* const ends = begins + {R};\n"
        "  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, down = warp * {W};\n"
        "  LUMEN_ROWS(row) {{\n{place}    {{\n      const Index kk = 0, k1 = {D};\n{queries}    }}\n"
        "    float top[{M}][2], total[{M}][2], o[{M}][{F}][4] = {{}};\n"
        "    LUMEN_UNROLL for (int m = 0; m < {M}; ++m) LUMEN_UNROLL for (int h = 0; h < 2; ++h)\n"
        "      top[m][h] = -lumen_inf_f32(), total[m][h] = 0;\n"
        "    int turn = 0;\n    lumen_commit_copies();\n",
        fmt::arg("I", attention_index_type(body_, form_)), fmt::arg("q", queries_.elements()),
        fmt::arg("stages", kStages * stage_), fmt::arg("R", s_.rows), fmt::arg("W", tiles_ * 16),
        fmt::arg("place", place), fmt::arg("D", depth_), fmt::arg("queries", queries), fmt::arg("M", tiles_),
        fmt::arg("F", 2 * feature_steps_));
    if (!bounds_.all.empty()) kernel.text += "    __syncthreads();\n";
    kernel.text += attention_range(form_, bounds_, s_) + own_range() + fill_at("first", "0", fill);
    kernel.text += "    lumen_commit_copies();\n" + hold_queries();
    // The copies of a tile are under way while the one before it is multiplied, which nobody does before all have it.
    kernel.text += fmt::format(
        "    for (Index k0 = first; k0 < last; k0 += {T}) {{\n      const Index next = k0 + {T};\n"
        "      lumen_wait_for_copies<0>();\n      __syncthreads();\n"
        "      const uint16_t* const ready = stages + turn * {stage};\n      turn ^= 1;\n"
        "      if (next < last) {{\n{fill}      }}\n      lumen_commit_copies();\n"
        "      if (next <= own_begin || k0 >= own_end) continue;\n",
        fmt::arg("T", s_.keys), fmt::arg("stage", stage_), fmt::arg("fill", fill_at("next", "turn", fill)));
    kernel.text += scores_text() + weigh + sums_text() + "    }\n" + store;
    kernel.text += "    __syncthreads();\n  }\n  LUMEN_RETURN;\n}\n";
    KernelStep step{name_, attention_blocks(form_, s_)};
    step.threads = static_cast<int>(s_.threads);
    step.shared = std::max((queries_.elements() + kStages * stage_) * 2 + 8 * s_.rows, sum_bytes());
    kernel.steps.push_back(step);
    return kernel;
  }

 private:
  int64_t pitch() const { return padded(features_) + kPadding; }
  int64_t sum_bytes() const { return (s_.rows * pitch() + 2 * s_.rows) * 4; }

  // Keys and values from `from` on, at `stage`.
  Expected<std::string> fill_stage(std::vector<std::string>& faults) const {
    const std::string keys = LUMEN_TRY(keys_.fill("stage", "from", s_.threads, faults));
    const std::string values =
        LUMEN_TRY(values_.fill(fmt::format("stage + {}", keys_.elements()), "0", s_.threads, faults));
    return fmt::format(
        "      {{\n      const Index kk = 0, k1 = {};\n{}      }}\n"
        "      {{\n      const Index kk = from, k1 = last;\n{}      }}\n",
        depth_, keys, values);
  }
  std::string fill_at(const std::string& from, const std::string& turn, const std::string& fill) const {
    return fmt::format(
        "      {{\n      const Index from = {};\n      uint16_t* const stage = stages + {} * {};\n{}      }}\n", from,
        turn, stage_, fill);
  }

  // The keys that some row of the warp sees, and those that all of them see.
  std::string own_range() const {
    if (bounds_.all.empty()) return "    const Index own_begin = 0, own_end = last, all_begin = 0, all_end = last;\n";
    const auto of_all = [&](const char* name, const char* of, const char* sign) {
      return fmt::format(
          "    int {name} = {of}[down + lane % {W}];\n"
          "    LUMEN_UNROLL for (int step = 1; step < {W}; step *= 2) {{\n"
          "      const int other = __shfl_xor_sync(0xffffffffu, {name}, step);\n"
          "      {name} = other {sign} {name} ? other : {name};\n    }}\n",
          fmt::arg("name", name), fmt::arg("of", of), fmt::arg("sign", sign), fmt::arg("W", tiles_ * 16));
    };
    const std::string begins = bounds_.has_begins()
                                   ? of_all("own_begin", "begins", "<") + of_all("all_begin", "begins", ">")
                                   : "    const int own_begin = 0, all_begin = 0;\n";
    return begins + of_all("own_end", "ends", ">") + of_all("all_end", "ends", "<");
  }

  std::string load_queries(const std::string& to) const {
    return queries_.load_left(to, "rows", "down + m * 16", "k * 16");
  }
  // Where there are registers for them, they are read from shared memory once.
  std::string hold_queries() const {
    if (!holds_queries_) return "";
    return fmt::format(
        "    lumen_wait_for_copies<1>();\n    __syncthreads();\n    uint32_t held[{M}][{D}][4];\n"
        "    LUMEN_UNROLL for (int m = 0; m < {M}; ++m)\n"
        "      LUMEN_UNROLL for (int k = 0; k < {D}; ++k) {load}\n",
        fmt::arg("M", tiles_), fmt::arg("D", depth_steps_), fmt::arg("load", load_queries("held[m][k]")));
  }

  std::string scores_text() const {
    return fmt::format(
        "      float sc[{M}][{T}][4] = {{}};\n"
        "      LUMEN_UNROLL for (int k = 0; k < {D}; ++k) {{\n"
        "{left}"
        "        LUMEN_UNROLL for (int n = 0; n < {T} / 2; ++n) {{\n"
        "          uint32_t y[4];\n          {right}\n"
        "          LUMEN_UNROLL for (int m = 0; m < {M}; ++m) {{\n"
        "            lumen_multiply_{d}(sc[m][2 * n], {x}, y);\n"
        "            lumen_multiply_{d}(sc[m][2 * n + 1], {x}, y + 2);\n          }}\n        }}\n      }}\n",
        fmt::arg("M", tiles_), fmt::arg("T", s_.keys / 8), fmt::arg("D", depth_steps_),
        fmt::arg("x", holds_queries_ ? "held[m][k]" : "x[m]"),
        fmt::arg("left", holds_queries_ ? ""
                                        : fmt::format("        uint32_t x[{0}][4];\n"
                                                      "        LUMEN_UNROLL for (int m = 0; m < {0}; ++m) {1}\n",
                                                      tiles_, load_queries("x[m]"))),
        fmt::arg("right", keys_.load_right("y", "ready", "n * 16", "k * 16")), fmt::arg("d", name(dtype_)));
  }

  // The products become scores, their maximum is found, what is summed so far is scaled where it grew, and the scores
  // become weights. Only tiles at an end of what rows see are masked.
  Expected<std::string> weigh_text(std::vector<std::string>& faults) const {
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
        "        float most[2] = {{top[m][0], top[m][1]}}, scale[2], useds[2];\n"
        "{loops} most[j / 2] = fmaxf(most[j / 2], sc[m][n][j]);\n"
        "        LUMEN_UNROLL for (int h = 0; h < 2; ++h) {{\n"
        "          LUMEN_UNROLL for (int step = 1; step < 4; step *= 2)\n"
        "            most[h] = fmaxf(most[h], __shfl_xor_sync(0xffffffffu, most[h], step));\n"
        "          useds[h] = most[h] == -lumen_inf_f32() ? 0.0f : most[h];\n"
        "          scale[h] = most[h] > top[m][h] ? lumen_weight_exp2((top[m][h] - most[h]) * {a:.9e}f) : 1.0f;\n"
        "          top[m][h] = most[h], total[m][h] *= scale[h];\n        }}\n"
        "        if (__any_sync(0xffffffffu, scale[0] != 1.0f || scale[1] != 1.0f)) {{\n"
        "          LUMEN_UNROLL for (int n = 0; n < {F}; ++n)\n"
        "            LUMEN_UNROLL for (int j = 0; j < 4; ++j) o[m][n][j] *= scale[j / 2];\n        }}\n"
        "{shifts}{loops} {{\n{weight}          total[m][j / 2] += one;\n          sc[m][n][j] = one;\n        }}\n"
        "      }}\n",
        fmt::arg("M", tiles_), fmt::arg("scores", scale_ ? "" : loops + " {\n" + score_lines(weigh) + "        }\n"),
        fmt::arg("range", attention_row_range(bounds_, "r")), fmt::arg("T", s_.keys / 8), fmt::arg("loops", loops),
        fmt::arg("a", steep), fmt::arg("F", 2 * feature_steps_),
        fmt::arg("shifts", scale_ ? fmt::format("        const float shifts[2] = {{useds[0] * {0:.9e}f, useds[1] * "
                                                "{0:.9e}f}};\n",
                                                -steep)
                                  : ""),
        fmt::arg("weight", weight_lines(weigh, steep)));
  }

  // Of element j of a product's tile n: its row and its key, or the last ones there are.
  std::string element_lines() const {
    return fmt::format(
        "          const Index down_there = m0 + down + m * 16 + j / 2 * 8 + lane / 4;\n"
        "          const Index key = k0 + n * 8 + lane % 4 * 2 + j % 2;\n"
        "          const Index i1 = down_there < m1 ? down_there : m1 - 1;\n"
        "          const Index i3 = key < {0} ? key : {0} - 1;\n",
        plain_number(form_.keys()));
  }
  std::string score_lines(const CudaWeigh& weigh) const {
    return element_lines() + "          const float x = sc[m][n][j];\n" + weigh.score_text +
           fmt::format("          sc[m][n][j] = {};\n", weigh.score);
  }

  // Of the scores; of those that are -inf only if what is added to them is finite.
  std::string weight_lines(const CudaWeigh& weigh, double steep) const {
    if (scale_) {
      return fmt::format(
          "          const float one = lumen_weight_exp2(lumen_fma_f32(sc[m][n][j], {:.9e}f, shifts[j / 2]));\n",
          steep);
    }
    return element_lines() + "          const float y = sc[m][n][j], used = useds[j / 2];\n" + weigh.weight_text +
           fmt::format("          const float one = {};\n",
                       form_.at_most_one ? weigh.weight : "key < last ? " + weigh.weight + " : 0.0f");
  }

  std::string sums_text() const {
    return fmt::format(
        "      LUMEN_UNROLL for (int k = 0; k < {T}; ++k) {{\n"
        "        uint32_t x[{M}][4];\n"
        "        LUMEN_UNROLL for (int m = 0; m < {M}; ++m) LUMEN_UNROLL for (int j = 0; j < 4; ++j)\n"
        "          x[m][j] = lumen_pack_{d}(sc[m][2 * k + j / 2][j % 2 * 2], sc[m][2 * k + j / 2][j % 2 * 2 + 1]);\n"
        "        LUMEN_UNROLL for (int n = 0; n < {F}; ++n) {{\n"
        "          uint32_t y[4];\n          {right}\n"
        "          LUMEN_UNROLL for (int m = 0; m < {M}; ++m) {{\n"
        "            lumen_multiply_{d}(o[m][2 * n], x[m], y);\n"
        "            lumen_multiply_{d}(o[m][2 * n + 1], x[m], y + 2);\n          }}\n        }}\n      }}\n",
        fmt::arg("T", s_.keys / 16), fmt::arg("M", tiles_), fmt::arg("d", name(dtype_)), fmt::arg("F", feature_steps_),
        fmt::arg("right", values_.load_right("y", fmt::format("ready + {}", keys_.elements()), "n * 16", "k * 16")));
  }

  // Sums of the block go through shared memory, so that neighbours are stored by neighbours. What is the same for all
  // features of a row is found once for those of a thread.
  Expected<std::string> store_text(std::vector<std::string>& faults) const {
    const std::string store = LUMEN_TRY(print_cuda_row_store(body_, form_, 8, faults));
    return fmt::format(
        "    lumen_wait_for_copies<0>();\n    __syncthreads();\n"
        "    float* const sums = (float*)shared;\n    float* const tops = sums + {R} * {P};\n"
        "    float* const totals = tops + {R};\n"
        "    LUMEN_UNROLL for (int m = 0; m < {M}; ++m) LUMEN_UNROLL for (int h = 0; h < 2; ++h) {{\n"
        "      const int r = down + m * 16 + h * 8 + lane / 4;\n"
        "      float all = total[m][h];\n"
        "      LUMEN_UNROLL for (int step = 1; step < 4; step *= 2) all += __shfl_xor_sync(0xffffffffu, all, step);\n"
        "      if (lane % 4 == 0) tops[r] = top[m][h] * {scale:.9e}f, totals[r] = all;\n"
        "      LUMEN_UNROLL for (int n = 0; n < {N}; ++n)\n"
        "        *(float2*)(sums + r * {P} + n * 8 + lane % 4 * 2) = float2{{o[m][n][2 * h], o[m][n][2 * h + 1]}};\n"
        "    }}\n    __syncthreads();\n"
        "    for (int r = threadIdx.x / {L}; r < {R}; r += {threads} / {L}) {{\n"
        "      const Index i1 = m0 + r;\n      if (i1 >= m1) break;\n"
        "      const float top = tops[r], total = totals[r];\n"
        "      LUMEN_UNROLL for (int n = 0; n < {turns}; ++n) {{\n"
        "        const Index i2 = n * {L} + (Index)(threadIdx.x % {L});\n{rest}"
        "        const float sum = sums[r * {P} + i2];\n{store}      }}\n    }}\n",
        fmt::arg("L", kStorers), fmt::arg("turns", (features_ + kStorers - 1) / kStorers),
        fmt::arg("rest", features_ % kStorers == 0 ? "" : fmt::format("        if (i2 >= {}) break;\n", features_)),
        fmt::arg("R", s_.rows), fmt::arg("P", pitch()), fmt::arg("M", tiles_), fmt::arg("scale", scale_.value_or(1)),
        fmt::arg("N", 2 * feature_steps_), fmt::arg("threads", s_.threads), fmt::arg("store", store));
  }

  const Graph& body_;
  const AttentionForm& form_;
  std::string name_;
  CudaAttentionSchedule s_;
  DType dtype_;
  KeyBounds bounds_;
  int64_t depth_, features_;
  CudaStage queries_, keys_, values_;
  int64_t tiles_ = 0, depth_steps_ = 0, feature_steps_ = 0, stage_ = 0;  // tiles of 16 rows of a warp
  std::optional<double> scale_;  // products stand for scores, which are so many times them
  bool holds_queries_ = false;
};

}  // namespace

std::optional<DType> flash_dtype(const AttentionForm& form) {
  const std::optional<NarrowFactor> queries = narrow_factor(form.first, form.first.rows);
  const std::optional<NarrowFactor> keys = narrow_factor(form.first, form.first.columns[0]);
  const std::optional<NarrowFactor> values = narrow_factor(form.second, form.second.columns[0]);
  if (!queries || !keys || !values || !is_float(queries->dtype)) return std::nullopt;
  return keys->dtype == queries->dtype && values->dtype == queries->dtype ? std::optional(queries->dtype)
                                                                          : std::nullopt;
}

Expected<KernelText> print_cuda_flash(const Graph& body, const AttentionForm& form, const std::string& name,
                                      const CudaAttentionSchedule& s) {
  const std::optional<DType> dtype = flash_dtype(form);
  if (!dtype) return error(fmt::format("no tensor cores multiply these factors, as \"{}\" wants", s.str()));
  const int64_t of_warp = s.rows * 32 / s.threads, depth = *form.first.extent(Role::summed).constant();
  const int64_t features = *form.second.extent(Role::column).constant();
  const bool whole = (of_warp == 16 || of_warp == 32) && s.rows % of_warp == 0 && s.parts <= 1 &&
                     std::has_single_bit(static_cast<uint64_t>(s.keys)) && s.keys <= 128 && depth > 0 && features > 0 &&
                     depth <= 256 && of_warp / 16 * features <= 256;
  if (!whole) return error(fmt::format("the schedule \"{}\" is not one of 16 rows of warps", s.str()));
  return FlashPrinter(body, form, name, s, *dtype).print();
}

}  // namespace lumen
