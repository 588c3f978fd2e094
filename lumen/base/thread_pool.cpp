#include "lumen/base/thread_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "lumen/base/check.h"
#include "lumen/base/cpu_share.h"
#include "lumen/base/flags.h"
#include "lumen/base/log.h"

namespace lumen {
namespace {

constexpr std::chrono::microseconds kSpinFor(50);
constexpr std::chrono::microseconds kAloneFor(2);

constexpr int kOutside = -1;
thread_local int inside_thread = kOutside;  // of the run that this thread works for

// Tells the processor that a loop only waits, so that it leaves room to others on its core.
void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // some ten cycles; `yield` is none
#endif
}

// Until `word` is no longer `seen`: busily for a moment if `spin`, then asleep in the kernel (a futex on Linux).
void wait_for_change(const std::atomic<uint32_t>& word, uint32_t seen, bool spin) {
  if (spin) {
    const auto start = std::chrono::steady_clock::now();
    for (auto now = start; now - start < kSpinFor; now = std::chrono::steady_clock::now()) {
      // The clock takes about as long as a pause; it is read now and then.
      for (int k = 0; k < 16; ++k) {
        if (word.load(std::memory_order_acquire) != seen) return;
        pause_processor();
      }
      // Who is waited for may need this very core: after a while, whoever wants it goes first.
      if (now - start > kAloneFor) std::this_thread::yield();
    }
  }
  word.wait(seen, std::memory_order_acquire);
}

}  // namespace

int default_threads() { return flags().threads > 0 ? static_cast<int>(flags().threads) : usable_cores(); }

ThreadPool::ThreadPool(int threads) {
  CHECK(threads >= 1, fmt::format("a pool of {} threads", threads));
  // More threads than cores: whoever waits busily takes the core from one that works.
  spin_ = threads <= usable_cores();
  workers_.reserve(static_cast<size_t>(threads - 1));
  begun_ = std::vector<Begun>(static_cast<size_t>(threads));
  for (int t = 1; t < threads; ++t) {
    try {
      workers_.emplace_back([this, t] { serve(t); });
    } catch (const std::system_error& refused) {
      log_line(0, fmt::format("{} threads work instead of {}: {}", t, threads, refused.what()));
      break;
    }
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_range(int64_t pieces, Job job) {
  if (pieces <= 0) return;
  if (inside_thread != kOutside) return job.range(job.work, 0, pieces, inside_thread);
  const std::scoped_lock one_at_a_time(callers_);
  job_ = job;
  pieces_ = pieces;
  sharers_ = static_cast<int>(std::min<int64_t>(pieces, threads()));
  if (sharers_ == 1) return do_share(0);
  const uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  for (int t = sharers_; t < threads(); ++t) take(t, round);  // who has no share has nothing to start
  if (spin_) caller_core_.store(current_core(), std::memory_order_relaxed);
  busy_.store(static_cast<uint32_t>(sharers_ - 1), std::memory_order_relaxed);
  round_.store(round, std::memory_order_release);
  round_.notify_all();
  do_share(0);
  // Who has not begun by now may be asleep, or without a core: that share is done here.
  for (int t = 1; t < sharers_; ++t) {
    if (!take(t, round)) continue;
    do_share(t);
    busy_.fetch_sub(1, std::memory_order_acq_rel);
  }
  for (uint32_t left = busy_.load(std::memory_order_acquire); left > 0; left = busy_.load(std::memory_order_acquire)) {
    wait_for_change(busy_, left, spin_);
  }
}

bool ThreadPool::take(int thread, uint32_t round) {
  std::atomic<uint32_t>& begun = begun_[static_cast<size_t>(thread)].round;
  uint32_t before = begun.load(std::memory_order_relaxed);
  // A thread that wakes late may ask for a round that is long over; rounds are counted modulo 2^32.
  const bool open = static_cast<int32_t>(round - before) > 0;
  return open && begun.compare_exchange_strong(before, round, std::memory_order_acq_rel);
}

void ThreadPool::do_share(int thread) const {
  if (thread >= sharers_) return;
  const auto bound = [&](int64_t t) {
    // Not t*pieces/sharers, which could overflow.
    return pieces_ / sharers_ * t + pieces_ % sharers_ * t / sharers_;
  };
  inside_thread = thread;
  job_.range(job_.work, bound(thread), bound(thread + 1), thread);
  inside_thread = kOutside;
}

void ThreadPool::serve(int thread) {
  int left = -1;  // the core that this thread keeps off
  for (uint32_t seen = 0;;) {
    wait_for_change(round_, seen, spin_);
    seen = round_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_relaxed)) return;
    // Linux wakes a thread on the core of who wakes it, and may leave both there: half as fast as one thread alone.
    if (const int core = caller_core_.load(std::memory_order_relaxed); core >= 0 && core == current_core()) {
      if (leave_core(core, left)) left = core;
    }
    if (!take(thread, seen)) continue;
    do_share(thread);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

}  // namespace lumen
