#include "lumen/codegen/attention_rows.h"

#include <fmt/format.h>

#include <algorithm>

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

// As lumen_exp2_f32, without what only numbers above 1 and below the normal range need: 2^-127 has the bits of 0. The
// rough polynomial is the best of its degree, to 2.6e-6: bf16 has no more than 8 bits.
std::string print_weight_exp2(const std::string& name, bool rough) {
  const std::vector<const char*> polynomial =
      rough ? std::vector{"0.00957010059f", "0.0559178602f", "0.240247449f", "0.693121815f", "0.999999261f"}
            : std::vector{"0.000154531634f",
                          "0.00133908633f",
                          "0.00961808302f",
                          "0.0555035695f",
                          "0.240226507f",
                          "0.693147182f",
                          "1.0f"};
  std::string text = fmt::format(
      "LUMEN_FN float {}_exp2(float x) {{\n"
      "  const float c = lumen_at_least_f32(x, -127.0f);\n"
      "  const float shifted = c + 12582912.0f;\n"
      "  const float f = c - (shifted - 12582912.0f);\n"
      "  float p = {};\n",
      name, polynomial[0]);
  for (size_t k = 1; k < polynomial.size(); ++k) text += fmt::format("  p = lumen_fma_f32(p, f, {});\n", polynomial[k]);
  return text + "  return p * lumen_from_bits_f32((lumen_bits_f32(shifted) << 23) + 0x3f800000u);\n}\n";
}

namespace {

// The function of print_weigh(): a loop for the maximum, and one for the weights.
class WeighPrinter {
 public:
  WeighPrinter(const AttentionForm& form, const std::string& name, const WeighPlan& plan,
               const std::vector<std::string>& faults)
      : form_(form), name_(name), plan_(plan), writer_(*form.graph, 2, faults) {
    ElementWriter probe(*form.graph, 0);
    probe.know(form.product.node, form.product.at, "x");
    probe.value(form.scores.node, form.scores.at);
    const std::string text = probe.text();
    keeps_ = std::count(text.begin(), text.end(), '\n') > kCheap;
  }

  Expected<std::string> print(std::vector<std::string>& faults) {
    writer_.line(fmt::format("float most[{0}], more[{0}];", plan_.lanes));
    writer_.line(fmt::format("LUMEN_ELEMENTS(l, {}) most[l] = -lumen_inf_f32(), more[l] = 0;", plan_.lanes));
    over_keys([&] { find_most(); });
    for (int64_t half = plan_.lanes / 2; half > 0; half /= 2) {
      writer_.line(
          fmt::format("LUMEN_ELEMENTS(l, {0}) most[l] = most[l + {0}] > most[l] ? most[l + {0}] : most[l];", half));
    }
    print_growth();
    writer_.know(form_.top.node, form_.top.at, "used");
    over_keys([&] { find_weights(); });
    if (plan_.narrow) writer_.line("for (int64_t j = count; j % 32 != 0; ++j) w[j] = 0;");
    for (int64_t l = 0; l < plan_.lanes; l += kTotals) {
      writer_.line(fmt::format("LUMEN_ELEMENTS(l, {}) total[l] += more[l + {}];", kTotals, l));
    }
    if (!writer_.problem().empty()) return error(writer_.problem());
    faults = writer_.faults();
    return fmt::format(fmt::runtime(kRow), name_, "weigh") +
           fmt::format(
               ", int64_t first, int64_t count, const float* s, {}* w, float* LUMEN_RESTRICT t, "
               "float* LUMEN_RESTRICT sums, float* top, float* LUMEN_RESTRICT total) {{\n",
               plan_.narrow ? "uint16_t" : "float") +
           kernel_names(*form_.graph) + "  int64_t fault = 0;\n" + writer_.text() + "  return fault;\n}\n";
  }

 private:
  static constexpr int64_t kCheap = 8;  // scores of fewer statements are computed again, not kept

  // What is far below everything else weighs nothing: a row without anything has 0 as its maximum.
  void print_growth() {
    writer_.line("const float before = *top, m = most[0] > before ? most[0] : before;");
    writer_.line("const float used = m == -lumen_inf_f32() ? 0.0f : m;");
    writer_.open("if (m > before)");
    writer_.line(fmt::format("const float scale = {}_exp2((before - m) * {:.9e}f);", name_, form_.steepness));
    writer_.line("*top = m;");
    writer_.line(fmt::format("LUMEN_ELEMENTS(l, {}) total[l] *= scale;", kTotals));
    writer_.line(fmt::format("LUMEN_ELEMENTS(c, {}) sums[c] *= scale;", plan_.sums));
    writer_.close();
  }

  // In whole groups of lanes, then what is left over.
  template <class Fn>
  void over_keys(Fn&& element) {
    for (const char* loop : {"LUMEN_FULL", "LUMEN_REST"}) {
      const Expr key = Expr::index(3, form_.keys());
      open_elements(writer_, fmt::format("{}(b, l, {}, 0, count)", loop, plan_.lanes), key);
      writer_.line("const int64_t j = b + l, i3 = first + j;");
      writer_.line("const float x = s[j];");
      writer_.know(form_.product.node, form_.product.at, "x");
      element();
      writer_.close();
    }
  }

  void find_most() {
    const std::string score = writer_.value(form_.scores.node, form_.scores.at);
    if (keeps_) writer_.line(fmt::format("t[j] = {};", score));
    writer_.line(fmt::format("most[l] = {0} > most[l] ? {0} : most[l];", score));
  }

  void find_weights() {
    if (keeps_) {
      writer_.line("const float y = t[j];");
      writer_.know(form_.scores.node, form_.scores.at, "y");
    }
    const std::string exp2 = form_.at_most_one ? name_ + "_exp2" : "lumen_exp2_f32";
    writer_.line(fmt::format("const float e = {}({});", exp2, exponent()));
    // Not negative: rounding needs no care for signs.
    writer_.line(plan_.narrow ? "w[j] = (uint16_t)((lumen_bits_f32(e) + 0x8000u) >> 16);" : "w[j] = e;");
    writer_.line("more[l] += e;");
  }

  // Weights of bf16 let a scale before the exponent and one in it be one.
  std::string exponent() {
    if (plan_.narrow && form_.scale && form_.at_most_one) {
      const double both = *form_.scale * form_.steepness;
      return fmt::format("lumen_fma_f32(x, {:.9e}f, used * {:.9e}f)", both, -form_.steepness);
    }
    const NodeId exponent = (*form_.graph)[form_.weights.node].operands[0];
    return writer_.value(exponent, form_.weights.at);
  }

  const AttentionForm& form_;
  const std::string& name_;
  const WeighPlan& plan_;
  bool keeps_ = false;
  ElementWriter writer_;
};

}  // namespace

Expected<std::string> print_weigh(const AttentionForm& form, const std::string& name, const WeighPlan& plan,
                                  std::vector<std::string>& faults) {
  return WeighPrinter(form, name, plan, faults).print(faults);
}

Expected<std::string> print_row_store(const Graph& body, const AttentionForm& form, const std::string& name,
                                      std::vector<std::string>& faults) {
  const ContractRoles& roles = form.second;
  const Expr feature = Expr::index(2, roles.extent(Role::column));
  ElementWriter writer(*form.graph, 2, faults);
  // -inf - -inf is what the weights of a row of nothing are made of. A NaN among the scores is no maximum.
  writer.line(fmt::format("const int nothing = top == -lumen_inf_f32() && {} > 0;", writer.index(form.keys())));
  writer.line("float total = 0;");
  writer.line(fmt::format("for (int64_t l = 0; l < {}; ++l) total += totals[l];", kTotals));
  writer.line(
      "const float lost = nothing ? lumen_nan_f32() : 0.0f, l = total + lost, m = l == l || nothing ? top : l;");
  writer.know(form.top.node, form.top.at, "m");
  if (form.total) writer.know(form.total->node, form.total->at, "l");
  open_elements(writer, fmt::format("LUMEN_ELEMENTS(j, {})", writer.index(roles.extent(Role::column))), feature);
  writer.line("const int64_t i2 = j;");
  writer.line("const float x = sums[j] + lost;");
  writer.know(form.result.node, form.result.at, "x");
  LUMEN_TRY(store_attention_outputs(writer, body, form));
  writer.close();
  if (!writer.problem().empty()) return error(writer.problem());
  faults = writer.faults();
  return fmt::format(fmt::runtime(kRow), name, "store") + ", const float* sums, float top, const float* totals) {\n" +
         kernel_names(*form.graph) + "  int64_t fault = 0;\n" + writer.text() + "  return fault;\n}\n";
}

Expected<void> store_attention_outputs(ElementWriter& writer, const Graph& body, const AttentionForm& form) {
  for (size_t k = 0; k < body.outputs().size(); ++k) {
    const NodeId value = form.graph->outputs()[k].value;
    if ((*form.graph)[value].type.shape != (*form.graph)[form.result.node].type.shape) {
      return error(fmt::format("an output of attention has the shape {} of its result, not {}",
                               (*form.graph)[form.result.node].type.shape.str(),
                               (*form.graph)[value].type.shape.str()));
    }
    const std::string element = writer.value(value, form.result.at);
    writer.line(store_statement(body, k, writer.index(form.second.result.flat_index(form.result.at)), element));
  }
  return {};
}

}  // namespace lumen
