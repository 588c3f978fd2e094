#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/import/storage_type.h"

namespace lumen {

// A tensor for a file; its bytes are asked for when their turn comes, so that not all are in memory at once.
struct TensorToWrite {
  std::string name;
  StorageType type;
  std::vector<int64_t> dims;
  std::function<Expected<std::vector<std::byte>>()> bytes;
};

// Called with the bytes of each tensor that was written.
using WroteBytes = std::function<void(size_t)>;

}  // namespace lumen
