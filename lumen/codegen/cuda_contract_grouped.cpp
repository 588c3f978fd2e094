#include "lumen/codegen/cuda_contract_grouped.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_sums.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int kSortThreads = 1024;
constexpr int64_t kMostGroups = 4096;  // two integers of each are in shared memory

Expr batches(const ContractRoles& roles) { return roles.extent(Role::batch); }

}  // namespace

Expected<ContractRoles> grouped_roles(const Graph& body) { return contract_roles(body, false, true); }

std::optional<Choice> grouped_choice(const ContractRoles& roles) {
  if (!(roles.extent(Role::row) == Expr(1)) || !roles.sums.empty()) return std::nullopt;
  if (bounds(batches(roles)).hi > INT32_MAX) return std::nullopt;
  std::optional<Choice> common;
  for (const NodeId columns : roles.columns) {
    ElementWriter writer(*roles.graph, 0);
    const std::optional<StoredFactor> stored = stored_factor(roles, *roles.graph, columns, &writer);
    if (!stored || stored->choices.size() != 1) return std::nullopt;
    const Choice& choice = stored->choices[0];
    if (common && (choice.index != common->index || choice.at != common->at || !(choice.extent == common->extent))) {
      return std::nullopt;
    }
    common = choice;
    for (const Expr& v : variables(stored->index)) {
      if (v.kind() == ExprKind::index && v.index_number() == static_cast<int>(Role::batch)) return std::nullopt;
    }
  }
  const std::optional<int64_t> groups = common->extent.constant();
  return groups && *groups <= kMostGroups ? common : std::nullopt;
}

Expected<void> check_grouped(const ContractRoles& roles, const CudaContractSchedule& s) {
  if (s.parts > 1) return error(fmt::format("parts of the summed axis, as the schedule \"{}\" wants", s.str()));
  if (grouped_choice(roles)) return {};
  return error(fmt::format("nothing chooses columns of batches alone, as the schedule \"{}\" wants", s.str()));
}

Expr grouped_tiles(const ContractRoles& roles, const CudaContractSchedule& s) {
  return min(grouped_choice(roles)->extent, batches(roles)) + batches(roles) / s.rows;
}

std::string groups_text(const Graph& body, const ContractRoles& roles) {
  return fmt::format("  int32_t* const order = (int32_t*)LUMEN_OUT({0});\n  int32_t* const tiles = order + {1};\n",
                     body.outputs().size(), number(batches(roles)));
}

Expected<void> add_groups(const Graph& body, const ContractRoles& roles, const std::string& name,
                          const CudaContractSchedule& s, KernelText& kernel) {
  const Choice choice = *grouped_choice(roles);
  ElementWriter writer(*roles.graph, 6, kernel.faults);
  const std::string chosen = writer.index(place_of(choice, writer));
  if (!writer.problem().empty()) return error(writer.problem());
  kernel.faults = writer.faults();
  const std::string each = fmt::format("    LUMEN_ELEMENTS(i0, {}) {{\n{}", number(batches(roles)), writer.text());
  // Which place of its group a batch gets is left to chance: what is computed of it does not depend on that.
  const std::string text =
      kernel_head(body, name, kSortThreads) + groups_text(body, roles) +
      fmt::format(
          "  __shared__ int32_t counts[{groups}], starts[{groups}], used;\n"
          "  LUMEN_ROWS(row) {{\n"
          "    LUMEN_ELEMENTS(g, {groups}) counts[g] = 0;\n    __syncthreads();\n"
          "{each}      atomicAdd(counts + {chosen}, 1);\n    }}\n    __syncthreads();\n"
          "    LUMEN_ELEMENTS(g, {groups}) {{\n"
          "      int32_t first = 0, tile = 0;\n"
          "      for (int32_t before = 0; before < g; ++before) {{\n"
          "        first += counts[before], tile += (counts[before] + {last}) / {rows};\n      }}\n"
          "      const int32_t end = first + counts[g];\n"
          "      starts[g] = first;\n"
          "      for (int32_t at = first; at < end; at += {rows}, ++tile) {{\n"
          "        tiles[2 * tile] = at, tiles[2 * tile + 1] = at + {rows} < end ? at + {rows} : end;\n      }}\n"
          "      if (g == {groups} - 1) used = tile;\n    }}\n    __syncthreads();\n"
          "    LUMEN_RANGE(tile, used, {most}) tiles[2 * tile] = tiles[2 * tile + 1] = 0;\n"
          "{each}      order[atomicAdd(starts + {chosen}, 1)] = (int32_t)i0;\n    }}\n    __syncthreads();\n"
          "  }}\n  LUMEN_RETURN;\n}}\n",
          fmt::arg("groups", *choice.extent.constant()), fmt::arg("each", each), fmt::arg("chosen", chosen),
          fmt::arg("rows", s.rows), fmt::arg("last", s.rows - 1), fmt::arg("most", number(grouped_tiles(roles, s))));
  kernel.text = text + kernel.text;
  KernelStep step{name, Expr(1)};
  step.threads = kSortThreads;
  kernel.steps.insert(kernel.steps.begin(), step);
  kernel.scratch = (batches(roles) + grouped_tiles(roles, s) * 2) * 4;
  return {};
}

}  // namespace lumen
