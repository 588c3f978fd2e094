// One measurement of one kernel under one schedule, or the reason why that schedule must not be used.
//
// Fingerprint, kernel, shape and schedule together are its key: a database holds at most one entry of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::search {

struct TuningEntry {
  std::string fingerprint;  // of the hardware
  std::string kernel;       // canonical text
  std::string shape;        // values of the symbolic dims; empty when there are none
  std::string schedule;
  double seconds = 0;    // median of the trials
  double spread = 0;     // median absolute deviation from it
  int64_t trials = 0;    // 1 or more; 0 when rejected
  int64_t date = 0;      // seconds since 1970, UTC
  std::string rejected;  // why (it does not compile, its result is wrong, ...); empty: it was measured

  bool operator==(const TuningEntry&) const = default;
};

// Which kernel, where, at which size.
struct TuningKey {
  std::string_view fingerprint;
  std::string_view kernel;
  std::string_view shape;
};

// The order of everything that is listed: by fingerprint, kernel and shape; then measured ones from fast to slow, then
// rejected ones; then by schedule.
bool listed_before(const TuningEntry& a, const TuningEntry& b);

// An error that names the field when the entry cannot be kept: texts must be UTF-8 and all but shape and `rejected`
// not empty; times finite and not negative; a rejected entry has no times; dates are of the years 1970 to 9999.
Expected<void> check_entry(const TuningEntry& entry);

// 128 bits as 32 hexadecimal digits; the same for ever.
std::string kernel_hash(std::string_view kernel);

// Of every field: tells a damaged entry from one that was put.
uint64_t checksum(const TuningEntry& entry);

// Seconds since 1970 now.
int64_t now();
// "2026-11-15T10:20:59Z", and back; nothing when the text has another form or is no date.
std::string date_text(int64_t date);
bool parse_date(std::string_view text, int64_t& date);

}  // namespace lumen::search
