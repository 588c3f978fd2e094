#include "lumen/codegen/contract_store.h"

#include <fmt/format.h>

#include "lumen/codegen/element.h"
#include "lumen/codegen/kernel_text.h"

namespace lumen {

Expected<std::string> print_store(const Graph& body, const ContractRoles& roles, const StorePlan& plan,
                                  std::vector<std::string>& faults) {
  std::string text = fmt::format(
      "static int64_t {}(const void* const* in, void* const* out, const int64_t* dims, int64_t i0, int64_t m, "
      "int64_t rows, int64_t c, int64_t columns",
      plan.function);
  ElementWriter writer(*roles.graph, 6);
  const bool wraps = !is_float(roles.dtype);
  for (size_t k = 0; k < roles.contracts.size(); ++k) {
    text += fmt::format(", const {}* LUMEN_RESTRICT t{}", plan.sum, k);
    const std::string sum = fmt::format("t{}[i * {} + j]", k, plan.step);
    writer.line(fmt::format("const {} x{} = {};", compute_type(roles.dtype), k,
                            wraps ? fmt::format("{}({})", wrap_function(roles.dtype), sum) : sum));
    writer.know(roles.contracts[k], roles.at_result(), fmt::format("x{}", k));
  }
  for (size_t k = 0; k < body.outputs().size(); ++k) {
    const std::string value = writer.value(roles.graph->outputs()[k].value, roles.at_result());
    writer.line(store_statement(body, k, writer.index(roles.result.flat_index(roles.at_result())), value));
  }
  if (!writer.problem().empty()) return error(writer.problem());
  text += fmt::format(
      ") {{\n{}  int64_t fault = 0;\n"
      "  for (int64_t i = 0; i < rows; ++i) {{\n"
      "    const int64_t i1 = m + i;\n"
      "    LUMEN_ELEMENTS(j, columns) {{\n"
      "      const int64_t i2 = c + j;\n{}    }}\n  }}\n"
      "  return fault != 0 ? fault + {} : 0;\n}}\n",
      kernel_names(body), writer.text(), faults.size());
  faults.insert(faults.end(), writer.faults().begin(), writer.faults().end());
  return text;
}

}  // namespace lumen
