#include "lumen/codegen/contract_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/element.h"
#include "lumen/codegen/kernel_text.h"

namespace lumen {

namespace {

// The statements for one element of a tile, over i0, i1, and i2 or what it is split in.
Expected<ElementWriter> write_element(const Graph& body, const ContractRoles& roles, const StorePlan& plan,
                                      std::span<const Expr> at) {
  ElementWriter writer(*roles.graph, 6);
  const bool wraps = !is_float(roles.dtype);
  for (size_t k = 0; k < roles.contracts.size(); ++k) {
    const std::string sum = fmt::format("t{}[i * {} + l]", k, plan.step);
    writer.line(fmt::format("const {} x{} = {};", compute_type(roles.dtype), k,
                            wraps ? fmt::format("{}({})", wrap_function(roles.dtype), sum) : sum));
    writer.know(roles.contracts[k], at, fmt::format("x{}", k));
  }
  for (size_t k = 0; k < body.outputs().size(); ++k) {
    const std::string value = writer.to_store(roles.graph->outputs()[k].value, at);
    if (plan.past) {
      writer.line(
          fmt::format("line{}[l] = {}({});", k, store_function(body[body.outputs()[k].value].type.dtype), value));
    } else {
      writer.line(store_statement(body, k, writer.index(roles.result.flat_index(at)), value));
    }
  }
  if (!writer.problem().empty()) return error(writer.problem());
  return writer;
}

// Where a row of each output waits until it is whole, and how it leaves.
std::string lines(const Graph& body, const StorePlan& plan) {
  std::string text;
  for (size_t k = 0; k < body.outputs().size(); ++k) {
    text += fmt::format("    {} line{}[{}] __attribute__((aligned(64)));\n",
                        storage_type(body[body.outputs()[k].value].type.dtype), k, plan.step);
  }
  return text;
}
std::string stream_lines(const Graph& body, const ContractRoles& roles) {
  std::string text = "    const int64_t i2 = c;\n";
  for (size_t k = 0; k < body.outputs().size(); ++k) {
    text += fmt::format("    lumen_stream(r{0} + {1}, line{0}, columns * (int64_t)sizeof line{0}[0]);\n", k,
                        print_c(roles.result.flat_index(roles.at_result())).text);
  }
  return text;
}

}  // namespace

bool has_lines(const Graph& body, const ContractRoles& roles) {
  const std::optional<Expr> step = step_of(roles, roles.result.flat_index(roles.at_result()), Role::column);
  const auto is_whole = [&](const Output& output) { return !is_packed(body[output.value].type.dtype); };
  return step && *step == Expr(1) && std::ranges::all_of(body.outputs(), is_whole);
}

Expected<std::string> print_store(const Graph& body, const ContractRoles& roles, const StorePlan& plan,
                                  std::vector<std::string>& faults) {
  if (plan.past && !has_lines(body, roles)) return error("results past the caches must be neighbours along columns");
  const ElementWriter writer = LUMEN_TRY(write_element(body, roles, plan, roles.at_result()));
  std::string columns =
      fmt::format("    LUMEN_ELEMENTS(l, columns) {{\n      const int64_t i2 = c + l;\n{}    }}\n", writer.text());
  if (writer.divisions() > 0 && !(roles.widths[static_cast<size_t>(Role::column)] == Expr(1))) {
    const std::vector<Expr> split = split_coordinates(roles, Role::column);
    const auto at = std::span(split).first(static_cast<size_t>(roles.result.rank()));
    const ElementWriter in_runs = LUMEN_TRY(write_element(body, roles, plan, at));
    columns = loop_in_runs(roles, Role::column, "c", "columns", in_runs.text());
  }
  if (plan.past) columns = lines(body, plan) + columns + stream_lines(body, roles);
  std::string text = fmt::format(
      "static LUMEN_SHORT int64_t {}(const void* const* in, void* const* out, const int64_t* dims, int64_t i0, int64_t "
      "m, "
      "int64_t rows, int64_t c, int64_t columns",
      plan.function);
  for (size_t k = 0; k < roles.contracts.size(); ++k) {
    text += fmt::format(", const {}* LUMEN_RESTRICT t{}", plan.sum, k);
  }
  text += fmt::format(
      ") {{\n{}  int64_t fault = 0;\n"
      "  for (int64_t i = 0; i < rows; ++i) {{\n"
      "    const int64_t i1 = m + i;\n{}  }}\n"
      "  return {};\n}}\n",
      kernel_names(body), columns, fault_number(faults.size()));
  faults.insert(faults.end(), writer.faults().begin(), writer.faults().end());
  return text;
}

}  // namespace lumen
