// Any text as a config.json: an error, or sizes that come back from what is written of them.
#include "lumen/import/model_config.h"

#include <cstddef>
#include <cstdint>

#include "lumen/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = lumen::parse_model_config({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!config.ok()) return 0;
  CHECK(lumen::metadata_of(*config).size() > 10);
  const auto again = lumen::parse_model_config(lumen::config_json(*config), "again");
  CHECK(again.ok() && again->heads == config->heads && again->hidden == config->hidden && again->tied == config->tied);
  return 0;
}
