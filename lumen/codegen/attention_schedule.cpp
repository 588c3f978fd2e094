#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lumen/codegen/attention.h"
#include "lumen/codegen/attention_direct.h"
#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/attention_pack.h"
#include "lumen/codegen/schedule_text.h"

namespace lumen {

namespace {

constexpr std::string_view kKind = "attention";

constexpr MethodWords<AttentionMethod, 3> kAttentionMethods = {
    std::pair{AttentionMethod::vector, std::string_view("vector")},
    std::pair{AttentionMethod::amx, std::string_view("amx")},
    std::pair{AttentionMethod::direct, std::string_view("direct")}};

constexpr SizeNames<AttentionSchedule, 4> kAttentionSizes = {
    std::pair{std::string_view("mr"), &AttentionSchedule::mr},
    std::pair{std::string_view("nr"), &AttentionSchedule::nr},
    std::pair{std::string_view("rows"), &AttentionSchedule::rows},
    std::pair{std::string_view("keys"), &AttentionSchedule::keys}};

AttentionSchedule vector_schedule(const AttentionForm& form, const Target& target, int64_t rows, int64_t keys) {
  const int64_t lanes = target.vector_bytes / 4;
  // Products by lanes hold a vector of each row, too.
  const int64_t most = target.lane_products            ? 8
                       : target.vector_registers == 32 ? 14
                       : target.vector_bytes == 32     ? 6
                                                       : 4;
  AttentionSchedule s;
  s.mr = even_piece(form.rows(), most, 1);
  s.nr = 2 * lanes;
  s.rows = even_piece(form.rows(), std::max(s.mr, rows / s.mr * s.mr), s.mr);
  s.keys = std::min(keys, std::max(s.nr, even_piece(form.keys(), keys, s.nr)));
  return s;
}

AttentionSchedule matrix_attention(const AttentionForm& form, int64_t rows, int64_t keys) {
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
  return std::string(kKind) + " " + schedule_text(*this, kAttentionMethods, kAttentionSizes);
}

Expected<AttentionSchedule> AttentionSchedule::parse(std::string_view text) {
  std::string_view rest = text;
  if (next_word(rest) != kKind) return error(fmt::format("\"{}\" is no schedule of attention", text));
  return parse_schedule<AttentionSchedule>(rest, kAttentionMethods, kAttentionSizes, kKind);
}

bool is_attention_schedule(std::string_view text) { return next_word(text) == kKind; }

Expected<std::vector<AttentionSchedule>> attention_schedules(const Graph& body, const Target& target) {
  const AttentionForm form = LUMEN_TRY(attention_form(body));
  std::vector<AttentionSchedule> schedules, candidates;
  const auto rows = form.rows().constant();
  const auto rows_together = (form.rows() * form.sharers).constant();
  if (rows_together && *rows_together <= kMostDirectRows) {
    AttentionSchedule direct;
    direct.method = AttentionMethod::direct;
    direct.keys = 256;
    if (print_attention(body, "k", direct, target).ok()) schedules.push_back(direct);
  }
  // One row is mostly read, which `direct` does best (1.5 to 2 times as fast as others beside a matrix unit); many are
  // products, in which nothing beats a matrix unit (1.2 to 2.4 times as fast as vectors).
  const bool matrices = fits_matrix_unit(form, target);
  if (matrices && (schedules.empty() || *rows > 1)) {
    for (const auto& [piece, keys] : {std::pair{32, 512}, std::pair{64, 512}, std::pair{32, 1024}}) {
      candidates.push_back(matrix_attention(form, piece, keys));
    }
  }
  constexpr int64_t kManyRows = 32;
  if (!matrices || (rows && *rows < kManyRows)) {
    for (const auto& [piece, keys] : {std::pair{28, 256}, std::pair{14, 512}, std::pair{56, 256}}) {
      candidates.push_back(vector_schedule(form, target, piece, keys));
    }
  }
  for (const AttentionSchedule& schedule : candidates) {
    LUMEN_TRY(print_attention(body, "k", schedule, target));
    if (std::ranges::find(schedules, schedule) == schedules.end()) schedules.push_back(schedule);
  }
  return schedules;
}

}  // namespace lumen
