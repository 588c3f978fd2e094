#include "lumen/codegen/contract_skinny_frame.h"

#include <fmt/format.h>

#include <algorithm>

namespace lumen {

std::string SkinnyFrame::row_element(int64_t row, const std::string& k) const {
  const bool constant = plain && plain->summed == Expr(0);
  return fmt::format("x[{} * step{}]", row, constant ? "" : " + " + k);
}

std::string SkinnyFrame::fetch_ahead(size_t side, const ElementWriter& writer, int64_t run, int64_t turn) const {
  return fetch_page_ahead(*columns[side].graph, writer, Expr::index(5, run), turn, 5);
}

std::string fetch_page_ahead(const Graph& graph, const ElementWriter& writer, Expr variable, int64_t turn, int known) {
  constexpr int64_t kLine = 64;
  const std::span<const NodeId> inputs = graph.inputs();
  const auto in_scope = [&](Expr v) {
    return v == variable || v.kind() != ExprKind::index || v.index_number() <= known;
  };
  std::string lines;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const auto is_along = [&](const ElementWriter::Access& access) {
      return access.input == inputs[k] && depends_on(access.place, variable) &&
             std::ranges::all_of(variables(access.place), in_scope);
    };
    const auto access = std::ranges::find_if(writer.accesses(), is_along);
    if (access == writer.accesses().end()) continue;
    const std::pair<Expr, Expr> first[] = {{variable, Expr(0)}};
    const std::string place = print_c(substitute(access->place, first)).text;
    for (int64_t byte = 0; byte < turn * access->bits / 8; byte += kLine) {
      lines += fmt::format("      __builtin_prefetch((const char*)a{} + ({}) * {} / 8 + {});\n", k, place, access->bits,
                           kPage + byte);
    }
  }
  return lines;
}

}  // namespace lumen
