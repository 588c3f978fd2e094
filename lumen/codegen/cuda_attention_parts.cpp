#include "lumen/codegen/cuda_attention_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/attention_rows.h"
#include "lumen/codegen/cuda_contract_frame.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

// Whose keys and values, a few megabytes each, the cache has at a time. Fewer leave heavy rows of the last to the end.
constexpr int64_t kHeadsTogether = 8;

int64_t parts_of(const CudaAttentionSchedule& s) { return std::max<int64_t>(1, s.parts); }
int64_t features_of(const AttentionForm& form) { return *form.second.extent(Role::column).constant(); }
Expr row_tiles(const AttentionForm& form, const CudaAttentionSchedule& s) { return ceil_div(form.rows(), s.rows); }

}  // namespace

Expected<CudaWeigh> print_cuda_weigh(const AttentionForm& form, const KeyBounds& bounds, int indent,
                                     std::vector<std::string>& faults) {
  CudaWeigh made;
  ElementWriter scores(*form.graph, indent, faults);
  scores.know(form.product.node, form.product.at, "x");
  for (auto mask = bounds.masks.rbegin(); mask != bounds.masks.rend(); ++mask) {
    scores.know(mask->select.node, mask->select.at, scores.value(mask->inside, mask->select.at));
  }
  made.score = scores.value(form.scores.node, form.scores.at);
  if (!scores.problem().empty()) return error(scores.problem());
  made.score_text = scores.text();
  ElementWriter weights(*form.graph, indent, scores.faults());
  weights.know(form.product.node, form.product.at, "x");
  weights.know(form.scores.node, form.scores.at, "y");
  weights.know(form.top.node, form.top.at, "used");
  const NodeId exponent = (*form.graph)[form.weights.node].operands[0];
  made.weight = fmt::format("{}({})", form.at_most_one ? "lumen_exp2_rough" : "lumen_exp2_f32",
                            weights.value(exponent, form.weights.at));
  if (!weights.problem().empty()) return error(weights.problem());
  made.weight_text = weights.text();
  faults = weights.faults();
  ElementWriter probe(*form.graph, 0);
  probe.know(form.product.node, form.product.at, "the_product");
  probe.know(form.scores.node, form.scores.at, "y");
  probe.know(form.top.node, form.top.at, "used");
  const std::string value = probe.value(exponent, form.weights.at);
  made.needs_product = (probe.text() + value).find("the_product") != std::string::npos;
  return made;
}

Expected<std::string> print_cuda_row_store(const Graph& body, const AttentionForm& form, int indent,
                                           std::vector<std::string>& faults) {
  ElementWriter writer(*form.graph, indent, faults);
  // -inf - -inf is what the weights of a row of nothing are made of. A NaN among the scores is no maximum.
  writer.line(fmt::format("const bool nothing = top == -lumen_inf_f32() && {} > 0;", writer.index(form.keys())));
  writer.line("const float lost = nothing ? lumen_nan_f32() : 0.0f, l = total + lost;");
  writer.line("const float m = l == l || nothing ? top : l, x = sum + lost;");
  writer.know(form.top.node, form.top.at, "m");
  if (form.total) writer.know(form.total->node, form.total->at, "l");
  writer.know(form.result.node, form.result.at, "x");
  LUMEN_TRY(store_attention_outputs(writer, body, form));
  if (!writer.problem().empty()) return error(writer.problem());
  faults = writer.faults();
  return writer.text();
}

std::string attention_index_type(const Graph& body, const AttentionForm& form) {
  const ElementWriter writer(body, 0);
  bool small = bounds(form.second.result.numel()).hi <= INT32_MAX && bounds(form.keys()).hi <= INT32_MAX / 2;
  for (const NodeId id : body.inputs()) {
    small = small && bounds(writer.rename(body[id].type.shape.numel())).hi <= INT32_MAX;
  }
  return small ? "int32_t" : "int64_t";
}

std::string attention_place(const AttentionForm& form, const KeyBounds& bounds, const CudaAttentionSchedule& s) {
  const std::string tiles = plain_number(row_tiles(form, s)), batch = plain_number(form.batch());
  // Where all have the same to do, blocks of one head are next to each other: they share keys.
  const int64_t heads = bounds.all.empty() ? 1 : kHeadsTogether;
  return fmt::format(
      "    const Index row_tiles = {tiles}, part = (Index)row % {P}, place = (Index)row / {P};\n"
      "    const Index heads = place / ({H} * row_tiles) * {H}, within = place % ({H} * row_tiles);\n"
      "    const Index together = {B} - heads < {H} ? {B} - heads : {H};\n"
      "    const Index i0 = heads + within % together, tile = row_tiles - 1 - within / together;\n"
      "    const Index m0 = tile * {R}, m1 = m0 + {R} < {M} ? m0 + {R} : {M};\n",
      fmt::arg("tiles", tiles), fmt::arg("P", parts_of(s)), fmt::arg("H", heads), fmt::arg("B", batch),
      fmt::arg("R", s.rows), fmt::arg("M", plain_number(form.rows())));
}

Expected<std::string> attention_row_bounds(const AttentionForm& form, const KeyBounds& bounds,
                                           const CudaAttentionSchedule& s, int64_t threads,
                                           std::vector<std::string>& faults) {
  if (bounds.all.empty()) return std::string();
  ElementWriter writer(*form.graph, 6, faults);
  for (const KeyBound& bound : bounds.all) {
    // No key is as far away as the nearest number may be, and sums of a few such numbers do not overflow.
    const std::string value =
        bound.value ? fmt::format("lumen_near_i64({})", writer.value(bound.value->node, bound.value->at)) : "0";
    writer.line(fmt::format("{0} = lumen_{1}_i64({0}, {2} + {3});", bound.is_end ? "end" : "begin",
                            bound.is_end ? "min" : "max", value, plain_number(bound.offset)));
  }
  if (!writer.problem().empty()) return error(writer.problem());
  faults = writer.faults();
  const std::string keys = plain_number(form.keys());
  const std::string begins =
      bounds.has_begins() ? fmt::format("      begins[r] = (int)lumen_min_i64(begin, {});\n", keys) : "";
  return fmt::format(
      "    for (int r = threadIdx.x; r < {R}; r += {threads}) {{\n"
      "      const Index i1 = m0 + r < m1 ? m0 + r : m1 - 1;\n"
      "      int64_t begin = 0, end = {K};\n{text}{begins}"
      "      ends[r] = (int)lumen_max_i64(end, 0);\n    }}\n",
      fmt::arg("R", s.rows), fmt::arg("threads", threads), fmt::arg("K", keys), fmt::arg("text", writer.text()),
      fmt::arg("begins", begins));
}

namespace {

// The end of all rows' ranges, in every lane of a warp: the largest or the smallest.
std::string over_rows(const CudaAttentionSchedule& s, const std::string& name, const std::string& of, bool largest) {
  return fmt::format(
      "    for (int r = lane; r < {R}; r += 32) {name} = {of}[r] {sign} {name} ? {of}[r] : {name};\n"
      "    LUMEN_UNROLL for (int step = 1; step < 32; step *= 2) {{\n"
      "      const int other = __shfl_xor_sync(0xffffffffu, {name}, step);\n"
      "      {name} = other {sign} {name} ? other : {name};\n    }}\n",
      fmt::arg("R", s.rows), fmt::arg("name", name), fmt::arg("of", of), fmt::arg("sign", largest ? ">" : "<"));
}

}  // namespace

std::string attention_range(const AttentionForm& form, const KeyBounds& bounds, const CudaAttentionSchedule& s) {
  const std::string keys = plain_number(form.keys());
  std::string seen = fmt::format("    const Index low = 0, high = {};\n", keys);
  if (bounds.has_begins()) {
    seen = fmt::format("    int low = (int){}, high = 0;\n", keys) + over_rows(s, "low", "begins", false) +
           over_rows(s, "high", "ends", true) +
           fmt::format("    low = low / {0} * {0}, high = high < low ? low : high;\n", s.keys);
  } else if (!bounds.all.empty()) {
    seen = "    const int low = 0;\n    int high = 0;\n" + over_rows(s, "high", "ends", true);
  }
  return seen + "    const Index first = low, last = high;\n";
}

std::string attention_row_range(const KeyBounds& bounds, const std::string& r) {
  if (bounds.all.empty()) return "const Index begin = 0, end = last;";
  return fmt::format("const Index begin = {1}, end = ends[{0}] < last ? ends[{0}] : last;", r,
                     bounds.has_begins() ? fmt::format("begins[{}]", r) : "0");
}

Expr attention_blocks(const AttentionForm& form, const CudaAttentionSchedule& s) {
  return form.batch() * row_tiles(form, s) * parts_of(s);
}

int64_t part_floats(const AttentionForm& form, const CudaAttentionSchedule& s) {
  return s.rows * (features_of(form) + 2);
}

Expected<std::string> print_cuda_combine(const Graph& body, const AttentionForm& form, const std::string& name,
                                         const CudaAttentionSchedule& s, std::vector<std::string>& faults) {
  const std::string store = LUMEN_TRY(print_cuda_row_store(body, form, 6, faults));
  const int64_t size = part_floats(form, s);
  // Little is computed here, and much is waited for: all maxima and totals are asked for at once, a part to a lane, and
  // of the sums those of eight parts. Parts that saw no key left none.
  return kernel_head(body, name, 128) +
         fmt::format(
             "  typedef {I} Index;\n  __shared__ float scales[{held} * 32];\n"
             "  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;\n"
             "  LUMEN_ROWS(row) {{\n"
             "    const Index i0 = (Index)row / {M}, i1 = (Index)row % {M}, tile = i1 / {R}, r = i1 % {R};\n"
             "    const float* const parts = (const float*)LUMEN_OUT({scratch}) + ((int64_t)i0 * {tiles} + tile) * "
             "{P} * {size};\n"
             "    float tops[{held}], totals[{held}], top = -lumen_inf_f32(), total = 0;\n"
             "    LUMEN_UNROLL for (int k = 0; k < {held}; ++k) {{\n"
             "      const int p = k * 32 + lane;\n"
             "      tops[k] = p < {P} ? parts[(int64_t)p * {size} + r] : -lumen_inf_f32();\n"
             "      totals[k] = p < {P} ? parts[(int64_t)p * {size} + {R} + r] : 0.0f;\n    }}\n"
             "    LUMEN_UNROLL for (int k = 0; k < {held}; ++k) top = tops[k] > top ? tops[k] : top;\n"
             "    LUMEN_UNROLL for (int step = 16; step > 0; step /= 2) {{\n"
             "      const float other = __shfl_xor_sync(0xffffffffu, top, step);\n"
             "      top = other > top ? other : top;\n    }}\n"
             "    const float used = top == -lumen_inf_f32() ? 0.0f : top;\n"
             "    LUMEN_UNROLL for (int k = 0; k < {held}; ++k) {{\n"
             "      const float scale = totals[k] == 0.0f ? 0.0f : lumen_exp2_rough((tops[k] - used) * {a:.9e}f);\n"
             "      total += scale * totals[k];\n"
             "      if (warp == 0) scales[k * 32 + lane] = scale;\n    }}\n"
             "    LUMEN_UNROLL for (int step = 16; step > 0; step /= 2)\n"
             "      total += __shfl_xor_sync(0xffffffffu, total, step);\n"
             "    __syncthreads();\n"
             "    for (Index i2 = threadIdx.x; i2 < {F}; i2 += 128) {{\n"
             "      float sum = 0;\n"
             "      for (int p0 = 0; p0 < {P}; p0 += 8) {{\n"
             "        float sums[8];\n"
             "        LUMEN_UNROLL for (int j = 0; j < 8; ++j)\n"
             "          sums[j] = scales[p0 + j] == 0.0f ? 0.0f : parts[(int64_t)(p0 + j) * {size} + 2 * {R} + r * {F} "
             "+ i2];\n"
             "        LUMEN_UNROLL for (int j = 0; j < 8; ++j) sum += scales[p0 + j] * sums[j];\n"
             "      }}\n{store}    }}\n    __syncthreads();\n  }}\n  LUMEN_RETURN;\n}}\n",
             fmt::arg("held", (parts_of(s) + 31) / 32), fmt::arg("I", attention_index_type(body, form)),
             fmt::arg("P", parts_of(s)), fmt::arg("M", plain_number(form.rows())), fmt::arg("R", s.rows),
             fmt::arg("scratch", body.outputs().size()), fmt::arg("tiles", plain_number(row_tiles(form, s))),
             fmt::arg("size", size), fmt::arg("a", form.steepness), fmt::arg("F", features_of(form)),
             fmt::arg("store", store));
}

}  // namespace lumen
