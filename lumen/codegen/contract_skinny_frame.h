// What the innermost loops of products with few rows have in common, whatever their columns are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lumen/codegen/contract.h"
#include "lumen/codegen/contract_roles.h"
#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/element.h"

namespace lumen {

// How many bytes ahead of what is read memory is asked for what follows. What is unpacked or widened is used so slowly
// that neither the processor nor its own fetching looks as far ahead as memory is away: with 110M weights of bf16 a
// token took 1.5 times as long without, with Q8_0 1.85 times. Sums of f32 gain nothing.
inline constexpr int64_t kPage = 4096;

// Fetches what inputs of a graph have a page further on, where `writer` reads them along `variable`: all that `turn`
// elements take. The other coordinates are known there, up to number `known`.
std::string fetch_page_ahead(const Graph& graph, const ElementWriter& writer, Expr variable, int64_t turn, int known);

struct SkinnyFrame {
  const ContractRoles& roles;
  std::string name;  // of the kernel
  ContractSchedule schedule;
  TileTypes types;
  Expr depth;                        // of the sums
  std::optional<PlainFactor> plain;  // the rows, when they are read where they lie
  std::vector<FactorIn> columns;     // what is multiplied with them, side by side

  bool dots() const { return schedule.method == ContractMethod::dot; }
  // Whether rows are 16-bit integers with a scale for each block.
  bool is_fixed() const { return schedule.blocks == 2; }
  // The element of a row at the summed coordinate `k`, in C.
  std::string row_element(int64_t row, const std::string& k) const;
  // Fetches what a column of a side has a page further on, where other columns follow it: all that a turn reads, of
  // which `writer` has a run.
  std::string fetch_ahead(size_t side, const ElementWriter& writer, int64_t run, int64_t turn) const;
};

}  // namespace lumen
