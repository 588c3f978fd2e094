// Model: turns one piece of text into ids. Immutable, so that any thread may encode; what it needs meanwhile is
// Scratch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen::text {

// A part of a piece: a character at first, then what was merged. A list by index.
struct Symbol {
  int32_t id;  // -1: not in the vocabulary
  uint32_t begin, size;
  int32_t before, after;  // -1: none
};

struct MergeCandidate {
  uint32_t rank;
  uint32_t left;  // index of a Symbol
  uint32_t size;  // of both together: another size means that one of them has changed
  int32_t id;
};

// Memory that is reused from piece to piece.
struct Scratch {
  std::string text;
  std::vector<Symbol> symbols;
  std::vector<MergeCandidate> queue;
  struct BestPath {
    double score;
    int32_t id;
    int32_t begin;  // -1: not reached
  };
  std::vector<BestPath> paths;
  std::vector<int32_t> ids;
};

class Model {
 public:
  virtual ~Model() = default;
  // Appends the ids of `piece`, which is valid UTF-8, not empty and shorter than 2 GiB.
  virtual Expected<void> encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const = 0;
};

}  // namespace lumen::text
