#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {

namespace {

// About a millisecond: waking a thread takes longer than most pieces of work do.
constexpr int kSpins = 30000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Workers::Workers(int threads) {
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

Workers::~Workers() {
  stop_ = true;
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(size_t pieces, const std::function<void(size_t)>& work) {
  if (threads_.empty() || pieces < 2) {
    for (size_t i = 0; i < pieces; ++i) work(i);
    return;
  }
  work_ = &work;
  pieces_ = pieces;
  next_.store(0);
  busy_.store(threads_.size());
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  work_off();
  for (int spins = 0; busy_.load(std::memory_order_acquire) > 0; ++spins) {
    pause();
    if (spins > kSpins) std::this_thread::yield();
  }
}

void Workers::work_off() {
  for (size_t i = next_.fetch_add(1); i < pieces_; i = next_.fetch_add(1)) (*work_)(i);
}

void Workers::serve() {
  for (uint32_t seen = 0;;) {
    for (int spins = 0; spins < kSpins && round_.load(std::memory_order_acquire) == seen; ++spins) pause();
    round_.wait(seen, std::memory_order_acquire);
    seen = round_.load(std::memory_order_acquire);
    if (stop_) return;
    work_off();
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace lumen::egraph
