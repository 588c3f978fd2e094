#include "lumen/search/tuning_fields.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "lumen/base/nearest.h"

namespace lumen::search {

namespace {

enum Field : size_t {
  fingerprint,
  kernel,
  shape,
  schedule,
  date,
  seconds,
  spread,
  trials,
  rejected,
  check,
  kFieldCount
};

constexpr std::array<std::string_view, kFieldCount> kNames = {"fingerprint", "kernel", "shape",  "schedule", "date",
                                                              "seconds",     "spread", "trials", "rejected", "check"};

std::string* text_of(TuningEntry& entry, std::string& check_text, size_t field) {
  switch (field) {
    case fingerprint:
      return &entry.fingerprint;
    case kernel:
      return &entry.kernel;
    case shape:
      return &entry.shape;
    case schedule:
      return &entry.schedule;
    case rejected:
      return &entry.rejected;
    case check:
      return &check_text;
    default:
      return nullptr;
  }
}

Diag wrong(size_t field, std::string_view wanted, const JsonValue& value) {
  return error(fmt::format("\"{}\" must be {}, not {}", kNames[field], wanted, describe(value)));
}

}  // namespace

std::string describe(const JsonValue& value) {
  if (const auto* other = std::get_if<OtherJson>(&value)) return other->what;
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::to_string(*real);
  return nlohmann::json(std::get<std::string>(value)).dump();
}

Expected<void> EntryFields::begin_field(std::string_view name) {
  const size_t count = with_check_ ? kFieldCount : check;
  current_ = 0;
  while (current_ < count && kNames[current_] != name) ++current_;
  if (current_ == count) {
    const auto guess = nearest(name, std::span(kNames).first(count));
    return error(fmt::format("an entry has no field \"{}\"{}", name,
                             guess ? fmt::format("; did you mean \"{}\"?", *guess) : ""));
  }
  if (seen_[current_]) return error(fmt::format("\"{}\" occurs twice in one entry", name));
  seen_.set(current_);
  return {};
}

Expected<void> EntryFields::set(JsonValue value) {
  if (std::string* text = text_of(entry_, check_, current_)) {
    if (!std::holds_alternative<std::string>(value)) return wrong(current_, "a string", value);
    *text = std::get<std::string>(std::move(value));
    if (current_ == rejected && text->empty()) return error("\"rejected\" must be a reason, not \"\"");
    return {};
  }
  if (current_ == date) {
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && parse_date(*text, entry_.date)) return {};
    return wrong(date, "a date like \"2026-11-15T10:20:59Z\"", value);
  }
  const auto* integer = std::get_if<int64_t>(&value);
  if (current_ == trials) {
    if (integer == nullptr || *integer < 1) return wrong(trials, "an integer, 1 or more", value);
    entry_.trials = *integer;
    return {};
  }
  const auto* real = std::get_if<double>(&value);
  const double time = integer != nullptr ? static_cast<double>(*integer) : real != nullptr ? *real : -1;
  if (time < 0) return wrong(current_, "a number of seconds, 0 or more", value);
  (current_ == seconds ? entry_.seconds : entry_.spread) = time;
  return {};
}

Expected<TuningEntry> EntryFields::finish() {
  std::vector<Field> needed = {fingerprint, kernel, shape, schedule, date};
  if (seen_[rejected]) {
    for (const Field field : {seconds, spread, trials}) {
      if (seen_[field]) return error(fmt::format("an entry has \"rejected\" and \"{}\"", kNames[field]));
    }
  } else {
    needed.insert(needed.end(), {seconds, spread, trials});
  }
  if (with_check_) needed.push_back(check);
  for (const Field field : needed) {
    if (!seen_[field]) return error(fmt::format("an entry without \"{}\"", kNames[field]));
  }
  LUMEN_TRY(check_entry(entry_));
  if (with_check_ && check_ != fmt::format("{:016x}", checksum(entry_))) {
    return error("the checksum is not that of the entry");
  }
  return std::move(entry_);
}

}  // namespace lumen::search
