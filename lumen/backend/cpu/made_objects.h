// MadeObjects: what the compiler made for one process, so that a kernel that was compiled for one library is linked
// into the next as it is. A search compiles each kernel alone, then in whole programs.
//
// An object holds the functions of one C file, each in a section of its own: a linker takes those that it is asked for.
// Safe to use from several threads.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "lumen/backend/cpu/object_cache.h"

namespace lumen::cpu {

struct MadeObject {
  struct Kernel {
    std::vector<std::string> functions;
    CacheKey key;  // of all that their code depends on
  };
  std::vector<Kernel> kernels;
  std::string bytes;
};

class MadeObjects {
 public:
  // Objects that can be in one library together with what is missing: none defines a function that another one, or what
  // is missing, defines too.
  struct Found {
    std::vector<std::shared_ptr<const MadeObject>> objects;
    std::vector<size_t> missing;  // of `wanted`
  };
  Found find(std::span<const MadeObject::Kernel> wanted) const;
  // The oldest are forgotten when all together have more than kMostBytes.
  void add(MadeObject object);

 private:
  static constexpr size_t kMostBytes = size_t{64} << 20;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const MadeObject>> objects_;  // the oldest first
  size_t bytes_ = 0;
};

}  // namespace lumen::cpu
