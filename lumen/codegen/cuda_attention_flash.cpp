#include "lumen/codegen/cuda_attention_flash.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lumen/codegen/cuda_attention_tiles.h"
#include "lumen/codegen/cuda_contract_frame.h"
#include "lumen/codegen/cuda_contract_stage.h"

namespace lumen {

namespace {

constexpr int64_t kStages = 2;  // of keys and values: one is multiplied while the other comes
constexpr int64_t kHeld = 32;   // registers of queries that a thread has besides its sums

// A size of tiles in shared memory.
int64_t padded_to_power(int64_t size) {
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
        row_tiles_(s_.rows * 32 / s_.threads / 16),
        feature_steps_((features_ + 15) / 16),
        tiles_(body, form, schedule, row_tiles_, 2 * feature_steps_),
        queries_(form.first, form.first.rows, Role::row, dtype, s_.rows, padded_to_power(depth_)),
        keys_(form.first, form.first.columns[0], Role::column, dtype, s_.keys, padded_to_power(depth_)),
        values_(form.second, form.second.columns[0], Role::column, dtype, padded_to_power(features_), s_.keys) {
    depth_steps_ = (depth_ + 15) / 16;
    stage_ = keys_.elements() + values_.elements();
    holds_queries_ = row_tiles_ * depth_steps_ * 4 <= kHeld;
  }

  Expected<KernelText> print() {
    KernelText kernel;
    const KeyBounds& bounds = tiles_.bounds();
    const std::string place = attention_place(form_, bounds, s_) +
                              LUMEN_TRY(attention_row_bounds(form_, bounds, s_, s_.threads, kernel.faults));
    const std::string queries = LUMEN_TRY(queries_.fill("rows", "m0", s_.threads, kernel.faults, true));
    const std::string fill = LUMEN_TRY(fill_stage(kernel.faults));
    const std::string weigh = LUMEN_TRY(tiles_.weigh(tiles_.rescale(), kernel.faults));
    const std::string store = LUMEN_TRY(tiles_.store(0, "__syncthreads();", kernel.faults));
    kernel.text = kernel_head(body_, name_, static_cast<int>(s_.threads)) + "  LUMEN_DYNAMIC_SHARED(shared);\n";
    kernel.text += fmt::format(
        "  typedef {I} Index;\n"
        "  uint16_t* const rows = (uint16_t*)shared;\n  uint16_t* const stages = rows + {q};\n"
        "  int* const begins = (int*)(stages + {stages});\n  int* const ends = begins + {R};\n"
        "  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, down = warp * {W};\n"
        "  LUMEN_ROWS(row) {{\n{place}    {{\n      const Index kk = 0, k1 = {D};\n{queries}    }}\n"
        "    float top[{M}][2], total[{M}][2], scale[{M}][2], o[{M}][{F}][4] = {{}};\n"
        "    LUMEN_UNROLL for (int m = 0; m < {M}; ++m) LUMEN_UNROLL for (int h = 0; h < 2; ++h)\n"
        "      top[m][h] = -lumen_inf_f32(), total[m][h] = 0;\n"
        "    int turn = 0;\n    lumen_commit_copies();\n",
        fmt::arg("I", attention_index_type(body_, form_)), fmt::arg("q", queries_.elements()),
        fmt::arg("stages", kStages * stage_), fmt::arg("R", s_.rows), fmt::arg("W", row_tiles_ * 16),
        fmt::arg("place", place), fmt::arg("D", depth_), fmt::arg("queries", queries), fmt::arg("M", row_tiles_),
        fmt::arg("F", 2 * feature_steps_));
    if (!bounds.all.empty()) kernel.text += "    __syncthreads();\n";
    kernel.text += attention_range(form_, bounds, s_) + tiles_.own_range() + tiles_.all_range();
    kernel.text += fill_at("first", "0", fill) + "    lumen_commit_copies();\n" + hold_queries();
    // The copies of a tile are under way while the one before it is multiplied, which nobody does before all have it.
    kernel.text += fmt::format(
        "    for (Index k0 = first; k0 < last; k0 += {T}) {{\n      const Index next = k0 + {T};\n"
        "      lumen_wait_for_copies<0>();\n      __syncthreads();\n"
        "      const uint16_t* const ready = stages + turn * {stage};\n      turn ^= 1;\n"
        "      if (next < last) {{\n{fill}      }}\n      lumen_commit_copies();\n"
        "      if (next <= own_begin || k0 >= own_end) continue;\n",
        fmt::arg("T", s_.keys), fmt::arg("stage", stage_), fmt::arg("fill", fill_at("next", "turn", fill)));
    kernel.text += scores_text() + weigh + sums_text() + "    }\n    lumen_wait_for_copies<0>();\n" + store;
    kernel.text += "    __syncthreads();\n  }\n  LUMEN_RETURN;\n}\n";
    KernelStep step{name_, attention_blocks(form_, s_)};
    step.threads = static_cast<int>(s_.threads);
    step.shared = std::max((queries_.elements() + kStages * stage_) * 2 + 8 * s_.rows, tiles_.store_bytes());
    kernel.steps.push_back(step);
    return kernel;
  }

 private:
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
        fmt::arg("M", row_tiles_), fmt::arg("D", depth_steps_), fmt::arg("load", load_queries("held[m][k]")));
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
        fmt::arg("M", row_tiles_), fmt::arg("T", s_.keys / 8), fmt::arg("D", depth_steps_),
        fmt::arg("x", holds_queries_ ? "held[m][k]" : "x[m]"),
        fmt::arg("left", holds_queries_ ? ""
                                        : fmt::format("        uint32_t x[{0}][4];\n"
                                                      "        LUMEN_UNROLL for (int m = 0; m < {0}; ++m) {1}\n",
                                                      row_tiles_, load_queries("x[m]"))),
        fmt::arg("right", keys_.load_right("y", "ready", "n * 16", "k * 16")), fmt::arg("d", name(dtype_)));
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
        fmt::arg("T", s_.keys / 16), fmt::arg("M", row_tiles_), fmt::arg("d", name(dtype_)),
        fmt::arg("F", feature_steps_),
        fmt::arg("right", values_.load_right("y", fmt::format("ready + {}", keys_.elements()), "n * 16", "k * 16")));
  }

  const Graph& body_;
  const AttentionForm& form_;
  std::string name_;
  CudaAttentionSchedule s_;
  DType dtype_;
  int64_t depth_, features_;
  int64_t row_tiles_, feature_steps_;  // of a warp
  AttentionTiles tiles_;
  CudaStage queries_, keys_, values_;
  int64_t depth_steps_ = 0, stage_ = 0;
  bool holds_queries_ = false;
};

}  // namespace

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
