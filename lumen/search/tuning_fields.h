// The fields of an entry in JSON, one by one: what each may hold, which must be there.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "lumen/search/tuning_entry.h"

namespace lumen::search {

inline constexpr std::string_view kDocumentFormat = "lumen-tuning";
inline constexpr int64_t kDocumentVersion = 1;

struct OtherJson {  // null, an array, an object, a number beyond 64 bits, ...
  std::string what;
  bool operator==(const OtherJson&) const = default;
};
using JsonValue = std::variant<OtherJson, int64_t, double, std::string>;

// "the string \"x\"", "3", "null", ...: for messages.
std::string describe(const JsonValue& value);

// Takes the fields of one entry in any order. An error has no place: the reader knows it.
class EntryFields {
 public:
  explicit EntryFields(bool with_check) : with_check_(with_check) {}
  // Before its value is read: an error when there is no such field, or when it was there.
  Expected<void> begin_field(std::string_view name);
  Expected<void> set(JsonValue value);
  // At the end: an error when a field is missing or the entry cannot be kept.
  Expected<TuningEntry> finish();

 private:
  TuningEntry entry_;
  std::string check_;
  bool with_check_;
  size_t current_ = 0;
  std::bitset<16> seen_;
};

}  // namespace lumen::search
