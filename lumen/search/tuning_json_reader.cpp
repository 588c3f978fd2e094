#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "lumen/search/tuning_fields.h"
#include "lumen/search/tuning_json.h"

namespace lumen::search {

namespace {

using Json = nlohmann::json;

// Hands the parser one byte after another and remembers how far it is: its callbacks come without a position.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = std::max(*furthest_, ++at_);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// One entry or a document, token by token: nothing of the text is believed and no tree of it is built.
class TuningReader : public nlohmann::json_sax<Json> {
 public:
  TuningReader(std::string_view text, bool line) : text_(text), read_(text.data()), line_(line), fields_(line) {}

  Expected<std::vector<TuningEntry>> read(const std::string& name) {
    Json::sax_parse(CountingIterator(text_.data(), &read_), CountingIterator(text_.data() + text_.size(), &read_),
                    this);
    if (!failure_) return std::move(entries_);
    failure_->where.file = name;
    return std::move(*failure_);
  }

  bool null() override { return value(OtherJson{"null"}); }
  bool boolean(bool given) override { return value(OtherJson{given ? "true" : "false"}); }
  bool number_integer(int64_t given) override { return value(given); }
  bool number_unsigned(uint64_t given) override {
    if (given > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return value(static_cast<double>(given));
    return value(static_cast<int64_t>(given));
  }
  bool number_float(double given, const std::string&) override { return value(given); }
  bool string(std::string& given) override { return value(std::move(given)); }
  bool binary(Json::binary_t&) override { return value(OtherJson{"bytes"}); }

  bool start_object(size_t) override {
    const size_t at = begin_token();
    if (where_ == Where::start && !line_) {
      where_ = Where::document;
      start_ = at;
      return true;
    }
    if (where_ != Where::entries && !(where_ == Where::start && line_)) return misplaced("an object");
    where_ = Where::entry;
    start_ = at;
    fields_ = EntryFields(line_);
    return true;
  }

  bool key(std::string& name) override {
    const size_t at = begin_token();
    if (where_ == Where::entry) return accept(fields_.begin_field(name), at);
    if (name != "format" && name != "version" && name != "entries") {
      return fail(fmt::format("a tuning file has \"format\", \"version\" and \"entries\", not {}", Json(name).dump()),
                  at);
    }
    const bool first = name == "format"    ? !std::exchange(format_, true)
                       : name == "version" ? !std::exchange(version_, true)
                                           : !std::exchange(has_entries_, true);
    if (!first) return fail(fmt::format("\"{}\" occurs twice", name), at);
    // What a later version means by "entries" is not known.
    if (name == "entries" && !(format_ && version_)) {
      return fail("\"format\" and \"version\" must come before \"entries\"", at);
    }
    key_ = name;
    return true;
  }

  bool start_array(size_t) override {
    begin_token();
    if (where_ != Where::document || key_ != "entries") return misplaced("an array");
    where_ = Where::entries;
    return true;
  }

  bool end_array() override {
    end_ = read_;
    where_ = Where::document;
    return true;
  }

  bool end_object() override {
    end_ = read_;
    if (where_ == Where::document) {
      if (!has_entries_) return fail("a tuning file without \"entries\"", start_);
      where_ = Where::end;
      return true;
    }
    Expected<TuningEntry> entry = fields_.finish();
    if (!entry.ok()) return fail(entry.diag().message, start_);
    entries_.push_back(*std::move(entry));
    where_ = line_ ? Where::end : Where::entries;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception& problem) override {
    if (failure_) return false;
    // The library's words, without its prefix and its own idea of the place.
    std::string_view what = problem.what();
    for (const std::string_view before : {"] ", ": "}) {
      const size_t at = what.find(before);
      if (at != std::string_view::npos) what.remove_prefix(at + before.size());
    }
    return fail(fmt::format("not JSON: {}", what), position == 0 ? 0 : position - 1);
  }

 private:
  enum class Where { start, document, entries, entry, end };

  // Where the token begins whose callback runs: after the last one and what separates the two.
  size_t begin_token() {
    const char* at = end_ == nullptr ? text_.data() : end_;
    const char* const last = text_.data() + text_.size();
    at = std::find_if(at, last, [](char c) { return std::string_view(" \t\r\n,:").find(c) == std::string_view::npos; });
    end_ = read_;
    token_ = static_cast<size_t>(at - text_.data());
    return token_;
  }

  bool value(JsonValue given) {
    begin_token();
    return take(std::move(given));
  }

  bool take(JsonValue given) {
    if (where_ == Where::entry) return accept(fields_.set(std::move(given)), token_);
    if (where_ != Where::document || key_ == "entries") return misplaced(describe(given));
    if (key_ == "format") {
      if (given == JsonValue(std::string(kDocumentFormat))) return true;
      return fail(fmt::format("\"format\" must be \"{}\", not {}", kDocumentFormat, describe(given)), token_);
    }
    if (given == JsonValue(kDocumentVersion)) return true;
    return fail(fmt::format("\"version\" must be {}, not {}", kDocumentVersion, describe(given)), token_);
  }

  bool misplaced(std::string_view found) {
    if (where_ == Where::start) return fail(fmt::format("a tuning file must be an object, not {}", found), token_);
    if (where_ == Where::entries) return fail(fmt::format("an entry must be an object, not {}", found), token_);
    if (where_ == Where::document && key_ == "entries") {
      return fail(fmt::format("\"entries\" must be an array, not {}", found), token_);
    }
    return take(OtherJson{std::string(found)});
  }

  bool accept(const Expected<void>& result, size_t at) { return result.ok() || fail(result.diag().message, at); }

  bool fail(std::string message, size_t at) {
    const std::string_view before = text_.substr(0, at);
    const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    failure_ = error(std::move(message));
    failure_->where.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
    failure_->where.column = static_cast<int>(before.size() - line_start) + 1;
    return false;
  }

  std::string_view text_;
  const char* read_;           // how far the parser is
  const char* end_ = nullptr;  // of the last token
  size_t token_ = 0;           // where the current one begins
  size_t start_ = 0;           // of the object that is being read
  bool line_;
  Where where_ = Where::start;
  std::string key_;
  bool format_ = false, version_ = false, has_entries_ = false;
  EntryFields fields_;
  std::vector<TuningEntry> entries_;
  std::optional<Diag> failure_;
};

}  // namespace

Expected<std::vector<TuningEntry>> parse_document(std::string_view text, const std::string& name) {
  return TuningReader(text, /*line=*/false).read(name);
}

Expected<TuningEntry> parse_line(std::string_view line) {
  std::vector<TuningEntry> entries = LUMEN_TRY(TuningReader(line, /*line=*/true).read("line"));
  return std::move(entries.front());
}

}  // namespace lumen::search
