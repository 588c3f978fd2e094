// Any bytes are tuning entries or an error with a place; entries print to a text that reads back to them.
#include <cstdint>
#include <sstream>
#include <string>

#include "lumen/base/check.h"
#include "lumen/search/tuning_db.h"
#include "lumen/search/tuning_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lumen::search;
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(parse_line(text).ok());
  const auto parsed = parse_document(text, "fuzz.json");
  if (!parsed.ok()) {
    CHECK(parsed.diag().where.line > 0, "an error without a place: " + parsed.diag().str());
    return 0;
  }
  // Opened only here: most inputs do not come so far, and it takes a thousand times as long.
  std::istringstream stream(text);
  TuningDb db = *TuningDb::open(":memory:");
  CHECK(db.import_json(stream, OnConflict::keep_newer, "fuzz.json").ok());
  std::ostringstream printed;
  CHECK(db.export_json(printed).ok());
  const auto again = parse_document(printed.str(), "printed.json");
  CHECK(again.ok(), again.ok() ? "" : again.diag().str() + "\nin\n" + printed.str());
  CHECK(*again == *db.list(), "other entries:\n" + printed.str());
  return 0;
}
