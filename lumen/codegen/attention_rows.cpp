#include "lumen/codegen/attention_rows.h"

#include <fmt/format.h>

#include "lumen/codegen/kernel_text.h"
#include "lumen/codegen/scalar.h"

namespace lumen {

namespace {

constexpr const char* kRow =
    "static __attribute__((noinline)) int64_t {}_{}(const void* const* in, void* const* out, const int64_t* dims, "
    "int64_t i0, int64_t i1";

// A loop over keys or features. Where there is only one, everything depends on its coordinate.
void open_elements(ElementWriter& writer, const std::string& head, Expr variable) {
  if (variable.is_constant()) return writer.open(head);
  writer.open_loop(head, variable, false);
}

}  // namespace

// As lumen_exp2_f32, without what only numbers above 1 and below the normal range need.
std::string print_weight_exp2(const std::string& name) {
  return fmt::format(R"C(LUMEN_FN float {}_exp2(float x) {{
  const float c = x < -126.0f ? -126.0f : x;
  const float shifted = c + 12582912.0f;
  const float f = c - (shifted - 12582912.0f);
  float p = 0.000154531634f;
  p = lumen_fma_f32(p, f, 0.00133908633f);
  p = lumen_fma_f32(p, f, 0.00961808302f);
  p = lumen_fma_f32(p, f, 0.0555035695f);
  p = lumen_fma_f32(p, f, 0.240226507f);
  p = lumen_fma_f32(p, f, 0.693147182f);
  p = lumen_fma_f32(p, f, 1.0f);
  const float y = p * lumen_from_bits_f32((lumen_bits_f32(shifted) << 23) + 0x3f800000u);
  return x < -126.0f ? 0.0f : y;
}}
)C",
                     name);
}

Expected<std::string> print_weigh(const AttentionForm& form, const std::string& name, int64_t sums,
                                  std::vector<std::string>& faults) {
  const Expr key = Expr::index(3, form.keys());
  const bool maps = form.scores.node != form.product.node;
  ElementWriter writer(*form.graph, 2, faults);
  const char* head = "_Pragma(\"omp simd reduction({}) reduction(|:fault)\") for (int64_t j = 0; j < count; ++j)";
  writer.line("float most = -lumen_inf_f32(), more = 0;");
  open_elements(writer, fmt::format(fmt::runtime(head), "max:most"), key);
  writer.line("const int64_t i3 = first + j;");
  writer.line("const float x = s[j];");
  writer.know(form.product.node, form.product.at, "x");
  const std::string score = writer.value(form.scores.node, form.scores.at);
  if (maps) writer.line(fmt::format("t[j] = {};", score));
  writer.line(fmt::format("most = {0} > most ? {0} : most;", score));
  writer.close();
  // What is far below everything else weighs nothing: a row without anything keeps 0 as its maximum.
  writer.line("const float before = *top, m = most > before ? most : before;");
  writer.line("const float used = m == -lumen_inf_f32() ? 0.0f : m;");
  writer.open("if (m > before)");
  writer.line(fmt::format("const float scale = {}_exp2((before - m) * {:.9g}f);", name, form.steepness));
  writer.line("*top = m;");
  writer.line("*total *= scale;");
  writer.line(fmt::format("LUMEN_ELEMENTS(c, {}) sums[c] *= scale;", sums));
  writer.close();
  writer.know(form.top.node, form.top.at, "used");
  open_elements(writer, fmt::format(fmt::runtime(head), "+:more"), key);
  writer.line("const int64_t i3 = first + j;");
  writer.line("const float x = s[j];");
  writer.know(form.product.node, form.product.at, "x");
  if (maps) {
    writer.line("const float y = t[j];");
    writer.know(form.scores.node, form.scores.at, "y");
  }
  const NodeId exponent = (*form.graph)[form.weights.node].operands[0];
  const std::string exp2 = form.at_most_one ? name + "_exp2" : "lumen_exp2_f32";
  writer.line(fmt::format("const float w = {}({});", exp2, writer.value(exponent, form.weights.at)));
  writer.line("s[j] = w;");
  writer.line("more += w;");
  writer.close();
  writer.line("*total += more;");
  if (!writer.problem().empty()) return error(writer.problem());
  faults = writer.faults();
  return fmt::format(fmt::runtime(kRow), name, "weigh") +
         ", int64_t first, int64_t count, float* LUMEN_RESTRICT s, float* LUMEN_RESTRICT t, "
         "float* LUMEN_RESTRICT sums, float* top, float* total) {\n" +
         kernel_names(*form.graph) + "  int64_t fault = 0;\n" + writer.text() + "  return fault;\n}\n";
}

Expected<std::string> print_row_store(const Graph& body, const AttentionForm& form, const std::string& name,
                                      std::vector<std::string>& faults) {
  const ContractRoles& roles = form.second;
  const Expr feature = Expr::index(2, roles.extent(Role::column));
  ElementWriter writer(*form.graph, 2, faults);
  // -inf - -inf is what the weights of a row of nothing are made of. A NaN among the scores is no maximum.
  writer.line(fmt::format("const int nothing = top == -lumen_inf_f32() && {} > 0;", writer.index(form.keys())));
  writer.line(
      "const float lost = nothing ? lumen_nan_f32() : 0.0f, l = total + lost, m = l == l || nothing ? top : l;");
  writer.know(form.top.node, form.top.at, "m");
  if (form.total) writer.know(form.total->node, form.total->at, "l");
  open_elements(writer, fmt::format("LUMEN_ELEMENTS(j, {})", writer.index(roles.extent(Role::column))), feature);
  writer.line("const int64_t i2 = j;");
  writer.line("const float x = sums[j] + lost;");
  writer.know(form.result.node, form.result.at, "x");
  for (size_t k = 0; k < body.outputs().size(); ++k) {
    const NodeId value = form.graph->outputs()[k].value;
    if ((*form.graph)[value].type.shape != (*form.graph)[form.result.node].type.shape) {
      return error(fmt::format("an output of attention has the shape {} of its result, not {}",
                               (*form.graph)[form.result.node].type.shape.str(),
                               (*form.graph)[value].type.shape.str()));
    }
    const std::string element = writer.value(value, form.result.at);
    writer.line(store_statement(body, k, writer.index(roles.result.flat_index(form.result.at)), element));
  }
  writer.close();
  if (!writer.problem().empty()) return error(writer.problem());
  faults = writer.faults();
  return fmt::format(fmt::runtime(kRow), name, "store") + ", const float* sums, float top, float total) {\n" +
         kernel_names(*form.graph) + "  int64_t fault = 0;\n" + writer.text() + "  return fault;\n}\n";
}

}  // namespace lumen
