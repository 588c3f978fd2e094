#include "lumen/search/sqlite/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace lumen::search {

namespace {

constexpr int kBusyMilliseconds = 10'000;

// As SQLite wants a path in a URI.
std::string escaped(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Connection::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Statement& Statement::bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL.
  sqlite3_bind_text64(handle_.get(), parameter + 1, text.data() == nullptr ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(int parameter, int64_t value) {
  sqlite3_bind_int64(handle_.get(), parameter + 1, value);
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  sqlite3_bind_double(handle_.get(), parameter + 1, value);
  return *this;
}

Expected<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Diag diag = connection_->fail(code);
  sqlite3_reset(handle_.get());
  return diag;
}

Expected<void> Statement::run() {
  while (LUMEN_TRY(step())) {
  }
  sqlite3_reset(handle_.get());
  return {};
}

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column));
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(handle_.get(), column); }

Expected<std::unique_ptr<Connection>> Connection::open(const std::string& path, Access access) {
  const bool writes = access == Access::read_write;
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  // A relative name that begins with "file:" is a name, not a URI: the flag is off when we write.
  const std::string name = writes ? path : fmt::format("file:{}?immutable=1", escaped(path));
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Connection> connection(new Connection(path, handle));
  if (code != SQLITE_OK) return connection->fail(code);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return connection;
}

Expected<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return fail(code);
  return Statement(statement, this);
}

Expected<void> Connection::execute(std::string_view sql) {
  const int code = sqlite3_exec(handle_.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Expected<void>() : fail(code);
}

Expected<int64_t> Connection::read_integer(std::string_view sql) {
  Statement statement = LUMEN_TRY(prepare(sql));
  return LUMEN_TRY(statement.step()) ? statement.integer(0) : 0;
}

int64_t Connection::changes() const { return sqlite3_changes64(handle_.get()); }

Expected<void> Connection::require_writable() const {
  if (sqlite3_db_readonly(handle_.get(), "main") == 0) return {};
  return error(fmt::format("{}: cannot write: the file is read-only", path_));
}

void Connection::roll_back() { sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr); }

Trouble Connection::trouble() const {
  if (code_ == SQLITE_READONLY_DBMOVED) return Trouble::moved;
  if (code_ == SQLITE_IOERR_SHORT_READ) return Trouble::damaged;
  switch (code_ & 0xff) {
    // Our statements are right, so one that does not fit the tables means that the tables are not what they were.
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Trouble::damaged;
    case SQLITE_READONLY:
      return Trouble::read_only;
    case SQLITE_CANTOPEN:
      return Trouble::cannot_open;
    default:
      return Trouble::other;
  }
}

std::string Connection::last_error() const { return sqlite3_errstr(code_); }

Diag Connection::fail(int code) {
  code_ = code;
  const int primary = code & 0xff;
  if (primary == SQLITE_BUSY) {
    return error(fmt::format("{}: another process has kept it locked for {} s", path_, kBusyMilliseconds / 1000));
  }
  if (primary == SQLITE_READONLY) return error(fmt::format("{}: cannot write: the file is read-only", path_));
  int system = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_.get());
  // SQLite's last attempt is to open it for reading, so the reason why it could not be made is lost.
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  if (system == ENOENT && ::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) system = errno;
  if (primary == SQLITE_CANTOPEN && system != 0) {
    return error(fmt::format("{}: cannot open: {}", path_, std::generic_category().message(system)));
  }
  return error(fmt::format("{}: SQLite says: {}", path_, sqlite3_errstr(code)));
}

}  // namespace lumen::search
