// Any text as an index of shards: an error, or names of files in the same folder.
#include "lumen/import/shard_index.h"

#include <cstddef>
#include <cstdint>

#include "lumen/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto index = lumen::parse_shard_index({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!index.ok()) return 0;
  CHECK(!index->empty());
  for (const auto& [name, file] : *index) CHECK(!file.empty() && file[0] != '.' && file.find('/') == file.npos);
  return 0;
}
