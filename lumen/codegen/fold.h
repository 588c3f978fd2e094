// Fold kernels: reductions over some axes, with whatever is elementwise before, between and after them. A row is read
// as often as reductions depend on each other, and once more to write results as long as itself: softmax takes three
// loops over a row that stays in the nearest cache. What is dear to compute and needed by several of these loops is
// kept: in an output of its type, or in a row on the stack.
//
// Rows are reduced in vectors along their innermost axis; where that axis is not reduced, many columns at once. Sums of
// floats are made of sums of blocks, so that their error stays small when they are long. Few long rows are cut into
// chunks: a step for every reduction that others depend on, and one that combines the chunks' results.
#pragma once

#include <string>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"
#include "lumen/kernel/target.h"

namespace lumen {

struct FoldSchedule {
  int64_t split_below = 8;     // fewer rows (or tiles of columns) than this are cut into chunks
  int64_t split_from = 0;      // where they have so many elements
  int64_t chunk_work = 65536;  // of about so many elements at least
  int64_t most_chunks = 64;    // of a row: every later step reads their results
  int64_t most_items = 512;    // chunks of all rows
  int64_t held = 16;           // registers of a GPU's thread for what it holds of a row, where rows are many
  bool early = false;        // for a GPU: what outputs read along a row is read before the row is reduced, if that fits
  bool stack_first = false;  // for kept values: where outputs are stored past the caches, they are no place for them
};

// An error when there is no reduction, two reductions are not over the same axes of the same shape, or an output is
// neither a value by row nor by element of the rows. Reductions of several axes are chains: a sum of sums, a maximum of
// maxima, that nothing else reads.
Expected<KernelText> print_fold(const Graph& body, const std::string& name, const FoldSchedule& schedule = {});

// For a GPU: chunks for all its multiprocessors. An error where nothing is cut.
Expected<KernelText> print_cuda_fold(const Graph& body, const std::string& name, const Target& target);
// For a GPU: rows are reduced while what outputs read beside them, such as the weights of a norm, is on its way. An
// error where there is nothing such.
Expected<KernelText> print_cuda_early_fold(const Graph& body, const std::string& name);
// For a GPU: fewer threads a row than of print_fold, which hold more of it each. An error where that is the same.
Expected<KernelText> print_cuda_held_fold(const Graph& body, const std::string& name);

}  // namespace lumen
