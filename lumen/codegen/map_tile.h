// Tiles of map kernels that turn their input around: an input whose neighbours lie along another dim of the output than
// the last one is read tile by tile, in its own order, into a small buffer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lumen/codegen/element.h"
#include "lumen/codegen/kernel_text.h"

namespace lumen {

// How the output is walked over: a loop for every dim before `split`, and one for all from there on. Variables are
// i0, i1, … in this order.
struct MapLoops {
  Shape outer, inner;
  MapLoops(const Shape& shape, int64_t split);
  std::vector<Expr> variables() const;
  // The coordinates of the output, with these for the variables.
  std::vector<Expr> at(std::span<const Expr> variables) const;
};

struct MapTiling {
  size_t loop = 0;  // along which the staged reads are neighbours; a tile is of this one and the last
  std::vector<ElementWriter::Read> staged;
};

// `reads` are in terms of the loops' variables.
std::optional<MapTiling> find_tiling(const Graph& body, const MapLoops& loops,
                                     std::span<const ElementWriter::Read> reads);

KernelText print_tiled_map(const Graph& body, const MapLoops& loops, const MapTiling& tiling, const std::string& name);

}  // namespace lumen
