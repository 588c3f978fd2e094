#include "lumen/search/tuning_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lumen/search/tuning_fields.h"

namespace lumen::search {

namespace {

// nlohmann keeps keys in alphabetical order; people read them in ours.
std::string print_fields(const TuningEntry& entry) {
  const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::string text =
      fmt::format(R"("fingerprint":{},"kernel":{},"shape":{},"schedule":{},"date":"{}")", quoted(entry.fingerprint),
                  quoted(entry.kernel), quoted(entry.shape), quoted(entry.schedule), date_text(entry.date));
  if (!entry.rejected.empty()) return text + fmt::format(R"(,"rejected":{})", quoted(entry.rejected));
  return text + fmt::format(R"(,"seconds":{},"spread":{},"trials":{})", entry.seconds, entry.spread, entry.trials);
}

}  // namespace

std::string print_document(const std::vector<TuningEntry>& entries) {
  std::string text = fmt::format(R"({{"format":"{}","version":{},"entries":[)", kDocumentFormat, kDocumentVersion);
  const char* before = "\n{";
  for (const TuningEntry& entry : entries) {
    text += before + print_fields(entry) + "}";
    before = ",\n{";
  }
  return text + "\n]}\n";
}

std::string print_line(const TuningEntry& entry) {
  return fmt::format(R"({{"check":"{:016x}",{}}})", checksum(entry), print_fields(entry));
}

}  // namespace lumen::search
