// A build without SQLite keeps JSON lines.
#include "lumen/search/tuning_store.h"

namespace lumen::search {

StoreOrError open_preferred_store(const std::string& path, OnDamage on_damage) {
  return open_json_lines_store(path, on_damage);
}

const char* preferred_file_name() { return "tuning.jsonl"; }

}  // namespace lumen::search
