// Schedules as lines of text: "gemm mr=14 nr=32 kc=256". What the kinds of kernel that have schedules share.
//
// A schedule is a struct with a `method` and sizes. The words of the methods and the names of the sizes are tables of
// pairs; sizes that are 0 are left out.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lumen/base/expected.h"
#include "lumen/ir/expr.h"

namespace lumen {

template <class Method, size_t n>
using MethodWords = std::array<std::pair<Method, std::string_view>, n>;
template <class Schedule, size_t n>
using SizeNames = std::array<std::pair<std::string_view, int64_t Schedule::*>, n>;

// The first word of `text`, which loses it.
inline std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

template <class Schedule, class Method, size_t m, size_t n>
std::string schedule_text(const Schedule& schedule, const MethodWords<Method, m>& methods,
                          const SizeNames<Schedule, n>& sizes) {
  std::string text;
  for (const auto& [value, word] : methods) {
    if (value == schedule.method) text = word;
  }
  for (const auto& [word, size] : sizes) {
    if (schedule.*size != 0) text += " " + std::string(word) + "=" + std::to_string(schedule.*size);
  }
  return text;
}

// `of` says of what, for the message.
template <class Schedule, class Method, size_t m, size_t n>
Expected<Schedule> parse_schedule(std::string_view text, const MethodWords<Method, m>& methods,
                                  const SizeNames<Schedule, n>& sizes, std::string_view of) {
  const std::string_view whole = text;
  const auto refuse = [&](std::string_view word) {
    return error("\"" + std::string(word) + "\" in the schedule \"" + std::string(whole) + "\" of " + std::string(of));
  };
  Schedule schedule;
  const std::string_view first = next_word(text);
  const auto method = std::ranges::find(methods, first, [](const auto& each) { return each.second; });
  if (method == methods.end()) return refuse(first);
  schedule.method = method->first;
  while (!text.empty()) {
    const std::string_view word = next_word(text);
    const auto size =
        std::ranges::find(sizes, word.substr(0, word.find('=')), [](const auto& each) { return each.first; });
    if (size == sizes.end() || word.size() < size->first.size() + 2) return refuse(word);
    const std::string_view digits = word.substr(size->first.size() + 1);
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), schedule.*size->second);
    if (status != std::errc() || end != digits.data() + digits.size()) return refuse(word);
  }
  return schedule;
}

inline int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

// The pieces of `most` or less that an axis falls into, of nearly one length, which is a multiple of `unit`.
inline int64_t even_piece(Expr extent, int64_t most, int64_t unit) {
  const std::optional<int64_t> length = extent.constant();
  if (!length || *length == 0) return most;
  const int64_t pieces = (*length + most - 1) / most;
  return std::min(most, round_up((*length + pieces - 1) / pieces, unit));
}

}  // namespace lumen
