// The candidate a person most likely meant: "did you mean `Maximum`?".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lumen {

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`; ASCII case is ignored.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the smallest edit distance, the first of equals; none when even that is a third of the word
// away (at least 2 edits are allowed).
std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace lumen
