// ThreadPool: a few threads that stay, and do pieces of work together with the caller.
//
//   ThreadPool pool(default_threads());
//   pool.run(blocks, [&](int64_t block, int thread) { kernel(block, scratch[thread]); });
//
// The split is static: of n threads, thread t does the pieces from t*pieces/n to (t+1)*pieces/n, in order, at every
// call, so that it finds in its caches what it left there. A share that its thread has not begun when the caller is
// done with its own is done by the caller (as that thread): nobody waits for a thread that sleeps or has no core.
// Between two calls a thread waits busily for about 50 us, after the first 2 of them behind whoever else wants the
// core, and then sleeps.
//
// - `fn` must not throw (the program ends) and need not be copyable; nothing is allocated.
// - A run from inside a run, of this pool or another, is done inline by the thread that asks; `thread` is then that of
//   the run around it, so what belongs to a thread stays with it.
// - Several threads may call run at once; the calls are served one after another.
// - A process forked from one with a pool has none of its threads and must make its own pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace lumen {

// LUMEN_THREADS, or the cores that this process may use.
int default_threads();

class ThreadPool {
 public:
  // `threads` counts the caller of run: 1 starts none. A system that gives fewer gets a smaller pool, with a log line.
  explicit ThreadPool(int threads = default_threads());
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls fn(piece, thread) once for every piece in [0, pieces); returns when all are done, and what they wrote is
  // visible to the caller.
  template <class Fn>
  void run(int64_t pieces, Fn&& fn) {
    static_assert(std::is_invocable_v<Fn&, int64_t, int>, "fn takes (int64_t piece, int thread)");
    using Callable = std::remove_reference_t<Fn>;
    run_range(pieces, Job{[](const void* work, int64_t begin, int64_t end, int thread) noexcept {
                            auto& call = *static_cast<Callable*>(const_cast<void*>(work));
                            for (int64_t piece = begin; piece < end; ++piece) call(piece, thread);
                          },
                          &fn});
  }

 private:
  struct Job {
    void (*range)(const void* work, int64_t begin, int64_t end, int thread) noexcept = nullptr;
    const void* work = nullptr;
  };
  void run_range(int64_t pieces, Job job);
  void do_share(int thread) const;
  // Whether the share of a thread in a round was still to be begun, and is the asker's now.
  bool take(int thread, uint32_t round);
  void serve(int thread);

  // What a run writes and the workers read; `round_` publishes it.
  Job job_;
  int64_t pieces_ = 0;
  int sharers_ = 1;  // threads of this round, at most one per piece
  std::atomic<bool> stop_ = false;
  bool spin_ = true;
  std::atomic<int> caller_core_ = -1;  // of the run that is under way
  alignas(64) std::atomic<uint32_t> round_ = 0;
  alignas(64) std::atomic<uint32_t> busy_ = 0;  // workers that have not finished this round
  struct alignas(64) Begun {
    std::atomic<uint32_t> round = 0;  // the last one whose share was begun
  };
  std::vector<Begun> begun_;  // by thread
  std::mutex callers_;
  std::vector<std::thread> workers_;
};

}  // namespace lumen
