// Any bytes as a .safetensors file: an error, or entries that all lie in the bytes and can be read.
#include "lumen/import/safetensors.h"

#include "lumen/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = lumen::SafeTensors::parse(std::as_bytes(std::span(data, size)), "fuzz");
  if (!file.ok()) return 0;
  for (const auto& [name, entry] : file->entries()) {
    const auto tensor = file->tensor(name);
    CHECK(tensor.ok() && tensor->dims == entry.dims);
  }
  return 0;
}
