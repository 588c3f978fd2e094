// A database in SQLite. Kernels, which are long and have many schedules, are kept once, by their hash.
//
// A write-ahead log lets others read while one writes and survives the death of a writer. SQLite does not notice every
// flipped bit, so each entry has a checksum, and one that does not fit is left out.
#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <fstream>
#include <utility>

#include "lumen/search/damaged_file.h"
#include "lumen/search/sqlite/connection.h"
#include "lumen/search/tuning_store.h"

namespace lumen::search {

namespace {

constexpr int64_t kApplication = 0x4c756d6e;  // "Lumn"

constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS kernels (hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS entries (kernel TEXT NOT NULL, fingerprint TEXT NOT NULL, shape TEXT NOT NULL,"
    "  schedule TEXT NOT NULL, seconds REAL NOT NULL, spread REAL NOT NULL, trials INTEGER NOT NULL,"
    "  date INTEGER NOT NULL, rejected TEXT NOT NULL, checksum INTEGER NOT NULL,"
    "  PRIMARY KEY (kernel, fingerprint, shape, schedule)) WITHOUT ROWID;";

constexpr const char* kFind =
    "SELECT fingerprint, ?1, shape, schedule, seconds, spread, trials, date, rejected, checksum FROM entries "
    "WHERE kernel = ?2 AND fingerprint = ?3 AND shape = ?4";
constexpr const char* kList =
    "SELECT fingerprint, text, shape, schedule, seconds, spread, trials, date, rejected, checksum "
    "FROM entries JOIN kernels ON kernel = hash "
    "WHERE (?1 = '' OR fingerprint = ?1) AND (?2 = '' OR instr(text, ?2) > 0)";
constexpr const char* kPutKernel =
    "INSERT INTO kernels VALUES (?1, ?2) ON CONFLICT (hash) DO UPDATE SET text = ?2 WHERE text <> ?2";
constexpr const char* kPut =
    "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
    "ON CONFLICT (kernel, fingerprint, shape, schedule) DO UPDATE SET seconds = ?5, spread = ?6, trials = ?7, "
    "date = ?8, rejected = ?9, checksum = ?10 WHERE ?11 OR date < ?8";
constexpr const char* kClear =
    "DELETE FROM entries WHERE (?1 = '' OR fingerprint = ?1) AND "
    "(?2 = '' OR kernel IN (SELECT hash FROM kernels WHERE instr(text, ?2) > 0))";
constexpr const char* kClearKernels = "DELETE FROM kernels WHERE hash NOT IN (SELECT kernel FROM entries)";

// Reads rows until the end or an error; what came before an error is in `entries` too.
Expected<void> read_entries(Statement& statement, std::vector<TuningEntry>& entries) {
  while (LUMEN_TRY(statement.step())) {
    TuningEntry entry{statement.text(0),    statement.text(1),    statement.text(2),
                      statement.text(3),    statement.real(4),    statement.real(5),
                      statement.integer(6), statement.integer(7), statement.text(8)};
    const bool whole = std::bit_cast<uint64_t>(statement.integer(9)) == checksum(entry) && check_entry(entry).ok();
    if (whole) entries.push_back(std::move(entry));
  }
  return {};
}

class SqliteStore final : public TuningStore {
 public:
  SqliteStore(std::string path, OnDamage on_damage) : path_(std::move(path)), on_damage_(on_damage) {}

  Expected<void> open() {
    return guarded([] { return Expected<void>(); });
  }

  Expected<std::vector<TuningEntry>> find(const TuningKey& key) override {
    const std::string hash = kernel_hash(key.kernel);
    return guarded([&]() -> Expected<std::vector<TuningEntry>> {
      std::vector<TuningEntry> entries;
      Statement statement = LUMEN_TRY(connection_->prepare(kFind));
      statement.bind(0, key.kernel).bind(1, hash).bind(2, key.fingerprint).bind(3, key.shape);
      LUMEN_TRY(read_entries(statement, entries));
      return entries;
    });
  }

  Expected<std::vector<TuningEntry>> list(const TuningFilter& filter) override {
    return guarded([&]() -> Expected<std::vector<TuningEntry>> {
      std::vector<TuningEntry> entries;
      LUMEN_TRY(list_into(filter, entries));
      return entries;
    });
  }

  Expected<int64_t> put(std::span<const TuningEntry> entries, OnConflict conflict) override {
    return guarded([&] { return in_transaction([&] { return put_each(entries, conflict); }); });
  }

  Expected<int64_t> clear(const TuningFilter& filter) override {
    return guarded([&] {
      return in_transaction([&]() -> Expected<int64_t> {
        Statement entries = LUMEN_TRY(connection_->prepare(kClear));
        LUMEN_TRY(entries.bind(0, filter.fingerprint).bind(1, filter.kernel_part).run());
        const int64_t removed = connection_->changes();
        LUMEN_TRY(connection_->execute(kClearKernels));
        return removed;
      });
    });
  }

 private:
  Expected<void> list_into(const TuningFilter& filter, std::vector<TuningEntry>& entries) {
    Statement statement = LUMEN_TRY(connection_->prepare(kList));
    statement.bind(0, filter.fingerprint).bind(1, filter.kernel_part);
    return read_entries(statement, entries);
  }

  Expected<int64_t> put_each(std::span<const TuningEntry> entries, OnConflict conflict) {
    Statement put_kernel = LUMEN_TRY(connection_->prepare(kPutKernel));
    Statement put_entry = LUMEN_TRY(connection_->prepare(kPut));
    int64_t written = 0;
    for (const TuningEntry& entry : entries) {
      const std::string hash = kernel_hash(entry.kernel);
      LUMEN_TRY(put_kernel.bind(0, hash).bind(1, entry.kernel).run());
      put_entry.bind(0, hash).bind(1, entry.fingerprint).bind(2, entry.shape).bind(3, entry.schedule);
      put_entry.bind(4, entry.seconds).bind(5, entry.spread).bind(6, entry.trials).bind(7, entry.date);
      put_entry.bind(8, entry.rejected).bind(9, std::bit_cast<int64_t>(checksum(entry)));
      put_entry.bind(10, static_cast<int64_t>(conflict == OnConflict::replace));
      LUMEN_TRY(put_entry.run());
      written += connection_->changes();
    }
    return written;
  }

  template <class Work>
  Expected<int64_t> in_transaction(Work work) {
    LUMEN_TRY(connection_->require_writable());
    // IMMEDIATE waits for other writers here, where waiting cannot fail half-way.
    LUMEN_TRY(connection_->execute("BEGIN IMMEDIATE"));
    Expected<int64_t> result = work();
    if (result.ok()) {
      Expected<void> committed = connection_->execute("COMMIT");
      if (committed.ok()) return result;
      result = std::move(committed).take_diag();
    }
    connection_->roll_back();
    return result;
  }

  // Does the work; when the file turns out to be damaged, or not to be the one at the path any more, does it again on
  // the one that is there then.
  template <class Work>
  auto guarded(Work work) -> decltype(work()) {
    const auto attempt = [&]() -> decltype(work()) {
      // SQLite would go on with a file that has lost its name.
      if (connection_ != nullptr && identify(path_) != file_) connection_.reset();
      if (connection_ == nullptr) {
        const FolderLock lock(path_);
        LUMEN_TRY(connect());
      }
      return work();
    };
    if (connection_ != nullptr) connection_->forget_error();
    auto result = attempt();
    if (result.ok() || connection_ == nullptr || connection_->trouble() == Trouble::other) return result;
    LUMEN_TRY(recover(connection_->trouble()));
    return attempt();
  }

  // With the lock held, as recover does.
  Expected<void> connect() {
    connection_ = LUMEN_TRY(Connection::open(path_, Access::read_write));
    file_ = identify(path_);
    Expected<void> ready = set_up();
    // A folder in which no log can be made: the file itself can still be read.
    const Trouble trouble = connection_->trouble();
    if (!ready.ok() && (trouble == Trouble::cannot_open || trouble == Trouble::read_only) && file_ != FileIdentity{}) {
      connection_ = LUMEN_TRY(Connection::open(path_, Access::read_only));
      ready = set_up();
    }
    if (!ready.ok() && connection_->trouble() == Trouble::other) connection_.reset();
    return ready;
  }

  Expected<void> set_up() {
    Expected<void> logged = connection_->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    if (!logged.ok() && connection_->trouble() != Trouble::read_only) return logged;
    LUMEN_TRY(connection_->execute("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"));
    if (LUMEN_TRY(connection_->read_integer("SELECT count(*) FROM sqlite_master")) == 0) return create();
    const int64_t application = LUMEN_TRY(connection_->read_integer("PRAGMA application_id"));
    const int64_t version = LUMEN_TRY(connection_->read_integer("PRAGMA user_version"));
    if (application != kApplication) {
      return error(fmt::format("{}: an SQLite database of another program, not a tuning database", path_));
    }
    return version > kSchemaVersion ? newer_schema(path_, version) : Expected<void>();
  }

  Expected<void> create() {
    LUMEN_TRY(in_transaction([&]() -> Expected<int64_t> {
      LUMEN_TRY(connection_->execute(kSchema));
      LUMEN_TRY(connection_->execute(
          fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kSchemaVersion)));
      return 0;
    }));
    return {};
  }

  Expected<void> recover(Trouble trouble) {
    const FolderLock lock(path_);
    if (trouble == Trouble::damaged && is_json_lines(start_of_file())) {
      return error(fmt::format("{}: a tuning database of JSON lines: give it a name that ends in .jsonl", path_));
    }
    std::vector<TuningEntry> saved;
    const std::string why = connection_->last_error();
    if (trouble == Trouble::damaged && on_damage_ == OnDamage::refuse) return refuse_damaged(path_, why);
    if (trouble == Trouble::damaged) static_cast<void>(list_into({}, saved).ok());  // as far as it can be read
    connection_.reset();
    // Another process that saw the same damage may have been here before.
    if (trouble == Trouble::moved || identify(path_) != file_) return connect();
    const std::string moved_to = LUMEN_TRY(move_aside(path_));
    std::rename((path_ + "-wal").c_str(), (moved_to + "-wal").c_str());
    std::remove((path_ + "-shm").c_str());
    LUMEN_TRY(connect());
    LUMEN_TRY(in_transaction([&] { return put_each(saved, OnConflict::keep_newer); }));
    log_moved(path_, why, moved_to, saved.size());
    return {};
  }

  // Only for a file that is damaged: closing one that is in use would end the locks that this process has on it.
  std::string start_of_file() const {
    std::ifstream stream(path_, std::ios::binary);
    std::string start(64, '\0');
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    return start;
  }

  std::string path_;
  OnDamage on_damage_;
  std::unique_ptr<Connection> connection_;
  FileIdentity file_;
};

}  // namespace

StoreOrError open_preferred_store(const std::string& path, OnDamage on_damage) {
  auto store = std::make_unique<SqliteStore>(path, on_damage);
  LUMEN_TRY(store->open());
  return std::unique_ptr<TuningStore>(std::move(store));
}

const char* preferred_file_name() { return "tuning.db"; }

}  // namespace lumen::search
