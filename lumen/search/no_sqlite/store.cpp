// A build without SQLite keeps JSON lines and refuses, rather than moves aside, what another build keeps in SQLite.
#include <fmt/format.h>

#include <fstream>

#include "lumen/search/tuning_store.h"

namespace lumen::search {

StoreOrError open_preferred_store(const std::string& path, OnDamage on_damage) {
  std::string start(15, '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start == "SQLite format 3") {
    return error(
        fmt::format("{}: an SQLite database, and this build of lumen has no SQLite: `lumen tune export` of one "
                    "that has it writes a file that `lumen tune import` reads",
                    path));
  }
  return open_json_lines_store(path, on_damage);
}

const char* preferred_file_name() { return "tuning.jsonl"; }

}  // namespace lumen::search
