#include "lumen/codegen/cuda_attention_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/attention_rows.h"
#include "lumen/codegen/attention_skip.h"
#include "lumen/codegen/cuda_contract_frame.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

int64_t parts_of(const CudaAttentionSchedule& s) { return std::max<int64_t>(1, s.parts); }
int64_t features_of(const AttentionForm& form) { return *form.second.extent(Role::column).constant(); }
Expr row_tiles(const AttentionForm& form, const CudaAttentionSchedule& s) { return ceil_div(form.rows(), s.rows); }

}  // namespace

Expected<CudaWeigh> print_cuda_weigh(const AttentionForm& form, int indent, std::vector<std::string>& faults) {
  CudaWeigh made;
  ElementWriter scores(*form.graph, indent, faults);
  scores.know(form.product.node, form.product.at, "x");
  made.score = scores.value(form.scores.node, form.scores.at);
  if (!scores.problem().empty()) return error(scores.problem());
  made.score_text = scores.text();
  ElementWriter weights(*form.graph, indent, scores.faults());
  weights.know(form.product.node, form.product.at, "x");
  weights.know(form.scores.node, form.scores.at, "y");
  weights.know(form.top.node, form.top.at, "used");
  const NodeId exponent = (*form.graph)[form.weights.node].operands[0];
  made.weight = fmt::format("{}({})", form.at_most_one ? "lumen_weight_exp2" : "lumen_exp2_f32",
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

std::string attention_place(const AttentionForm& form, const CudaAttentionSchedule& s) {
  const Expr length = ceil_div(ceil_div(form.keys(), parts_of(s)), s.keys) * s.keys;
  return fmt::format(
      "    const Index row_tiles = {tiles}, part = (Index)row % {P};\n"
      "    const Index tile = row_tiles - 1 - (Index)row / {P} % row_tiles;\n"
      "    const Index i0 = (Index)row / {P} / row_tiles, m0 = tile * {R};\n"
      "    const Index m1 = m0 + {R} < {M} ? m0 + {R} : {M};\n"
      "    const Index first = part * {length}, last = first + {length} < {K} ? first + {length} : {K};\n",
      fmt::arg("tiles", plain_number(row_tiles(form, s))), fmt::arg("P", parts_of(s)), fmt::arg("R", s.rows),
      fmt::arg("M", plain_number(form.rows())), fmt::arg("length", plain_number(length)),
      fmt::arg("K", plain_number(form.keys())));
}

Expr attention_blocks(const AttentionForm& form, const CudaAttentionSchedule& s) {
  return form.batch() * row_tiles(form, s) * parts_of(s);
}

int64_t part_floats(const AttentionForm& form, const CudaAttentionSchedule& s) {
  return s.rows * (features_of(form) + 2);
}

std::string attention_tiles_head(const AttentionForm& form, const CudaAttentionSchedule& s, const std::string& before) {
  const std::string excluded = excluded_condition(form);
  const auto skip = [&](const std::string& variable) {
    if (excluded == "0") return std::string();
    return fmt::format(
        "      while ({v} < last) {{\n"
        "        const Index k0 = {v}, k1 = {v} + {T} < last ? {v} + {T} : last;\n"
        "        if (!({condition})) break;\n        {v} += {T};\n      }}\n",
        fmt::arg("v", variable), fmt::arg("T", s.keys), fmt::arg("condition", excluded));
  };
  return fmt::format(
      "    Index start = first;\n{}{}"
      "    for (Index k0 = start, next; k0 < last; k0 = next) {{\n"
      "      const Index k1 = k0 + {} < last ? k0 + {} : last, count = k1 - k0;\n"
      "      next = k0 + {};\n{}",
      skip("start"), before, s.keys, s.keys, s.keys, skip("next"));
}

Expected<std::string> print_cuda_combine(const Graph& body, const AttentionForm& form, const std::string& name,
                                         const CudaAttentionSchedule& s, std::vector<std::string>& faults) {
  const std::string store = LUMEN_TRY(print_cuda_row_store(body, form, 6, faults));
  const int64_t size = part_floats(form, s);
  return kernel_head(body, name, 128) +
         fmt::format(
             "  typedef {I} Index;\n  __shared__ float scales[{P}], totals[{P}];\n"
             "  LUMEN_ROWS(row) {{\n"
             "    const Index i0 = (Index)row / {M}, i1 = (Index)row % {M}, tile = i1 / {R}, r = i1 % {R};\n"
             "    const float* const parts = (const float*)LUMEN_OUT({scratch}) + ((int64_t)i0 * {tiles} + tile) * "
             "{P} * {size};\n"
             "    float top = -lumen_inf_f32(), total = 0;\n"
             "    for (int p = 0; p < {P}; ++p) {{\n"
             "      const float other = parts[(int64_t)p * {size} + r];\n"
             "      top = other > top ? other : top;\n    }}\n"
             "    const float used = top == -lumen_inf_f32() ? 0.0f : top;\n"
             "    for (int p = threadIdx.x; p < {P}; p += 128) {{\n"
             "      scales[p] = lumen_weight_exp2((parts[(int64_t)p * {size} + r] - used) * {a:.9e}f);\n"
             "      totals[p] = parts[(int64_t)p * {size} + {R} + r];\n    }}\n"
             "    __syncthreads();\n"
             "    for (int p = 0; p < {P}; ++p) total += scales[p] * totals[p];\n"
             "    for (Index i2 = threadIdx.x; i2 < {F}; i2 += 128) {{\n"
             "      float sum = 0;\n"
             "      for (int p = 0; p < {P}; ++p) {{\n"
             "        if (totals[p] != 0.0f) sum += scales[p] * parts[(int64_t)p * {size} + 2 * {R} + r * {F} + i2];\n"
             "      }}\n{store}    }}\n    __syncthreads();\n  }}\n  LUMEN_RETURN;\n}}\n",
             fmt::arg("I", attention_index_type(body, form)), fmt::arg("P", parts_of(s)),
             fmt::arg("M", plain_number(form.rows())), fmt::arg("R", s.rows),
             fmt::arg("scratch", body.outputs().size()), fmt::arg("tiles", plain_number(row_tiles(form, s))),
             fmt::arg("size", size), fmt::arg("a", form.steepness), fmt::arg("F", features_of(form)),
             fmt::arg("store", store));
}

}  // namespace lumen
