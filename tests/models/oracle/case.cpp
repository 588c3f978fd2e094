#include "tests/models/oracle/case.h"

#include <fmt/format.h>

#include <cstdio>

#include "lumen/base/file.h"

namespace lumen::models {

Expected<Case> read_case(const std::string& folder) {
  const MappedFile file = LUMEN_TRY(MappedFile::open(folder + "/config.json"));
  const std::string config(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  SafeTensors expected = LUMEN_TRY(SafeTensors::open(folder + "/expected.safetensors"));
  const auto facts = expected.metadata().find("facts");
  const std::string words = facts == expected.metadata().end() ? "" : facts->second;
  return Case{folder, config, words, std::move(expected)};
}

void report(const Case& given, std::string_view name, bool ok, std::string_view text, Counts& counts) {
  ++(ok ? counts.passed : counts.failed);
  const std::string_view folder = std::string_view(given.folder).substr(given.folder.rfind('/') + 1);
  fmt::print("{:<6} {}: {}: {}\n", ok ? "ok" : "FAILED", folder, name, text);
  std::fflush(stdout);
}

}  // namespace lumen::models
