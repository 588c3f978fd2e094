// By which bounds keys are left out of a row. A mask that says `key <= positions[row]` is a bound that is computed once
// a row, whatever the mask is made of: data, coordinates, windows of both. With it blocks of keys that no row sees are
// never read, those that all rows see need no mask, and for the others two integers are compared.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "lumen/codegen/attention_form.h"

namespace lumen {

// Of a row at i0 and i1: an integer that is computed, or 0, and what is added to it.
struct KeyBound {
  bool is_end = false;  // keys from it on are left out; else keys before it are
  std::optional<Element> value;
  Expr offset;
};

struct KeyBounds {
  // A score is -inf where its key is outside of any of these.
  std::vector<KeyBound> all;
  // Selects that are one of their operands where its key is inside of all.
  struct Mask {
    Element select;
    NodeId inside;
  };
  std::vector<Mask> masks;      // the outermost first
  std::optional<double> scale;  // inside, a score is so many times the product, and nothing else

  bool has_begins() const {
    return std::ranges::any_of(all, [](const KeyBound& each) { return !each.is_end; });
  }
};

// Elements are at coordinates of the second system of `form`. Nothing is found for more than 2^30 keys.
KeyBounds key_bounds(const AttentionForm& form);

}  // namespace lumen
