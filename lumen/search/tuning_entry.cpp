#include "lumen/search/tuning_entry.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <tuple>

#include "lumen/base/hash.h"

namespace lumen::search {

namespace {

constexpr int64_t kLastDate = 253402300799;  // the end of the year 9999

// Bytes of the UTF-8 sequence at `at`; 0 when there is none, or one that is too long, a surrogate or beyond Unicode.
size_t sequence_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k) {
    if ((byte(at + k) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(at + 1);
  const bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                   (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return bad ? 0 : length;
}

Expected<void> check_text(std::string_view field, std::string_view text, bool may_be_empty) {
  if (text.empty() && !may_be_empty) return error(fmt::format("the {} of a tuning entry is empty", field));
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequence_length(text, at);
    if (length == 0) {
      return error(fmt::format("the {} of a tuning entry is not UTF-8: byte 0x{:02x} at offset {}", field,
                               static_cast<unsigned char>(text[at]), at));
    }
    at += length;
  }
  return {};
}

Expected<void> check_time(std::string_view field, double seconds) {
  if (std::isfinite(seconds) && seconds >= 0) return {};
  return error(fmt::format("{} = {} of a tuning entry is not a time", field, seconds));
}

}  // namespace

bool listed_before(const TuningEntry& a, const TuningEntry& b) {
  const auto key = [](const TuningEntry& e) {
    return std::tuple<const std::string&, const std::string&, const std::string&, bool, double, const std::string&>(
        e.fingerprint, e.kernel, e.shape, !e.rejected.empty(), e.seconds, e.schedule);
  };
  return key(a) < key(b);
}

Expected<void> check_entry(const TuningEntry& entry) {
  LUMEN_TRY(check_text("fingerprint", entry.fingerprint, false));
  LUMEN_TRY(check_text("kernel", entry.kernel, false));
  LUMEN_TRY(check_text("shape", entry.shape, true));
  LUMEN_TRY(check_text("schedule", entry.schedule, false));
  LUMEN_TRY(check_text("reason", entry.rejected, true));
  LUMEN_TRY(check_time("seconds", entry.seconds));
  LUMEN_TRY(check_time("spread", entry.spread));
  if (entry.date < 0 || entry.date > kLastDate) {
    return error(fmt::format("date = {} of a tuning entry is not in the years 1970 to 9999", entry.date));
  }
  if (entry.rejected.empty() && entry.trials < 1) {
    return error(fmt::format("trials = {} of a measured tuning entry is not 1 or more", entry.trials));
  }
  if (!entry.rejected.empty() && (entry.seconds != 0 || entry.spread != 0 || entry.trials != 0)) {
    return error(fmt::format("a rejected tuning entry has times: seconds = {}, spread = {}, trials = {}", entry.seconds,
                             entry.spread, entry.trials));
  }
  return {};
}

std::string kernel_hash(std::string_view kernel) {
  const uint64_t high = Hasher(1).add(kernel).value();
  // Fed byte by byte: the halves must not both come from the one 64-bit hash that Hasher takes of a text.
  Hasher low(2);
  for (const char c : kernel) low.add(c);
  return fmt::format("{:016x}{:016x}", high, low.value());
}

uint64_t checksum(const TuningEntry& entry) {
  return Hasher(3)
      .add(entry.fingerprint)
      .add(entry.kernel)
      .add(entry.shape)
      .add(entry.schedule)
      .add(entry.seconds == 0 ? 0.0 : entry.seconds)  // one zero: SQLite keeps no sign of it
      .add(entry.spread == 0 ? 0.0 : entry.spread)
      .add(entry.trials)
      .add(entry.date)
      .add(entry.rejected)
      .value();
}

int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string date_text(int64_t date) {
  using namespace std::chrono;
  const sys_seconds at{seconds(date)};
  const sys_days day = floor<days>(at);
  const year_month_day ymd(day);
  const int64_t s = (at - day).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()), s / 3600, s / 60 % 60,
                     s % 60);
}

bool parse_date(std::string_view text, int64_t& date) {
  using namespace std::chrono;
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (text.size() != kForm.size()) return false;
  int numbers[6] = {};
  for (size_t k = 0, n = 0; k < kForm.size(); ++k) {
    const bool digit = text[k] >= '0' && text[k] <= '9';
    if (kForm[k] == '0' ? !digit : text[k] != kForm[k]) return false;
    if (digit) numbers[n] = numbers[n] * 10 + (text[k] - '0');
    if (!digit) ++n;
  }
  const auto [y, mo, d, h, mi, s] = numbers;
  const year_month_day ymd(year(y), month(static_cast<unsigned>(mo)), day(static_cast<unsigned>(d)));
  if (!ymd.ok() || y < 1970 || h > 23 || mi > 59 || s > 59) return false;
  date = (sys_days(ymd).time_since_epoch() + hours(h) + minutes(mi) + seconds(s)).count();
  return true;
}

}  // namespace lumen::search
