// How a tuning database keeps its entries: the interface of the two engines, for tuning_db.cpp only.
//
// Entries that go in were checked; those that come out are exactly such as went in (a damaged one is left out), in any
// order. A damaged file is moved aside with one log line and a fresh one begun with all that could be saved, unless
// OnDamage says to refuse it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lumen/search/tuning_entry.h"

namespace lumen::search {

inline constexpr const char* kMemory = ":memory:";
inline constexpr int kSchemaVersion = 1;

enum class OnDamage { move_aside, refuse };
enum class OnConflict { replace, keep_newer };

// All parts that are not empty must hold; an empty filter holds for every entry.
struct TuningFilter {
  std::string fingerprint;  // exactly this
  std::string kernel_part;  // occurs in the kernel's text
};

class TuningStore {
 public:
  virtual ~TuningStore() = default;
  virtual Expected<std::vector<TuningEntry>> find(const TuningKey& key) = 0;
  virtual Expected<std::vector<TuningEntry>> list(const TuningFilter& filter) = 0;
  // All or none of them; how many were written.
  virtual Expected<int64_t> put(std::span<const TuningEntry> entries, OnConflict conflict) = 0;
  // How many were removed.
  virtual Expected<int64_t> clear(const TuningFilter& filter) = 0;
};

using StoreOrError = Expected<std::unique_ptr<TuningStore>>;

// Defined once for each build: by sqlite/, or by no_sqlite/, which keeps JSON lines.
StoreOrError open_preferred_store(const std::string& path, OnDamage on_damage);
// The file name that goes with it.
const char* preferred_file_name();

// Refuses an SQLite file, as the other does a file of JSON lines: neither is a damaged one of its own kind.
StoreOrError open_json_lines_store(const std::string& path, OnDamage on_damage);
// Whether the bytes at the start of a file are those of a JSON-lines database.
bool is_json_lines(std::string_view start);

// "PATH: the file has schema version 7, this program knows 1: ..."
Diag newer_schema(const std::string& path, int64_t version);

}  // namespace lumen::search
