#include "lumen/codegen/contract_sums.h"

#include <fmt/format.h>

#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/cuda_contract_row_sums.h"
#include "lumen/codegen/element.h"

namespace lumen {

std::string plain_number(Expr e) { return print_c(e).text; }

std::string sum_type(DType dtype) { return vector_types(dtype).sum; }
int64_t sum_bytes(DType dtype) { return vector_types(dtype).sum_bytes; }

SumsStore::SumsStore(const Graph& body, const ContractRoles& roles, std::vector<std::string> faults)
    : body_(body), roles_(roles), faults_(std::move(faults)) {}

std::string SumsStore::sum_line(size_t side, const std::string& sum, int indent) const {
  const std::string_view type = compute_type(roles_.dtype);
  const std::string wrapped =
      is_float(roles_.dtype) ? sum : fmt::format("{}(({}){})", wrap_function(roles_.dtype), type, sum);
  return fmt::format("{}const {} x{} = {};\n", std::string(static_cast<size_t>(indent), ' '), type, side, wrapped);
}

Expected<std::string> SumsStore::outputs(std::span<const Expr> at, int indent, const RowSums* sums) {
  ElementWriter writer(*roles_.graph, indent, faults_);
  if (sums != nullptr) sums->know(writer);
  for (size_t k = 0; k < roles_.contracts.size(); ++k) writer.know(roles_.contracts[k], at, fmt::format("x{}", k));
  for (size_t k = 0; k < body_.outputs().size(); ++k) {
    const std::string value = writer.to_store(roles_.graph->outputs()[k].value, at);
    writer.line(store_statement(body_, k, writer.index(roles_.result.flat_index(at)), value));
  }
  if (!writer.problem().empty()) return error(writer.problem());
  faults_ = writer.faults();
  return writer.text();
}

Expected<void> SumsStore::settle(const std::string& name, int64_t parts, KernelText& kernel) {
  const auto sides = std::ssize(roles_.contracts);
  const std::string type = sum_type(roles_.dtype);
  const Expr all = roles_.result.numel();
  std::string inside;
  for (int64_t side = 0; side < sides; ++side) {
    inside += fmt::format(
        "    {0} all{1} = 0;\n"
        "    for (int64_t part = 0; part < {2}; ++part) all{1} += partial[(part * {3} + {1}) * {4} + row];\n",
        type, side, parts, sides, plain_number(all));
    inside += sum_line(static_cast<size_t>(side), fmt::format("all{}", side), 4);
  }
  const std::vector<Expr> at = roles_.result.coordinates();
  inside += LUMEN_TRY(outputs(at, 4));
  const bool shares_bytes = grain_of(body_) > 1;
  kernel.text +=
      kernel_head(body_, name) +
      fmt::format("  const {0}* LUMEN_RESTRICT const partial = (const {0}*)LUMEN_OUT({1});\n  {2}(row) {{\n{3}{4}",
                  type, body_.outputs().size(), shares_bytes ? "LUMEN_ORDERED_ROWS" : "LUMEN_ELEMENT_ROWS",
                  row_coordinates(roles_.result, 4), inside) +
      "  }\n  LUMEN_RETURN;\n}\n";
  KernelStep step{name, all, grain_of(body_)};
  step.block_rows = kBlockThreads * (shares_bytes ? 8 : 1);
  kernel.steps.push_back(std::move(step));
  kernel.scratch = all * (parts * sides * sum_bytes(roles_.dtype));
  return {};
}

}  // namespace lumen
