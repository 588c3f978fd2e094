#include "lumen/codegen/cuda_attention_decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/cuda_attention_lanes.h"
#include "lumen/codegen/cuda_attention_parts.h"
#include "lumen/codegen/cuda_contract_frame.h"

namespace lumen {

namespace {

class DecodePrinter {
 public:
  DecodePrinter(const Graph& body, const AttentionForm& form, std::string name, const CudaAttentionSchedule& schedule)
      : body_(body),
        form_(form),
        name_(std::move(name)),
        s_(schedule),
        bounds_(key_bounds(form)),
        keys_(form.first, Role::summed, "i2"),
        values_(form.second, Role::column, "i3") {
    depth_ = *form.first.extent(Role::summed).constant();
    features_ = *form.second.extent(Role::column).constant();
    warps_ = s_.threads / 32;
    rows_of_warp_ = (s_.rows + warps_ - 1) / warps_;
    keys_at_once_ = s_.threads / keys_.lanes();
    values_at_once_ = s_.threads / values_.lanes();
    key_turns_ = s_.keys / keys_at_once_;
    value_turns_ = s_.keys / values_at_once_;
  }

  bool fits() const {
    return key_turns_ * keys_at_once_ == s_.keys && value_turns_ * values_at_once_ == s_.keys && s_.keys % 32 == 0 &&
           s_.rows > 0 && s_.rows * std::max(keys_.elements(), values_.elements()) <= 256;
  }

  Expected<KernelText> print() {
    KernelText kernel;
    const bool parts = s_.parts > 1;
    const std::string row_bounds = LUMEN_TRY(attention_row_bounds(form_, bounds_, s_, s_.threads, kernel.faults));
    const std::string queries = LUMEN_TRY(fill_queries(kernel.faults));
    if (keys_.is_wide()) read_key_ = keys_.read("kw[u]", kernel.faults);
    if (values_.is_wide()) read_value_ = values_.read("vw[u]", kernel.faults);
    const std::string dots = LUMEN_TRY(dots_text(kernel.faults));
    const std::string weigh = LUMEN_TRY(weigh_text(kernel.faults));
    const std::string sums = LUMEN_TRY(sums_text(kernel.faults));
    const std::string store = parts ? hand_on() : LUMEN_TRY(store_text(kernel.faults));
    const std::string step = parts ? name_ + "_parts" : name_;
    kernel.text = kernel_head(body_, step, static_cast<int>(s_.threads), blocks_at_a_time()) +
                  "  LUMEN_DYNAMIC_SHARED(shared);\n";
    kernel.text += fmt::format("  typedef {} Index;\n", attention_index_type(body_, form_)) + buffers();
    kernel.text += "  LUMEN_ROWS(row) {\n" + attention_place(form_, bounds_, s_);
    // Where all begin with the first key, a block asks for its first turn before it knows anything else: rows and
    // bounds are on their way at the same time.
    if (!bounds_.has_begins()) kernel.text += first_turn("0", plain_number(form_.keys()));
    kernel.text += row_bounds + queries + attention_range(form_, bounds_, s_);
    if (bounds_.has_begins()) kernel.text += first_turn("first", "last");
    kernel.text += state();
    kernel.text += fmt::format(
        "    for (Index k0 = start; k0 < last; k0 += {0}) {{\n"
        "      const Index next = k0 + {0};\n",
        stride());
    kernel.text += dots + weigh + sums + "    }\n";
    kernel.text += together() + store + "    __syncthreads();\n  }\n  LUMEN_RETURN;\n}\n";
    KernelStep first{step, attention_blocks(form_, s_)};
    first.threads = static_cast<int>(s_.threads);
    first.shared = shared_floats() * 4;
    kernel.steps.push_back(first);
    if (!parts) return kernel;
    kernel.text += LUMEN_TRY(print_cuda_combine(body_, form_, name_, s_, kernel.faults));
    KernelStep second{name_, form_.batch() * form_.rows()};
    second.threads = 128;
    kernel.steps.push_back(second);
    kernel.scratch = attention_blocks(form_, s_) * (part_floats(form_, s_) * 4);
    return kernel;
  }

 private:
  static constexpr int64_t kOfRow = 8;  // words of a scale, a maximum, a total and two bounds: what follows is aligned
  int64_t query_floats() const { return s_.rows * depth_; }
  int64_t sum_floats() const { return s_.rows * features_; }
  int64_t shared_floats() const {
    const int64_t streaming = query_floats() + s_.rows * s_.keys;
    return kOfRow * s_.rows + std::max(streaming, (warps_ + 1) * sum_floats());
  }
  // Two, where their registers are enough: one loads while the other weighs.
  int blocks_at_a_time() const {
    const int64_t held = s_.rows * (keys_.elements() + values_.elements()) + 4 * (key_turns_ + value_turns_);
    return held <= 96 && s_.threads <= 256 ? 2 : 1;
  }
  bool holds_queries() const { return s_.rows * keys_.elements() <= 64; }

  std::string buffers() const {
    return fmt::format(
        "  float* const scales = (float*)shared;\n  float* const tops = scales + {R};\n"
        "  float* const totals = tops + {R};\n  int* const begins = (int*)(totals + {R});\n"
        "  int* const ends = begins + {R};\n  float* const q = scales + {W} * {R};\n"
        "  float* const s = q + {Q};\n"
        "  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;\n",
        fmt::arg("R", s_.rows), fmt::arg("W", kOfRow), fmt::arg("Q", query_floats()));
  }

  Expected<std::string> fill_queries(std::vector<std::string>& faults) const {
    ElementWriter writer(*form_.graph, 8, faults);
    // Lanes of a warp have one row.
    if (depth_ % 32 == 0) writer.sum_by_warps({Expr::index(static_cast<int>(Role::summed), depth_)});
    const std::string value = writer.value(form_.first.rows, form_.first.at);
    if (!writer.problem().empty()) return error(writer.problem());
    faults = writer.faults();
    return fmt::format(
        "    for (int e = threadIdx.x; e < {}; e += {}) {{\n"
        "      const Index i1 = m0 + e / {}, i3 = e % {};\n      float one = 0;\n"
        "      if (i1 < m1) {{\n{}        one = {};\n      }}\n      q[e] = one;\n    }}\n    __syncthreads();\n",
        query_floats(), s_.threads, depth_, depth_, writer.text(), value);
  }

  // What a thread keeps: of the rows of its warp, and sums of all rows for the features of its lane.
  std::string state() const {
    return fmt::format(
        "    float top[{W}], total[{W}], o[{R}][{E}] = {{}};\n"
        "    LUMEN_UNROLL for (int k = 0; k < {W}; ++k) top[k] = -lumen_inf_f32(), total[k] = 0;\n",
        fmt::arg("W", rows_of_warp_), fmt::arg("R", s_.rows), fmt::arg("E", values_.elements()));
  }
  // Of all rows, for the depths of a lane; for each turn anew, as registers for all the time are too many.
  std::string own_queries() const {
    if (!holds_queries()) return "";
    return fmt::format(
        "      float own[{R}][{E}];\n      {{\n        const int at = threadIdx.x % {L};\n"
        "        LUMEN_UNROLL for (int r = 0; r < {R}; ++r)\n"
        "          LUMEN_UNROLL for (int j = 0; j < {E}; ++j) own[r][j] = {p} < {D} ? q[r * {D} + {p}] : 0.0f;\n"
        "      }}\n",
        fmt::arg("R", s_.rows), fmt::arg("E", keys_.elements()), fmt::arg("L", keys_.lanes()),
        fmt::arg("p", keys_.place("at", "j")), fmt::arg("D", depth_));
  }

  // Keys of a part are turns: every `parts`-th one, so that a part's first is known without their number.
  int64_t stride() const { return s_.keys * std::max<int64_t>(1, s_.parts); }
  // Of the keys [first, end), and where they lie if they are read ahead.
  std::string first_turn(const std::string& first, const std::string& end) const {
    std::string text = fmt::format("    const Index start = {} + part * {};\n", first, s_.keys);
    if (keys_.is_wide()) text += fmt::format("    uint4 kw[{}];\n", key_turns_) + read_keys("start", end);
    if (values_.is_wide()) text += fmt::format("    uint4 vw[{}];\n", value_turns_) + read_values("start", end);
    return text;
  }

  // From `end` on nothing is read.
  std::string read_lines(const CudaLanes& lanes, const std::string& read, const std::string& line, int64_t turns,
                         int64_t at_once, const std::string& from, const std::string& end) const {
    return fmt::format(
        "      LUMEN_UNROLL for (int u = 0; u < {turns}; ++u) {{\n"
        "        const int at = threadIdx.x % {L};\n"
        "        const Index {line} = {from} + u * {Y} + (Index)(threadIdx.x / {L});\n"
        "        if ({line} < {end}) {{\n{read}        }}\n      }}\n",
        fmt::arg("turns", turns), fmt::arg("L", lanes.lanes()), fmt::arg("line", line), fmt::arg("from", from),
        fmt::arg("Y", at_once), fmt::arg("end", end), fmt::arg("read", read));
  }
  std::string read_keys(const std::string& from, const std::string& end) const {
    return read_lines(keys_, read_key_, "i2", key_turns_, keys_at_once_, from, end);
  }
  std::string read_values(const std::string& from, const std::string& end) const {
    return read_lines(values_, read_value_, "i3", value_turns_, values_at_once_, from, end);
  }

  // Every row with every key of the tile; then the next tile is asked for.
  Expected<std::string> dots_text(std::vector<std::string>& faults) const {
    const std::string elements = LUMEN_TRY(keys_.elements_text("kw[u]", 8, faults));
    const std::string query =
        holds_queries() ? "own[r][j]"
                        : fmt::format("({0} < {1} ? q[r * {1} + {0}] : 0.0f)", keys_.place("at", "j"), depth_);
    std::string text = own_queries();
    text += fmt::format(
        "      LUMEN_UNROLL for (int u = 0; u < {turns}; ++u) {{\n"
        "        const int at = threadIdx.x % {L}, line = u * {Y} + threadIdx.x / {L};\n"
        "        const Index i2 = k0 + line < last ? k0 + line : last - 1;\n{elements}"
        "        LUMEN_UNROLL for (int r = 0; r < {R}; ++r) {{\n"
        "          float one = 0;\n"
        "          LUMEN_UNROLL for (int j = 0; j < {E}; ++j) one += {query} * y[j];\n"
        "          LUMEN_UNROLL for (int step = {L} / 2; step > 0; step /= 2) one += __shfl_xor_sync(0xffffffffu, one, "
        "step);\n"
        "          if (at == 0) s[r * {T} + line] = one;\n        }}\n      }}\n",
        fmt::arg("turns", key_turns_), fmt::arg("L", keys_.lanes()), fmt::arg("Y", keys_at_once_),
        fmt::arg("elements", elements), fmt::arg("R", s_.rows), fmt::arg("E", keys_.elements()),
        fmt::arg("query", query), fmt::arg("T", s_.keys));
    if (keys_.is_wide()) text += read_keys("next", "last");
    return text + "      __syncthreads();\n";
  }

  // A warp to a row: its new maximum, what that scales the sums so far by, and its weights in place of its scores.
  Expected<std::string> weigh_text(std::vector<std::string>& faults) const {
    const CudaWeigh weigh = LUMEN_TRY(print_cuda_weigh(form_, bounds_, 12, faults));
    return fmt::format(
        "      LUMEN_UNROLL for (int k = 0; k < {W}; ++k) {{\n"
        "        const int r = warp + k * {warps};\n"
        "        if (r >= {R}) break;\n"
        "        const Index i1 = m0 + r < m1 ? m0 + r : m1 - 1;\n        {range}\n"
        "        float scores[{H}], most = -lumen_inf_f32(), more = 0;\n"
        "        LUMEN_UNROLL for (int h = 0; h < {H}; ++h) {{\n"
        "          const int j = h * 32 + lane;\n          const Index i3 = k0 + j;\n"
        "          scores[h] = -lumen_inf_f32();\n"
        "          if (i3 >= begin && i3 < end) {{\n            const float x = s[r * {T} + j];\n{score_text}"
        "            scores[h] = {score};\n          }}\n"
        "          most = scores[h] > most ? scores[h] : most;\n        }}\n"
        "        LUMEN_UNROLL for (int step = 16; step > 0; step /= 2) {{\n"
        "          const float other = __shfl_xor_sync(0xffffffffu, most, step);\n"
        "          most = other > most ? other : most;\n        }}\n"
        "        most = most > top[k] ? most : top[k];\n"
        "        const float used = most == -lumen_inf_f32() ? 0.0f : most;\n"
        "        const float scale = most > top[k] ? lumen_exp2_rough((top[k] - most) * {a:.9e}f) : 1.0f;\n"
        "        LUMEN_UNROLL for (int h = 0; h < {H}; ++h) {{\n"
        "          const int j = h * 32 + lane;\n          const Index i3 = k0 + j;\n          float one = 0;\n"
        "          if (i3 < last) {{\n            const float x = s[r * {T} + j], y = scores[h];\n{weight_text}"
        "            one = {weight};\n          }}\n"
        "          s[r * {T} + j] = one;\n          more += one;\n        }}\n"
        "        LUMEN_UNROLL for (int step = 16; step > 0; step /= 2) more += __shfl_xor_sync(0xffffffffu, more, "
        "step);\n"
        "        top[k] = most;\n        total[k] = total[k] * scale + more;\n"
        "        if (lane == 0) scales[r] = scale;\n      }}\n      __syncthreads();\n",
        fmt::arg("W", rows_of_warp_), fmt::arg("warps", warps_), fmt::arg("R", s_.rows), fmt::arg("H", s_.keys / 32),
        fmt::arg("T", s_.keys), fmt::arg("range", attention_row_range(bounds_, "r")),
        fmt::arg("score_text", weigh.score_text), fmt::arg("score", weigh.score),
        fmt::arg("weight_text", weigh.weight_text), fmt::arg("weight", weigh.weight), fmt::arg("a", form_.steepness));
  }

  Expected<std::string> sums_text(std::vector<std::string>& faults) const {
    const std::string elements = LUMEN_TRY(values_.elements_text("vw[u]", 8, faults));
    std::string text = fmt::format(
        "      LUMEN_UNROLL for (int r = 0; r < {R}; ++r)\n"
        "        LUMEN_UNROLL for (int j = 0; j < {E}; ++j) o[r][j] *= scales[r];\n"
        "      LUMEN_UNROLL for (int u = 0; u < {turns}; ++u) {{\n"
        "        const int at = threadIdx.x % {L}, line = u * {Y} + threadIdx.x / {L};\n"
        "        const Index i3 = k0 + line;\n"
        "        if (i3 >= last) break;\n{elements}"
        "        LUMEN_UNROLL for (int r = 0; r < {R}; ++r) {{\n"
        "          const float one = s[r * {T} + line];\n"
        "          LUMEN_UNROLL for (int j = 0; j < {E}; ++j) o[r][j] += one * y[j];\n        }}\n      }}\n",
        fmt::arg("R", s_.rows), fmt::arg("E", values_.elements()), fmt::arg("turns", value_turns_),
        fmt::arg("L", values_.lanes()), fmt::arg("Y", values_at_once_), fmt::arg("elements", elements),
        fmt::arg("T", s_.keys));
    if (values_.is_wide()) text += read_values("next", "last");
    return text + "      __syncthreads();\n";
  }

  // The sums of all threads for a feature: those of a warp, then of the block. They take the place of queries and
  // scores.
  std::string together() const {
    return fmt::format(
        "    LUMEN_UNROLL for (int k = 0; k < {W}; ++k) {{\n"
        "      const int r = warp + k * {warps};\n"
        "      if (r < {R} && lane == 0) tops[r] = top[k], totals[r] = total[k];\n    }}\n"
        "    __syncthreads();\n"
        "    LUMEN_UNROLL for (int r = 0; r < {R}; ++r)\n"
        "      LUMEN_UNROLL for (int j = 0; j < {E}; ++j) {{\n"
        "        float one = o[r][j];\n"
        "        LUMEN_UNROLL for (int step = {L}; step < 32; step *= 2) one += __shfl_xor_sync(0xffffffffu, one, "
        "step);\n"
        "        const int at = lane % {L}, place = {place};\n"
        "        if (lane < {L} && place < {F}) q[(warp + 1) * {S} + r * {F} + place] = one;\n      }}\n"
        "    __syncthreads();\n"
        "    for (int e = threadIdx.x; e < {S}; e += {threads}) {{\n"
        "      float one = 0;\n"
        "      for (int w = 1; w <= {warps}; ++w) one += q[w * {S} + e];\n"
        "      q[e] = one;\n    }}\n    __syncthreads();\n",
        fmt::arg("W", rows_of_warp_), fmt::arg("warps", warps_), fmt::arg("R", s_.rows),
        fmt::arg("E", values_.elements()), fmt::arg("L", values_.lanes()), fmt::arg("place", values_.place("at", "j")),
        fmt::arg("F", features_), fmt::arg("S", sum_floats()), fmt::arg("threads", s_.threads));
  }

  std::string hand_on() const {
    return fmt::format(
        "    float* const to = (float*)LUMEN_OUT({scratch}) + (((int64_t)i0 * row_tiles + tile) * {P} + part) * "
        "{size};\n"
        "    for (int r = threadIdx.x; r < {R}; r += {threads}) to[r] = tops[r], to[{R} + r] = totals[r];\n"
        "    if (start < last)\n"
        "      for (int e = threadIdx.x; e < {S}; e += {threads}) to[2 * {R} + e] = q[e];\n",
        fmt::arg("scratch", body_.outputs().size()), fmt::arg("P", s_.parts), fmt::arg("size", part_floats(form_, s_)),
        fmt::arg("R", s_.rows), fmt::arg("threads", s_.threads), fmt::arg("S", sum_floats()));
  }

  Expected<std::string> store_text(std::vector<std::string>& faults) const {
    const std::string store = LUMEN_TRY(print_cuda_row_store(body_, form_, 6, faults));
    return fmt::format(
        "    for (int e = threadIdx.x; e < {S}; e += {threads}) {{\n"
        "      const int r = e / {F};\n      const Index i1 = m0 + r, i2 = e % {F};\n"
        "      if (i1 >= m1) break;\n"
        "      const float top = tops[r], total = totals[r], sum = q[e];\n{store}    }}\n",
        fmt::arg("S", sum_floats()), fmt::arg("threads", s_.threads), fmt::arg("F", features_),
        fmt::arg("store", store));
  }

  const Graph& body_;
  const AttentionForm& form_;
  std::string name_;
  CudaAttentionSchedule s_;
  KeyBounds bounds_;
  CudaLanes keys_, values_;
  std::string read_key_, read_value_;  // statements that read a lane's part of a line ahead
  int64_t depth_ = 0, features_ = 0, warps_ = 0, rows_of_warp_ = 0;
  int64_t keys_at_once_ = 0, values_at_once_ = 0, key_turns_ = 0, value_turns_ = 0;
};

}  // namespace

Expected<KernelText> print_cuda_decode(const Graph& body, const AttentionForm& form, const std::string& name,
                                       const CudaAttentionSchedule& schedule) {
  DecodePrinter printer(body, form, name, schedule);
  if (!printer.fits()) {
    return error(fmt::format("the schedule \"{}\" does not fit heads of {} and {}", schedule.str(),
                             form.first.extent(Role::summed).str(), form.second.extent(Role::column).str()));
  }
  return printer.print();
}

}  // namespace lumen
