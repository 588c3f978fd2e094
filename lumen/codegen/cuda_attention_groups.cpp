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
constexpr int64_t kMostSums = 192;  // registers of scores, weights and sums, of 255 that a thread of two groups has
constexpr int kHopper = 90;

// Columns of a product: 64, 128 or 256.
int64_t columns_of(int64_t size) { return size <= 64 ? 64 : size <= 128 ? 128 : 256; }
// A size of tiles in shared memory: whole lines.
int64_t padded(int64_t size) { return (size + 63) / 64 * 64; }

class GroupsPrinter {
 public:
  GroupsPrinter(const Graph& body, const AttentionForm& form, std::string name, const CudaAttentionSchedule& schedule,
                DType dtype)
      : body_(body),
        form_(form),
        name_(std::move(name)),
        s_(schedule),
        dtype_(dtype),
        depth_(*form.first.extent(Role::summed).constant()),
        columns_(columns_of(*form.second.extent(Role::column).constant())),
        tiles_(body, form, schedule, 1, columns_ / 8),
        queries_(form.first, form.first.rows, Role::row, dtype, s_.rows, padded(depth_), StageReader::groups),
        keys_(form.first, form.first.columns[0], Role::column, dtype, s_.keys, padded(depth_), StageReader::groups),
        values_(form.second, form.second.columns[0], Role::column, dtype, columns_, s_.keys, StageReader::groups) {}

  Expected<KernelText> print() {
    KernelText kernel;
    const KeyBounds& bounds = tiles_.bounds();
    const std::string place = LUMEN_TRY(attention_place(form_, bounds, s_, kernel.faults));
    const std::string queries = LUMEN_TRY(queries_.fill("rows", "m0", s_.threads, kernel.faults, true));
    const std::string keys = either(LUMEN_TRY(keys_.fill("to", "from", s_.threads, kernel.faults)),
                                    keys_.fill_inside("to", "from", s_.threads, Role::column, kernel.faults));
    const std::string values = either(LUMEN_TRY(values_.fill("to", "0", s_.threads, kernel.faults)),
                                      values_.fill_inside("to", "0", s_.threads, Role::summed, kernel.faults));
    const std::string weigh = LUMEN_TRY(tiles_.weigh("", kernel.faults));
    const std::string store = LUMEN_TRY(tiles_.store(kernel.faults));
    kernel.text = kernel_head(body_, name_, static_cast<int>(s_.threads)) + "  LUMEN_SHARED_TILES(shared);\n";
    kernel.text += fmt::format(
        "  typedef {I} Index;\n"
        "  uint16_t* const rows = (uint16_t*)shared;\n  uint16_t* const key_stages = rows + {q};\n"
        "  uint16_t* const value_stages = key_stages + {k};\n"
        "  int* const begins = (int*)(value_stages + {v});\n  int* const ends = begins + {R};\n"
        "  const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0), lane = threadIdx.x % 32;\n"
        "  const int down = warp * 16, group = warp / 4;\n"
        "  LUMEN_ROWS(row) {{\n{place}    {{\n      const Index kk = 0, k1 = {D};\n{queries}    }}\n"
        "    float top[1][2], total[1][2], scale[1][2], sc[1][{T}][4] = {{}}, o[1][{F}][4] = {{}};\n"
        "    uint32_t weights[{W}][4];\n"
        "    LUMEN_UNROLL for (int h = 0; h < 2; ++h) top[0][h] = -lumen_inf_f32(), total[0][h] = 0;\n",
        fmt::arg("I", attention_index_type(body_, form_)), fmt::arg("q", queries_.elements()),
        fmt::arg("k", s_.stages * keys_.elements()), fmt::arg("v", s_.stages * values_.elements()),
        fmt::arg("R", s_.rows), fmt::arg("place", place), fmt::arg("D", depth_), fmt::arg("queries", queries),
        fmt::arg("T", s_.keys / 8), fmt::arg("F", columns_ / 8), fmt::arg("W", s_.keys / 16));
    if (!bounds.all.empty()) kernel.text += "    __syncthreads();\n";
    kernel.text += attention_range(form_, bounds, s_) + tiles_.all_range();
    kernel.text += fill_at("key_stages", keys_, "first", "0", keys) + "    lumen_commit_copies();\n";
    if (s_.stages > 2) {
      kernel.text += fmt::format("    if (first + {} < last) {{\n{}    }}\n{}    lumen_commit_copies();\n", s_.keys,
                                 fill_at("key_stages", keys_, fmt::format("first + {}", s_.keys), "1", keys),
                                 fill_at("value_stages", values_, "first", "0", values));
    }
    kernel.text += loop_text(weigh, keys, values) + store + "    __syncthreads();\n  }\n  LUMEN_RETURN;\n}\n";
    KernelStep step{name_, attention_blocks(form_, s_)};
    step.threads = static_cast<int>(s_.threads);
    step.shared =
        std::max((queries_.elements() + s_.stages * (keys_.elements() + values_.elements())) * 2 + 8 * s_.rows,
                 tiles_.store_bytes());
    kernel.steps.push_back(step);
    return kernel;
  }

 private:
  // Scores of some keys are multiplied, then, while these are weighed, the weights before them and their values. What
  // is copied is multiplied when all have it, one turn later or two; and what is overwritten all have multiplied.
  std::string loop_text(const std::string& weigh, const std::string& keys, const std::string& values) const {
    const bool ahead = s_.stages > 2;
    const auto ready = [&](int behind) {
      return fmt::format(
          "      lumen_wait_for_copies<{}>();\n      lumen_show_products();\n      __syncthreads();\n"
          "      lumen_pin<{}>(o[0][0]);\n      lumen_pin<{}>(weights[0]);\n      lumen_begin_products();\n",
          behind, columns_ / 2, s_.keys / 4);
    };
    const std::string further = fmt::format("k0 + {}", s_.keys * (s_.stages - 1));
    const std::string copy_values = ahead ? fmt::format("      if (next < last) {{\n{}      }}\n",
                                                        fill_at("value_stages", values_, "next", "after", values))
                                          : fill_at("value_stages", values_, "k0", "turn", values);
    const std::string copies = fmt::format("      if ({} < last) {{\n{}      }}\n{}      lumen_commit_copies();\n",
                                           further, fill_at("key_stages", keys_, further, "before", keys), copy_values);
    const std::string turns = fmt::format(
        "      const Index next = k0 + {};\n      const int before = turn == 0 ? {} : turn - 1;\n{}", s_.keys,
        s_.stages - 1, ahead ? fmt::format("      const int after = turn == {} ? 0 : turn + 1;\n", s_.stages - 1) : "");
    const std::string scores_are_there = fmt::format("      lumen_pin<{}>(sc[0][0]);\n", s_.keys / 2) + weigh;
    const std::string sums_are_there =
        fmt::format("      lumen_wait_for_products<0>();\n      lumen_pin<{}>(o[0][0]);\n", columns_ / 2);
    return fmt::format(
        "    if (first < last) {{\n      int turn = 0;\n      {{\n      const Index k0 = first;\n{turns}"
        "{ready}{scores}{copies}      lumen_wait_for_products<0>();\n{weigh}{pack}      }}\n"
        "      for (Index k0 = first + {T}; k0 < last; k0 += {T}) {{\n      turn = turn == {S} - 1 ? 0 : turn + 1;\n"
        "{turns}{ready}{scores}{sum_before}{copies}      lumen_wait_for_products<1>();\n{weigh}"
        "      {{\n        const int m = 0;\n{rescale}      }}\n{pack}      }}\n{all_ready}{sum}{sums}    }}\n",
        fmt::arg("turns", turns), fmt::arg("T", s_.keys), fmt::arg("S", s_.stages),
        fmt::arg("ready", ready(ahead ? 1 : 0)), fmt::arg("scores", scores_text()), fmt::arg("copies", copies),
        fmt::arg("weigh", scores_are_there), fmt::arg("pack", pack_text()), fmt::arg("sum_before", sums_text("before")),
        fmt::arg("rescale", tiles_.rescale_after(sums_are_there)), fmt::arg("all_ready", ready(0)),
        fmt::arg("sum", sums_text("turn")), fmt::arg("sums", sums_are_there));
  }

  // What fills a stage, or what does so where all of its keys are there. Three groups have no registers for both.
  std::string either(const std::string& fill, const std::optional<std::string>& inside) const {
    if (!inside || s_.threads > 2 * kGroup) return fill;
    return fmt::format("      if (from + {} <= last) {{\n{}      }} else {{\n{}      }}\n", s_.keys, *inside, fill);
  }

  // Keys or values from `from` on, into the stage `turn`.
  std::string fill_at(const std::string& stages, const CudaStage& stage, const std::string& from,
                      const std::string& turn, const std::string& fill) const {
    const bool values = &stage == &values_;
    return fmt::format(
        "      {{\n      const Index from = {}, kk = {}, k1 = {};\n      uint16_t* const to = {} + {} * {};\n{}"
        "      }}\n",
        from, values ? "from" : "0", values ? "last" : std::to_string(depth_), stages, turn, stage.elements(), fill);
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
  const bool whole = s.rows % kGroupRows == 0 && s.threads == s.rows / kGroupRows * kGroup && s.parts <= 1 &&
                     (s.stages == 2 || s.stages == 3) && (s.keys == 64 || s.keys == 128) && depth > 0 && features > 0 &&
                     depth <= kMostFeatures && features <= kMostFeatures;
  if (!whole) return error(fmt::format("the schedule \"{}\" is not one of 64 rows of groups", s.str()));
  if (s.keys / 2 + s.keys / 4 + columns_of(features) / 2 > kMostSums * 2 * kGroup / std::max(s.threads, 2 * kGroup)) {
    return error(fmt::format("the sums of \"{}\" are too many for registers", s.str()));
  }
  return GroupsPrinter(body, form, name, s, *dtype).print();
}

}  // namespace lumen
