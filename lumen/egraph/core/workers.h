// Workers: a few threads that do pieces of work together with the caller. They wait busily for a moment between two
// calls, because the pieces of an iteration are short and follow each other closely.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace lumen::egraph {

class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  size_t threads() const { return threads_.size() + 1; }
  // Calls work(piece) for every piece in [0, pieces), on all threads in any order; returns when all are done. A thread
  // begins with its own share of the pieces, the same at every call, so that it finds in its caches what it left there;
  // then it helps the others.
  void run(size_t pieces, const std::function<void(size_t)>& work);

 private:
  struct alignas(64) Share {
    std::atomic<size_t> next = 0;
    size_t end = 0;
  };
  void serve(size_t thread);
  void work_off(size_t thread);

  const std::function<void(size_t)>* work_ = nullptr;
  std::vector<Share> shares_;     // by thread; the caller is the first
  std::atomic<size_t> busy_ = 0;  // threads that have not finished this round
  std::atomic<uint32_t> round_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lumen::egraph
