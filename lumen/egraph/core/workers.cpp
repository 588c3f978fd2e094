#include "lumen/egraph/core/workers.h"

#include "lumen/base/pause.h"

namespace lumen::egraph {

namespace {

// About a millisecond: waking a thread takes longer than most pieces of work do.
constexpr int kSpins = 30000;

}  // namespace

Workers::Workers(int threads) : shares_(static_cast<size_t>(threads)) {
  for (size_t i = 1; i < shares_.size(); ++i) threads_.emplace_back([this, i] { serve(i); });
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
  for (size_t t = 0; t < shares_.size(); ++t) {
    shares_[t].next.store(t * pieces / shares_.size(), std::memory_order_relaxed);
    shares_[t].end = (t + 1) * pieces / shares_.size();
  }
  busy_.store(threads_.size());
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  work_off(0);
  for (int spins = 0; busy_.load(std::memory_order_acquire) > 0; ++spins) {
    pause_processor();
    if (spins > kSpins) std::this_thread::yield();
  }
}

void Workers::work_off(size_t thread) {
  for (size_t k = 0; k < shares_.size(); ++k) {
    Share& share = shares_[(thread + k) % shares_.size()];
    for (size_t i = share.next.fetch_add(1); i < share.end; i = share.next.fetch_add(1)) (*work_)(i);
  }
}

void Workers::serve(size_t thread) {
  for (uint32_t seen = 0;;) {
    for (int spins = 0; spins < kSpins && round_.load(std::memory_order_acquire) == seen; ++spins) pause_processor();
    round_.wait(seen, std::memory_order_acquire);
    seen = round_.load(std::memory_order_acquire);
    if (stop_) return;
    work_off(thread);
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace lumen::egraph
