// A database of JSON lines: a header, then one entry to a line; a later line replaces an earlier one of the same key.
//
// Writers hold the folder's lock. One entry is appended; several, and what is left after a removal, are written to a
// new file that takes the name, so that all or none are there. A line that a killed writer left unfinished at the end
// is cut off by the next one, so a complete line that cannot be read is damage.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>

#include "lumen/search/damaged_file.h"
#include "lumen/search/json_lines/file.h"
#include "lumen/search/tuning_json.h"
#include "lumen/search/tuning_store.h"

namespace lumen::search {

namespace {

constexpr std::string_view kHeaderStart = R"({"format":"lumen-tuning-lines","version":)";

std::string header() { return fmt::format("{}{}}}\n", kHeaderStart, kSchemaVersion); }

// The version of a header line; 0 when it is none.
int64_t header_version(std::string_view line) {
  int64_t version = 0;
  if (!line.starts_with(kHeaderStart) || !line.ends_with('}')) return 0;
  const std::string_view digits = line.substr(kHeaderStart.size(), line.size() - kHeaderStart.size() - 1);
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  return status == std::errc() && end == digits.data() + digits.size() && version > 0 ? version : 0;
}

class JsonLinesStore final : public TuningStore {
 public:
  JsonLinesStore(std::string path, OnDamage on_damage) : path_(std::move(path)), on_damage_(on_damage) {}

  Expected<void> open() {
    const FolderLock lock(path_);
    LUMEN_TRY(refresh());
    if (in_memory() || file_ != FileIdentity{}) return {};
    return rewrite();
  }

  Expected<std::vector<TuningEntry>> find(const TuningKey& key) override {
    const FolderLock lock(path_);
    LUMEN_TRY(refresh());
    std::vector<TuningEntry> found;
    const Key first(key.kernel, key.fingerprint, key.shape, "");
    for (auto at = entries_.lower_bound(first); at != entries_.end() && same_kernel(at->first, first); ++at) {
      found.push_back(at->second);
    }
    return found;
  }

  Expected<std::vector<TuningEntry>> list(const TuningFilter& filter) override {
    const FolderLock lock(path_);
    LUMEN_TRY(refresh());
    std::vector<TuningEntry> found;
    for (const auto& [key, entry] : entries_) {
      if (holds(filter, entry)) found.push_back(entry);
    }
    return found;
  }

  Expected<int64_t> put(std::span<const TuningEntry> entries, OnConflict conflict) override {
    const FolderLock lock(path_);
    LUMEN_TRY(refresh());
    int64_t written = 0;
    std::string lines;
    for (const TuningEntry& entry : entries) {
      TuningEntry& kept = entries_[key_of(entry)];
      if (!kept.kernel.empty() && conflict == OnConflict::keep_newer && kept.date >= entry.date) continue;
      kept = entry;
      lines += print_line(entry) + "\n";
      ++written;
    }
    if (written == 0) return 0;
    lines_ += static_cast<size_t>(written);
    const bool append = written == 1 && file_ != FileIdentity{} && lines_ <= 2 * entries_.size() + 64;
    LUMEN_TRY(kept_or_forgotten(append ? append_lines(path_, lines, read_) : rewrite()));
    return written;
  }

  Expected<int64_t> clear(const TuningFilter& filter) override {
    const FolderLock lock(path_);
    LUMEN_TRY(refresh());
    const auto removed =
        static_cast<int64_t>(std::erase_if(entries_, [&](const auto& item) { return holds(filter, item.second); }));
    if (removed > 0) LUMEN_TRY(kept_or_forgotten(rewrite()));
    return removed;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;

  static Key key_of(const TuningEntry& e) { return {e.kernel, e.fingerprint, e.shape, e.schedule}; }
  static bool same_kernel(const Key& a, const Key& b) {
    return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b) && std::get<2>(a) == std::get<2>(b);
  }
  static bool holds(const TuningFilter& filter, const TuningEntry& entry) {
    return (filter.fingerprint.empty() || filter.fingerprint == entry.fingerprint) &&
           entry.kernel.find(filter.kernel_part) != std::string::npos;
  }
  bool in_memory() const { return path_ == kMemory; }

  void forget() {
    entries_.clear();
    file_ = {};
    read_ = lines_ = 0;
  }

  // What is in memory is what is in the file, so a write that failed is taken back by reading again.
  Expected<void> kept_or_forgotten(Expected<void> written) {
    if (!written.ok()) forget();
    return written;
  }

  // Takes in what other processes wrote since.
  Expected<void> refresh() {
    if (in_memory()) return {};
    const FileIdentity file = identify(path_);
    if (file != file_) forget();
    if (file == FileIdentity{}) return {};
    Expected<std::optional<std::string>> added = read_from(path_, read_);
    if (!added.ok()) return std::move(added).take_diag();
    if (!added->has_value()) {  // shorter than before: nobody who holds the lock does that
      forget();
      return refresh();
    }
    file_ = file;
    return take_lines(**added);
  }

  Expected<void> take_lines(std::string_view text) {
    std::string damage;
    if (read_ == 0 && text.starts_with("SQLite format 3")) {
      forget();
      return error(
          fmt::format("{}: an SQLite database, not JSON lines: open it under a name without .jsonl, in a build "
                      "with SQLite",
                      path_));
    }
    for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
      const std::string_view line = text.substr(0, end);
      const bool first = std::exchange(read_, read_ + end + 1) == 0;
      const int64_t version = first ? header_version(line) : 0;
      if (version > kSchemaVersion) {
        forget();
        return newer_schema(path_, version);
      }
      if (version > 0) continue;
      Expected<TuningEntry> entry = parse_line(line);
      if (first || !entry.ok()) damage = first ? "no header" : "a line that is no entry";
      if (!entry.ok()) continue;
      Key key = key_of(*entry);
      entries_.insert_or_assign(std::move(key), *std::move(entry));
      ++lines_;
    }
    // A file that ends within its first line: the header is written whole, so somebody else cut it.
    if (read_ == 0 && !text.empty()) damage = "no header";
    return damage.empty() ? Expected<void>() : begin_afresh(damage);
  }

  Expected<void> begin_afresh(const std::string& damage) {
    if (on_damage_ == OnDamage::refuse) {
      forget();
      return refuse_damaged(path_, damage);
    }
    const std::string moved = LUMEN_TRY(kept_or_forgotten_name(move_aside(path_)));
    LUMEN_TRY(kept_or_forgotten(rewrite()));
    log_moved(path_, damage, moved, entries_.size());
    return {};
  }

  Expected<std::string> kept_or_forgotten_name(Expected<std::string> name) {
    if (!name.ok()) forget();
    return name;
  }

  Expected<void> rewrite() {
    if (in_memory()) return {};
    std::string text = header();
    for (const auto& [key, entry] : entries_) text += print_line(entry) + "\n";
    LUMEN_TRY(replace_file(path_, text));
    file_ = identify(path_);
    read_ = text.size();
    lines_ = entries_.size();
    return {};
  }

  std::string path_;
  OnDamage on_damage_;
  std::map<Key, TuningEntry> entries_;  // as of `read_` bytes of `file_`
  FileIdentity file_;
  size_t read_ = 0;
  size_t lines_ = 0;  // with those that later ones replaced
};

}  // namespace

bool is_json_lines(std::string_view start) { return start.starts_with(kHeaderStart); }

StoreOrError open_json_lines_store(const std::string& path, OnDamage on_damage) {
  auto store = std::make_unique<JsonLinesStore>(path, on_damage);
  LUMEN_TRY(store->open());
  return std::unique_ptr<TuningStore>(std::move(store));
}

}  // namespace lumen::search
