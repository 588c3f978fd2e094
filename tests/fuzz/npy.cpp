// Any bytes as a .npy file: an error or a tensor whose dims and lanes agree.
#include "lumen/import/npy.h"

#include "lumen/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tensor = lumen::parse_npy(std::as_bytes(std::span(data, size)), "fuzz");
  if (!tensor.ok()) return 0;
  int64_t numel = 1;
  for (const int64_t dim : tensor->dims) numel *= dim;
  CHECK(numel == tensor->numel());
  return 0;
}
