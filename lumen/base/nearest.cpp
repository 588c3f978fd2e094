#include "lumen/base/nearest.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lumen {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table; the row before last is for swapped neighbours.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> candidates) {
  size_t best = std::max<size_t>(2, word.size() / 3) + 1;
  std::optional<std::string> found;
  for (std::string_view candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    // A distance of the whole word is no likeness at all ("ab" and "xy").
    if (distance >= best || distance >= std::max(word.size(), candidate.size())) continue;
    best = distance;
    found = std::string(candidate);
  }
  return found;
}

}  // namespace lumen
