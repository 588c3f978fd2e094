#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "lumen/codegen/attention.h"
#include "lumen/codegen/attention_direct.h"
#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/attention_pack.h"

namespace lumen {

namespace {

constexpr std::string_view kKind = "attention";

constexpr std::array kMethods = {std::pair{AttentionMethod::vector, std::string_view("vector")},
                                 std::pair{AttentionMethod::amx, std::string_view("amx")},
                                 std::pair{AttentionMethod::direct, std::string_view("direct")}};

constexpr std::array kSizes = {std::pair{std::string_view("mr"), &AttentionSchedule::mr},
                               std::pair{std::string_view("nr"), &AttentionSchedule::nr},
                               std::pair{std::string_view("rows"), &AttentionSchedule::rows},
                               std::pair{std::string_view("keys"), &AttentionSchedule::keys}};

std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

// The pieces of `most` or less that an axis falls into, of nearly one length, which is a multiple of `unit`.
int64_t even_piece(Expr extent, int64_t most, int64_t unit) {
  const std::optional<int64_t> length = extent.constant();
  if (!length || *length == 0) return most;
  const int64_t pieces = (*length + most - 1) / most;
  return std::min(most, round_up((*length + pieces - 1) / pieces, unit));
}

AttentionSchedule vector_schedule(const AttentionForm& form, const Target& target, int64_t rows, int64_t keys) {
  const int64_t lanes = target.vector_bytes / 4;
  const int64_t most = target.vector_bytes == 64 ? 14 : target.vector_bytes == 32 ? 6 : 4;
  AttentionSchedule s;
  s.mr = even_piece(form.rows(), most, 1);
  s.nr = 2 * lanes;
  s.rows = even_piece(form.rows(), std::max(s.mr, rows / s.mr * s.mr), s.mr);
  s.keys = std::min(keys, std::max(s.nr, even_piece(form.keys(), keys, s.nr)));
  return s;
}

AttentionSchedule matrix_schedule(const AttentionForm& form, int64_t rows, int64_t keys) {
  AttentionSchedule s;
  s.method = AttentionMethod::amx;
  s.mr = even_piece(form.rows(), 32, 16);
  s.nr = 32;
  s.rows = even_piece(form.rows(), rows, s.mr);
  s.keys = std::min(keys, even_piece(form.keys(), keys, 32));
  return s;
}

}  // namespace

std::string AttentionSchedule::str() const {
  std::string text(kKind);
  for (const auto& [value, word] : kMethods) {
    if (value == method) text += fmt::format(" {}", word);
  }
  for (const auto& [word, size] : kSizes) {
    if (this->*size != 0) text += fmt::format(" {}={}", word, this->*size);
  }
  return text;
}

Expected<AttentionSchedule> AttentionSchedule::parse(std::string_view text) {
  const std::string_view whole = text;
  const auto refuse = [&](std::string_view word) {
    return error(fmt::format("\"{}\" in the schedule \"{}\" of attention", word, whole));
  };
  AttentionSchedule schedule;
  if (const std::string_view kind = next_word(text); kind != kKind) return refuse(kind);
  const std::string_view first = next_word(text);
  const auto method = std::ranges::find(kMethods, first, [](const auto& m) { return m.second; });
  if (method == kMethods.end()) return refuse(first);
  schedule.method = method->first;
  while (!text.empty()) {
    const std::string_view word = next_word(text);
    const auto size = std::ranges::find(kSizes, word.substr(0, word.find('=')), [](const auto& s) { return s.first; });
    if (size == kSizes.end() || word.size() < size->first.size() + 2) return refuse(word);
    const std::string_view digits = word.substr(size->first.size() + 1);
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), schedule.*size->second);
    if (status != std::errc() || end != digits.data() + digits.size()) return refuse(word);
  }
  return schedule;
}

bool is_attention_schedule(std::string_view text) { return next_word(text) == kKind; }

Expected<std::vector<AttentionSchedule>> attention_schedules(const Graph& body, const Target& target) {
  const AttentionForm form = LUMEN_TRY(attention_form(body));
  std::vector<AttentionSchedule> schedules;
  const auto rows_together = (form.rows() * form.sharers).constant();
  if (rows_together && *rows_together <= kMostDirectRows) {
    AttentionSchedule direct;
    direct.method = AttentionMethod::direct;
    direct.keys = 256;
    if (print_attention(body, "k", direct, target).ok()) schedules.push_back(direct);
  }
  std::vector<AttentionSchedule> candidates;
  if (fits_matrix_unit(form, target)) {
    for (const auto& [rows, keys] : {std::pair{32, 512}, std::pair{64, 512}, std::pair{32, 1024}}) {
      candidates.push_back(matrix_schedule(form, rows, keys));
    }
  }
  for (const auto& [rows, keys] : {std::pair{28, 256}, std::pair{14, 512}, std::pair{56, 256}}) {
    candidates.push_back(vector_schedule(form, target, rows, keys));
  }
  for (const AttentionSchedule& schedule : candidates) {
    LUMEN_TRY(print_attention(body, "k", schedule, target));
    if (std::ranges::find(schedules, schedule) == schedules.end()) schedules.push_back(schedule);
  }
  return schedules;
}

}  // namespace lumen
