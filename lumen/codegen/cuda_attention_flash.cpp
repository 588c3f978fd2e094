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

constexpr int64_t kStages = 2;   // of keys and values: one is multiplied while the other comes
constexpr int64_t kPadding = 8;  // of a row of sums

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
        depth_(*form.first.extent(Role::summed).constant()),
        features_(*form.second.extent(Role::column).constant()),
        queries_(form.first, form.first.rows, Role::row, dtype, s_.rows, padded(depth_)),
        keys_(form.first, form.first.columns[0], Role::column, dtype, s_.keys, padded(depth_)),
        values_(form.second, form.second.columns[0], Role::column, dtype, padded(features_), s_.keys) {
    tiles_ = s_.rows * 32 / s_.threads / 16;
    depth_steps_ = (depth_ + 15) / 16;
    feature_steps_ = (features_ + 15) / 16;
    stage_ = keys_.elements() + values_.elements();
  }

  Expected<KernelText> print() {
    KernelText kernel;
    const std::string queries = LUMEN_TRY(queries_.fill("rows", "m0", s_.threads, kernel.faults));
    const std::string fill = LUMEN_TRY(fill_stage(kernel.faults));
    const std::string weigh = LUMEN_TRY(weigh_text(kernel.faults));
    const std::string store = LUMEN_TRY(store_text(kernel.faults));
    kernel.text = kernel_head(body_, name_, static_cast<int>(s_.threads)) + "  LUMEN_DYNAMIC_SHARED(shared);\n";
    kernel.text += fmt::format(
        "  typedef {I} Index;\n"
        "  uint16_t* const rows = (uint16_t*)shared;\n  uint16_t* const stages = rows + {q};\n"
        "  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, down = warp * {W};\n"
        "  LUMEN_ROWS(row) {{\n{place}    {{\n      const Index kk = 0, k1 = {D};\n{queries}    }}\n"
        "    float top[{M}][2], total[{M}][2], o[{M}][{F}][4] = {{}};\n"
        "    LUMEN_UNROLL for (int m = 0; m < {M}; ++m) LUMEN_UNROLL for (int h = 0; h < 2; ++h)\n"
        "      top[m][h] = -lumen_inf_f32(), total[m][h] = 0;\n"
        "    int turn = 0;\n",
        fmt::arg("I", attention_index_type(body_, form_)), fmt::arg("q", queries_.elements()),
        fmt::arg("W", tiles_ * 16), fmt::arg("place", attention_place(form_, s_)), fmt::arg("D", depth_),
        fmt::arg("queries", queries), fmt::arg("M", tiles_), fmt::arg("F", 2 * feature_steps_));
    const std::string first = fill_at("start", "0", fill);
    kernel.text += attention_tiles_head(form_, s_, first + "    lumen_commit_copies();\n");
    kernel.text += "      if (next < last) {\n" + fill_at("next", "(turn ^ 1)", fill) + "      }\n";
    kernel.text +=
        "      lumen_commit_copies();\n      lumen_wait_for_copies<1>();\n      __syncthreads();\n"
        "      const uint16_t* const ready = stages + turn * " +
        std::to_string(stage_) + ";\n      turn ^= 1;\n";
    kernel.text += scores_text() + weigh + sums_text() + "      __syncthreads();\n    }\n" + store;
    kernel.text += "    __syncthreads();\n  }\n  LUMEN_RETURN;\n}\n";
    KernelStep step{name_, attention_blocks(form_, s_)};
    step.threads = static_cast<int>(s_.threads);
    step.shared = std::max((queries_.elements() + kStages * stage_) * 2, sum_bytes());
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

  std::string scores_text() const {
    return fmt::format(
        "      float sc[{M}][{T}][4] = {{}};\n"
        "      LUMEN_UNROLL for (int k = 0; k < {D}; ++k) {{\n"
        "        uint32_t x[{M}][4];\n"
        "        LUMEN_UNROLL for (int m = 0; m < {M}; ++m) {left}\n"
        "        LUMEN_UNROLL for (int n = 0; n < {T} / 2; ++n) {{\n"
        "          uint32_t y[4];\n          {right}\n"
        "          LUMEN_UNROLL for (int m = 0; m < {M}; ++m) {{\n"
        "            lumen_multiply_{d}(sc[m][2 * n], x[m], y);\n"
        "            lumen_multiply_{d}(sc[m][2 * n + 1], x[m], y + 2);\n          }}\n        }}\n      }}\n",
        fmt::arg("M", tiles_), fmt::arg("T", s_.keys / 8), fmt::arg("D", depth_steps_),
        fmt::arg("left", queries_.load_left("x[m]", "rows", "down + m * 16", "k * 16")),
        fmt::arg("right", keys_.load_right("y", "ready", "n * 16", "k * 16")), fmt::arg("d", name(dtype_)));
  }

  // Of element j of a product's tile n: its row and its key.
  static constexpr const char* kElement =
      "          const Index i1 = (Index)lumen_min_i64(m0 + down + m * 16 + j / 2 * 8 + lane / 4, m1 - 1);\n"
      "          const Index i3 = k0 + n * 8 + lane % 4 * 2 + j % 2;\n";

  Expected<std::string> weigh_text(std::vector<std::string>& faults) const {
    const CudaWeigh weigh = LUMEN_TRY(print_cuda_weigh(form_, 12, faults));
    const std::string loops = fmt::format(
        "        LUMEN_UNROLL for (int n = 0; n < {}; ++n) LUMEN_UNROLL for (int j = 0; j < 4; ++j) {{\n", s_.keys / 8);
    // A scale of the product, alone, is part of the exponent.
    const bool plain = form_.scale && *form_.scale > 0 && form_.at_most_one;
    if (!plain && weigh.needs_product) return error("the weights of attention need more than the scores");
    const double scale = plain ? *form_.scale : 1, steep = form_.steepness * scale;
    const std::string score = plain ? fmt::format("          if (i3 >= last) sc[m][n][j] = -lumen_inf_f32();\n")
                                    : fmt::format(
                                          "          float y = -lumen_inf_f32();\n"
                                          "          if (i3 < last) {{\n            const float x = sc[m][n][j];\n{}"
                                          "            y = {};\n          }}\n",
                                          weigh.score_text, weigh.score);
    const std::string kept = plain ? "sc[m][n][j]" : "y";
    std::string text = fmt::format(
        "      LUMEN_UNROLL for (int m = 0; m < {M}; ++m) {{\n"
        "        float most[2] = {{-lumen_inf_f32(), -lumen_inf_f32()}}, scale[2], useds[2];\n"
        "{loops}{element}{score}"
        "          most[j / 2] = {kept} > most[j / 2] ? {kept} : most[j / 2];\n{keep}        }}\n"
        "        LUMEN_UNROLL for (int h = 0; h < 2; ++h) {{\n"
        "          LUMEN_UNROLL for (int step = 1; step < 4; step *= 2) {{\n"
        "            const float other = __shfl_xor_sync(0xffffffffu, most[h], step);\n"
        "            most[h] = other > most[h] ? other : most[h];\n          }}\n"
        "          most[h] = most[h] > top[m][h] ? most[h] : top[m][h];\n"
        "          useds[h] = most[h] == -lumen_inf_f32() ? 0.0f : most[h];\n"
        "          scale[h] = most[h] > top[m][h] ? lumen_weight_exp2((top[m][h] - most[h]) * {a:.9e}f) : 1.0f;\n"
        "          top[m][h] = most[h];\n          total[m][h] *= scale[h];\n        }}\n",
        fmt::arg("M", tiles_), fmt::arg("loops", loops), fmt::arg("element", kElement), fmt::arg("score", score),
        fmt::arg("kept", kept), fmt::arg("keep", plain ? "" : "          sc[m][n][j] = y;\n"), fmt::arg("a", steep));
    return text + loops + kElement + weight_lines(weigh, plain, steep) +
           fmt::format(
               "        }}\n"
               "        LUMEN_UNROLL for (int n = 0; n < {}; ++n)\n"
               "          LUMEN_UNROLL for (int j = 0; j < 4; ++j) o[m][n][j] *= scale[j / 2];\n      }}\n",
               2 * feature_steps_);
  }

  // The scores are in place of the products by now.
  static std::string weight_lines(const CudaWeigh& weigh, bool plain, double steep) {
    if (plain) {
      return fmt::format(
          "          const float one = lumen_weight_exp2(lumen_fma_f32(sc[m][n][j], {0:.9e}f, useds[j / 2] * "
          "{1:.9e}f));\n"
          "          total[m][j / 2] += one;\n          sc[m][n][j] = one;\n",
          steep, -steep);
    }
    return fmt::format(
        "          float one = 0;\n"
        "          if (i3 < last) {{\n            const float y = sc[m][n][j], used = useds[j / 2];\n{}"
        "            one = {};\n          }}\n"
        "          total[m][j / 2] += one;\n          sc[m][n][j] = one;\n",
        weigh.weight_text, weigh.weight);
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

  // Sums of the block go through shared memory, so that neighbours are stored by neighbours.
  Expected<std::string> store_text(std::vector<std::string>& faults) const {
    const std::string store = LUMEN_TRY(print_cuda_row_store(body_, form_, 6, faults));
    const double scale = form_.scale && *form_.scale > 0 && form_.at_most_one ? *form_.scale : 1;
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
        "    for (int e = threadIdx.x; e < {R} * {F}; e += {threads}) {{\n"
        "      const int r = e / {F};\n      const Index i1 = m0 + r, i2 = e % {F};\n"
        "      if (i1 >= m1) break;\n"
        "      const float top = tops[r], total = totals[r], sum = sums[r * {P} + i2];\n{store}    }}\n",
        fmt::arg("R", s_.rows), fmt::arg("P", pitch()), fmt::arg("M", tiles_), fmt::arg("scale", scale),
        fmt::arg("N", 2 * feature_steps_), fmt::arg("F", features_), fmt::arg("threads", s_.threads),
        fmt::arg("store", store));
  }

  const Graph& body_;
  const AttentionForm& form_;
  std::string name_;
  CudaAttentionSchedule s_;
  DType dtype_;
  int64_t depth_, features_;
  CudaStage queries_, keys_, values_;
  int64_t tiles_ = 0, depth_steps_ = 0, feature_steps_ = 0, stage_ = 0;  // tiles of 16 rows of a warp
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
