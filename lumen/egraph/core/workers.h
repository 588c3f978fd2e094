// Workers: threads that do pieces of work together with the caller, and divide them while they work.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include "lumen/base/thread_pool.h"

namespace lumen::egraph {

class Workers {
 public:
  explicit Workers(int threads);

  size_t threads() const { return shares_.size(); }
  // Calls work(piece) for every piece in [0, pieces), on all threads in any order; returns when all are done. A thread
  // begins with its own share of the pieces, the same at every call, so that it finds in its caches what it left there;
  // then it helps the others.
  void run(size_t pieces, const std::function<void(size_t)>& work);

 private:
  struct alignas(64) Share {
    std::atomic<size_t> next = 0;
    size_t end = 0;
  };

  ThreadPool pool_;
  std::vector<Share> shares_;  // by thread; the caller is the first
};

}  // namespace lumen::egraph
