#include "lumen/codegen/cuda_contract_row_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lumen/codegen/contract_sums.h"
#include "lumen/hlir/reduce.h"
#include "lumen/kernel/contract.h"

namespace lumen {

namespace {

constexpr int64_t kMostReads = 16;  // elements of a thread that are read before the first is added

bool needs_contract(const Graph& graph, NodeId id) {
  std::set<NodeId> seen{id};
  std::vector<NodeId> open{id};
  while (!open.empty()) {
    const Node& node = graph[open.back()];
    open.pop_back();
    if (node.is<llir::Contract>()) return true;
    for (const NodeId operand : node.operands) {
      if (seen.insert(operand).second) open.push_back(operand);
    }
  }
  return false;
}

}  // namespace

RowSums::RowSums(const ContractRoles& roles, const CudaContractSchedule& schedule, int64_t place)
    : roles_(roles), s_(schedule), place_(place), warps_(schedule.threads / kWarp) {}

Expected<void> RowSums::check(const ContractRoles& roles, const CudaContractSchedule& schedule) {
  if (roles.sums.empty()) return {};
  const bool summing = schedule.method == CudaContractMethod::dot || schedule.method == CudaContractMethod::blocks;
  const Expr rows = roles.extent(Role::row);
  const bool one = roles.extent(Role::batch) == Expr(1) && rows.is_constant() && *rows.constant() <= schedule.rows;
  if (!summing || !one || schedule.parts > 1) {
    return error(fmt::format("a Contract with reductions has one tile of rows, whose blocks dot; \"{}\" has not",
                             schedule.str()));
  }
  for (const NodeId id : roles.sums) {
    const Node& node = (*roles.graph)[id];
    if (node.is<hlir::SumReduce>() && node.type.dtype == f32 && node.type.shape.numel() == rows) continue;
    return error(fmt::format("a Contract with {} rows of results sums rows in f32, but this is a {} of type {}",
                             plain_number(rows), node.op->name, node.type.str()));
  }
  for (const Output& output : roles.graph->outputs()) {
    if (needs_contract(*roles.graph, output.value)) continue;
    return error(fmt::format("a row of type {} that is stored: whoever waits for it would wait for a Contract, too",
                             (*roles.graph)[output.value].type.str()));
  }
  return {};
}

int64_t RowSums::shared() const { return (std::ssize(roles_.sums) * s_.rows * warps_ * 4 + 127) / 128 * 128; }

std::vector<Expr> RowSums::at(NodeId sum) const {
  return unflatten(Expr::index(static_cast<int>(Role::row), roles_.extent(Role::row)), (*roles_.graph)[sum].type.shape);
}

void RowSums::know(ElementWriter& writer) const {
  for (size_t k = 0; k < roles_.sums.size(); ++k) writer.know(roles_.sums[k], at(roles_.sums[k]), name(k));
}

std::string RowSums::names_in(const std::string& text, const std::string& row, int indent) const {
  std::string lines;
  for (size_t k = 0; k < roles_.sums.size(); ++k) {
    if (text.find(name(k)) == std::string::npos) continue;
    lines += fmt::format("{}const float {} = lumen_add_up<{}>((const float*)(shared + {}) + ({} + {}) * {});\n",
                         std::string(static_cast<size_t>(indent), ' '), name(k), warps_, place_,
                         static_cast<int64_t>(k) * s_.rows, row, warps_);
  }
  return lines;
}

Expected<std::string> RowSums::sum_text(size_t number, std::vector<std::string>& faults) const {
  const Node& node = (*roles_.graph)[roles_.sums[number]];
  ElementWriter writer(*roles_.graph, 10, faults);
  for (size_t k = 0; k < number; ++k) writer.know(roles_.sums[k], at(roles_.sums[k]), name(k));
  const int64_t axis = node.as<hlir::SumReduce>().axis;
  const Expr depth = writer.rename((*roles_.graph)[node.operands[0]].type.shape)[axis];
  std::vector<Expr> element = at(roles_.sums[number]);
  element.insert(element.begin() + axis, Expr::index(static_cast<int>(Role::summed), depth));
  const std::string value = writer.value(node.operands[0], element);
  if (!writer.problem().empty()) return error(writer.problem());
  faults = writer.faults();
  // Turns whose number is known are all under way together.
  const std::optional<int64_t> known = depth.constant();
  const bool even = known && *known % s_.threads == 0 && *known > 0;
  const std::string loop = even ? fmt::format(
                                      "LUMEN_UNROLL_BY({}) for (Index turn = 0; turn < {}; ++turn) {{\n"
                                      "          const Index i3 = turn * {} + (Index)threadIdx.x;\n",
                                      std::min(kMostReads, *known / s_.threads), *known / s_.threads, s_.threads)
                                : fmt::format("LUMEN_UNROLL_BY(8) for (Index i3 = threadIdx.x; i3 < {}; i3 += {}) {{\n",
                                              plain_number(depth), s_.threads);
  return fmt::format(
      "      LUMEN_UNROLL for (int r = 0; r < {M}; ++r) {{\n"
      "        const Index i1 = m0 + r;\n{names}        float own = 0;\n"
      "        {loop}{text}          own += {value};\n        }}\n"
      "        LUMEN_UNROLL for (int step = 16; step > 0; step /= 2) own += __shfl_xor_sync(0xffffffffu, own, step);\n"
      "        if (lane == 0) ((float*)(shared + {place}))[({first} + r) * {W} + warp] = own;\n      }}\n"
      "      __syncthreads();\n",
      fmt::arg("M", plain_number(roles_.extent(Role::row))), fmt::arg("names", names_in(writer.text(), "r", 8)),
      fmt::arg("loop", loop), fmt::arg("text", writer.text()), fmt::arg("value", value), fmt::arg("place", place_),
      fmt::arg("first", static_cast<int64_t>(number) * s_.rows), fmt::arg("W", warps_));
}

Expected<std::string> RowSums::text(std::vector<std::string>& faults) const {
  std::string text;
  for (size_t k = 0; k < roles_.sums.size(); ++k) text += LUMEN_TRY(sum_text(k, faults));
  return text.empty() ? text : "      if (kk == k0) {\n" + text + "      }\n";
}

}  // namespace lumen
