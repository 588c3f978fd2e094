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
  // Calls work(piece) for every piece in [0, pieces), on all threads in any order; returns when all are done.
  void run(size_t pieces, const std::function<void(size_t)>& work);

 private:
  void serve();
  void work_off();

  const std::function<void(size_t)>* work_ = nullptr;
  size_t pieces_ = 0;
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> busy_ = 0;  // threads that have not finished this round
  std::atomic<uint32_t> round_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lumen::egraph
