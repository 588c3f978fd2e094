// The tuning database: measured times of kernels, kept between runs and shared by processes.
//
//   TuningDb db = LUMEN_TRY(TuningDb::open_default());
//   if (auto known = LUMEN_TRY(db.best({machine, kernel, "n=7"}))) return known->schedule;
//   ...
//   LUMEN_TRY(db.put(entry));
//
// Several threads may use one TuningDb, and several processes one file; no TuningDb may be carried through a fork. What
// a call has put survives the process, however it ends. Everything that is listed is in the order of listed_before.
#pragma once

#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lumen/search/measuring_lock.h"
#include "lumen/search/tuning_store.h"

namespace lumen::search {

struct TuningStats {
  int64_t measured = 0;
  int64_t rejected = 0;
  int64_t kernels = 0;       // distinct ones
  int64_t fingerprints = 0;  // distinct ones
};

class TuningDb {
 public:
  // ":memory:" lives as long as the object. A file that is not there is made: JSON lines when its name ends in .jsonl,
  // else SQLite where the build has it. An error names the path: a folder that is missing or cannot be written, a newer
  // schema, a database of another program or of the other kind. A file that cannot be written but read
  // is opened, and put and clear are errors. OnDamage::move_aside is for files that are surely ours.
  static Expected<TuningDb> open(const std::string& path, OnDamage on_damage = OnDamage::move_aside);
  // $LUMEN_CACHE/tuning.db (.jsonl in a build without SQLite), in a folder that is made when missing.
  static Expected<TuningDb> open_default();
  // The same for who goes on without it: where there is none, or none can be opened (one log line), what is put is
  // known as long as the object lives.
  static TuningDb open_or_forget();
  static Expected<std::string> default_path();

  // Measured schedules, the fastest first; and the first of them.
  Expected<std::vector<TuningEntry>> find(const TuningKey& key) const;
  Expected<std::optional<TuningEntry>> best(const TuningKey& key) const;
  // Schedules that must not be used.
  Expected<std::vector<TuningEntry>> rejected(const TuningKey& key) const;

  // Replaces what is known of the same key. Several: all or none.
  Expected<void> put(const TuningEntry& entry);
  Expected<void> put(std::span<const TuningEntry> entries);
  // The same for who goes on without it: entries that cannot be written (a full disk, a file that is read-only) are
  // known as long as the object lives. The first time is a log line.
  Expected<void> keep(std::span<const TuningEntry> entries);

  // Held by whoever measures, so that processes do not disturb each other's times, and one that waited finds them.
  MeasuringLock lock_measuring() const;

  Expected<std::vector<TuningEntry>> list(const TuningFilter& filter = {}) const;
  Expected<TuningStats> stats() const;
  // How many entries were removed.
  Expected<int64_t> clear(const TuningFilter& filter);

  // As tuning_json.h says.
  Expected<void> export_json(std::ostream& stream, const TuningFilter& filter = {}) const;
  // All or nothing; how many entries were written. `name` is the file's, for errors.
  Expected<int64_t> import_json(std::istream& stream, OnConflict conflict, const std::string& name = "<stream>");

 private:
  TuningDb(std::unique_ptr<TuningStore> store, std::string path);

  Expected<std::vector<TuningEntry>> find_all(const TuningKey& key) const;

  std::unique_ptr<TuningStore> store_;
  std::unique_ptr<std::mutex> mutex_;
  std::string path_;
  std::vector<TuningEntry> unwritten_;  // what keep could not write
};

}  // namespace lumen::search
