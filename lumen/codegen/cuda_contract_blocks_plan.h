// Columns in quantised blocks whose bytes are copied to shared memory: which bytes those are, and where a lane finds
// its own among them.
//
// The summed axis is in units (turns of contract_runs.h), one for a lane; 32 of them, or all there are, are a stage.
// The bytes of a column's stage lie together, at a multiple of 16 bytes: they are copied as they are, and read at the
// coordinates of column 0 of batch 0, with i4 the number of the unit in its stage.
#pragma once

#include <optional>
#include <vector>

#include "lumen/codegen/contract_scaled.h"
#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/element.h"

namespace lumen {

// Where an index says which of several matrices a batch has: experts.
struct ChosenMatrix {
  Spot index;  // over i0
  Expr extent;
  std::string message;  // when the index is outside
};
// The matrix that is chosen, in the expressions of a plan.
Expr chosen_matrix(Expr extent);

struct BlocksPlan {
  size_t input = 0;
  NodeId node{};  // what has the values at the coordinates of `turns`
  std::optional<ChosenMatrix> chosen;
  Expr first;            // the byte of the input where the first stage of column i2 of batch i0 begins
  int64_t offset = 0;    // the byte of the input where that of column 0 of batch 0 does, in the first matrix
  int64_t elements = 0;  // of a stage
  int64_t bytes = 0;     // of a column's stage, a multiple of 16
  int64_t column = 0;    // bytes of a column, of which the last stage may be shorter
  int64_t length = 0;    // of a run
  std::vector<std::vector<Expr>> turns;  // coordinates of runs, over i4 and i5

  int64_t unit() const { return length * static_cast<int64_t>(turns.size()); }
};

// Nothing when the factor needs anything else than bytes of one input that lie so.
std::optional<BlocksPlan> blocks_plan(const ContractRoles& roles, const FactorIn& factor);

// Bytes that are neighbours along a run, read as words of 4 bytes from the multiple of `align` on that is `skipped`
// bytes before the first. A piece of a run begins at a multiple of `piece`.
struct WordRead {
  ElementWriter::Read read;
  int64_t align = 0, skipped = 0;
};
std::optional<WordRead> word_read(const ElementWriter::Read& read, int64_t length, int64_t piece);

// Integers of a ScaledRun that lie in bytes: the byte at `read` holds an integer of `bits`, from bit `shift` on.
struct StoredIntegers {
  ElementWriter::Read read;
  int64_t bits = 0, shift = 0;
  bool is_signed = false;
};
std::optional<StoredIntegers> stored_integers(const Graph& graph, const Spot& integer);

}  // namespace lumen
