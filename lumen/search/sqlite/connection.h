// A connection to an SQLite file and statements on it, as Expected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lumen::search {

class Connection;

// A prepared statement. Parameters and columns count from 0.
class Statement {
 public:
  Statement& bind(int parameter, std::string_view text);  // the text must outlive the run
  Statement& bind(int parameter, int64_t value);
  Statement& bind(int parameter, double value);

  // True when there is a row to read.
  Expected<bool> step();
  // Runs to the end and is ready to run again.
  Expected<void> run();

  std::string text(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* handle, Connection* connection) : handle_(handle), connection_(connection) {}
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  Connection* connection_;
};

// What an error was about: the bytes of the file; another file that stands in its place now; no right to write it; a
// file that could not be made; anything else.
enum class Trouble { damaged, moved, read_only, cannot_open, other };

enum class Access { read_write, read_only };

class Connection {
 public:
  // read_only takes the file as it is, without a lock or a log beside it: for folders where none can be made.
  static Expected<std::unique_ptr<Connection>> open(const std::string& path, Access access);

  Expected<Statement> prepare(std::string_view sql);
  Expected<void> execute(std::string_view sql);
  Expected<int64_t> read_integer(std::string_view sql);
  int64_t changes() const;
  // An error when the file, or the way it was opened, allows no writing.
  Expected<void> require_writable() const;

  // Ends a transaction that failed; the last error stays.
  void roll_back();

  // About the last error; `other` when there was none.
  Trouble trouble() const;
  std::string last_error() const;
  void forget_error() { code_ = 0; }

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Connection(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  Diag fail(int code);

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
  int code_ = 0;
};

}  // namespace lumen::search
