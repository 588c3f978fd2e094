// How a fold kernel walks over what it reduces.
//
// An item is what one call of the kernel's loop over rows does: one row, or a tile of neighbouring columns where the
// innermost dim is not reduced, or a chunk of either where there are too few of them for the threads. The element
// x[b,h,w,c] of a sum over h and w, for a tile of c:
//
//   items   i0 = b, i1 = tile, i2 = chunk        loops   i4 = h*W + w        column   i3 = first + l
#pragma once

#include <vector>

#include "lumen/codegen/fold.h"
#include "lumen/codegen/fold_plan.h"

namespace lumen {

struct FoldLoop {
  Expr variable;  // an Expr::index, with the range of the dims it walks over
  Expr extent;
};

// Neighbouring dims that are walked over as one, where the indices allow it.
struct FoldMerges {
  bool rows = true;
  bool columns = true;
  bool reduced = true;
};

struct FoldLayout {
  std::vector<Expr> items;  // extents: kept dims, tiles, chunks; i0, i1, … in the text
  int64_t tile = 0;         // columns at most; 0: an item is a row
  FoldLoop column;
  std::vector<FoldLoop> loops;  // over the reduced dims, the outermost first
  Expr chunk = 0;               // of the outermost loop; 0: items are whole
  std::vector<Expr> row;        // coordinates in the result
  std::vector<Expr> element;    // coordinates in what is reduced
  bool stack_first = false;     // FoldSchedule
  int64_t held = 0;             // FoldSchedule
  bool early = false;           // FoldSchedule

  bool is_split() const { return !(chunk == Expr(0)); }
  Expr chunks() const { return items.back(); }
  int tile_number() const { return static_cast<int>(items.size()) - 2; }
  int chunk_number() const { return static_cast<int>(items.size()) - 1; }
};

// `whole` is the plan's, in terms of n0, n1, …. Few items become chunks, if there is work for several.
FoldLayout lay_out_fold(const FoldPlan& plan, const Shape& whole, FoldMerges merges, const FoldSchedule& schedule);

}  // namespace lumen
