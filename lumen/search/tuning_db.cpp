#include "lumen/search/tuning_db.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <istream>
#include <iterator>
#include <ostream>
#include <set>
#include <utility>

#include "lumen/base/flags.h"
#include "lumen/base/log.h"
#include "lumen/search/tuning_json.h"

namespace lumen::search {

namespace {

// Measured ones or rejected ones of those found, in order.
std::vector<TuningEntry> select(std::vector<TuningEntry> found, bool rejected) {
  std::erase_if(found, [&](const TuningEntry& entry) { return entry.rejected.empty() == rejected; });
  std::sort(found.begin(), found.end(), listed_before);
  return found;
}

}  // namespace

TuningDb::TuningDb(std::unique_ptr<TuningStore> store, std::string path)
    : store_(std::move(store)), mutex_(std::make_unique<std::mutex>()), path_(std::move(path)) {}

Expected<TuningDb> TuningDb::open(const std::string& path, OnDamage on_damage) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return error(fmt::format("{}: a folder, not a tuning database", path));
  }
  const bool json_lines = path.ends_with(".jsonl");
  return TuningDb(
      LUMEN_TRY(json_lines ? open_json_lines_store(path, on_damage) : open_preferred_store(path, on_damage)), path);
}

Expected<std::string> TuningDb::default_path() {
  const std::string folder = flags().cache_folder();
  if (folder.empty())
    return error("no place for the tuning database: LUMEN_CACHE is `none`, or neither it nor HOME is set");
  return fmt::format("{}/{}", folder, preferred_file_name());
}

Expected<TuningDb> TuningDb::open_default() {
  const std::string path = LUMEN_TRY(default_path());
  std::error_code problem;
  const std::string folder = flags().cache_folder();
  std::filesystem::create_directories(folder, problem);
  if (problem) return error(fmt::format("{}: cannot make the folder: {}", folder, problem.message()));
  return open(path);
}

TuningDb TuningDb::open_or_forget() {
  if (!flags().cache_folder().empty()) {
    Expected<TuningDb> found = open_default();
    if (found.ok()) return std::move(*found);
    log_line(0, "measured times are not kept: " + found.diag().str());
  }
  return std::move(open(kMemory).value());
}

Expected<std::vector<TuningEntry>> TuningDb::find_all(const TuningKey& key) const {
  const std::lock_guard lock(*mutex_);
  std::vector<TuningEntry> found = LUMEN_TRY(store_->find(key));
  for (const TuningEntry& entry : unwritten_) {
    if (entry.fingerprint == key.fingerprint && entry.kernel == key.kernel && entry.shape == key.shape) {
      found.push_back(entry);
    }
  }
  return found;
}

Expected<std::vector<TuningEntry>> TuningDb::find(const TuningKey& key) const {
  return select(LUMEN_TRY(find_all(key)), /*rejected=*/false);
}

Expected<std::optional<TuningEntry>> TuningDb::best(const TuningKey& key) const {
  std::vector<TuningEntry> found = LUMEN_TRY(find(key));
  if (found.empty()) return std::optional<TuningEntry>();
  return std::optional(std::move(found.front()));
}

Expected<std::vector<TuningEntry>> TuningDb::rejected(const TuningKey& key) const {
  return select(LUMEN_TRY(find_all(key)), /*rejected=*/true);
}

Expected<void> TuningDb::put(const TuningEntry& entry) { return put(std::span(&entry, 1)); }

Expected<void> TuningDb::put(std::span<const TuningEntry> entries) {
  for (const TuningEntry& entry : entries) LUMEN_TRY(check_entry(entry));
  const std::lock_guard lock(*mutex_);
  LUMEN_TRY(store_->put(entries, OnConflict::replace));
  return {};
}

Expected<void> TuningDb::keep(std::span<const TuningEntry> entries) {
  for (const TuningEntry& entry : entries) LUMEN_TRY(check_entry(entry));
  const std::lock_guard lock(*mutex_);
  const Expected<int64_t> written = store_->put(entries, OnConflict::replace);
  if (written.ok()) return {};
  if (unwritten_.empty()) log_line(0, "measured times are not kept: " + written.diag().str());
  unwritten_.insert(unwritten_.end(), entries.begin(), entries.end());
  return {};
}

MeasuringLock TuningDb::lock_measuring() const { return MeasuringLock(path_); }

Expected<std::vector<TuningEntry>> TuningDb::list(const TuningFilter& filter) const {
  const std::lock_guard lock(*mutex_);
  std::vector<TuningEntry> entries = LUMEN_TRY(store_->list(filter));
  std::sort(entries.begin(), entries.end(), listed_before);
  return entries;
}

Expected<TuningStats> TuningDb::stats() const {
  TuningStats stats;
  std::set<std::string> kernels, fingerprints;
  std::vector<TuningEntry> entries = LUMEN_TRY(list());
  for (TuningEntry& entry : entries) {
    ++(entry.rejected.empty() ? stats.measured : stats.rejected);
    kernels.insert(std::move(entry.kernel));
    fingerprints.insert(std::move(entry.fingerprint));
  }
  stats.kernels = static_cast<int64_t>(kernels.size());
  stats.fingerprints = static_cast<int64_t>(fingerprints.size());
  return stats;
}

Expected<int64_t> TuningDb::clear(const TuningFilter& filter) {
  const std::lock_guard lock(*mutex_);
  return store_->clear(filter);
}

Expected<void> TuningDb::export_json(std::ostream& stream, const TuningFilter& filter) const {
  stream << print_document(LUMEN_TRY(list(filter)));
  if (!stream.flush()) return error("cannot write the exported entries");
  return {};
}

Expected<int64_t> TuningDb::import_json(std::istream& stream, OnConflict conflict, const std::string& name) {
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (stream.bad()) return error(fmt::format("{}: cannot read", name));
  const std::vector<TuningEntry> entries = LUMEN_TRY(parse_document(text, name));
  const std::lock_guard lock(*mutex_);
  return store_->put(entries, conflict);
}

}  // namespace lumen::search
