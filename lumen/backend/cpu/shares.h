// Shares: pieces of work that threads divide among them while they work. Each begins with its own range, the same at
// every call, and takes half of what is left of it at a time; one that is done takes half of what is left of another's,
// from its end. So threads end together though one of them is slower: its core may be lent to others as well.
//
//   shares.begin(pieces, threads);
//   for (Range range = shares.next(thread); !range.empty(); range = shares.next(thread)) work(range);    // each thread
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace lumen::cpu {

class Shares {
 public:
  struct Range {
    int64_t begin = 0, end = 0;
    bool empty() const { return begin == end; }
  };
  static constexpr int64_t kMostPieces = UINT32_MAX;
  static constexpr int64_t kSmallest = 8;  // of a share are taken together

  explicit Shares(int most_threads) : left_(static_cast<size_t>(most_threads)) {}

  // Before the threads begin.
  void begin(int64_t pieces, int threads) {
    threads_ = threads;
    least_ = std::max<int64_t>(pieces / threads / kSmallest, 1);
    for (int64_t t = 0; t < threads; ++t) {
      left_[static_cast<size_t>(t)].range.store(packed(pieces * t / threads, pieces * (t + 1) / threads),
                                                std::memory_order_relaxed);
    }
  }
  // What `thread` does next; empty when nothing is left that nobody has begun.
  Range next(int thread) {
    if (const Range own = take(thread, false); !own.empty()) return own;
    for (int k = 1; k < threads_; ++k) {
      const Range found = take((thread + k) % threads_, true);
      if (found.empty()) continue;
      left_[static_cast<size_t>(thread)].range.store(packed(found.begin, found.end), std::memory_order_release);
      return next(thread);  // others may take of it in turn
    }
    return {};
  }

 private:
  struct alignas(64) Left {
    std::atomic<uint64_t> range = 0;
  };
  static uint64_t packed(int64_t begin, int64_t end) {
    return static_cast<uint64_t>(end) << 32 | static_cast<uint64_t>(begin);
  }
  Range take(int of, bool from_end) {
    std::atomic<uint64_t>& left = left_[static_cast<size_t>(of)].range;
    for (uint64_t seen = left.load(std::memory_order_acquire);;) {
      const int64_t first = static_cast<int64_t>(seen & UINT32_MAX), last = static_cast<int64_t>(seen >> 32);
      if (first == last) return {};
      const int64_t half = std::min(std::max((last - first + 1) / 2, least_), last - first);
      const Range taken = from_end ? Range{last - half, last} : Range{first, first + half};
      const uint64_t rest = from_end ? packed(first, last - half) : packed(first + half, last);
      if (left.compare_exchange_weak(seen, rest, std::memory_order_acq_rel, std::memory_order_acquire)) return taken;
    }
  }

  std::vector<Left> left_;  // by thread
  int threads_ = 1;
  int64_t least_ = 1;  // pieces that are taken together: what they share is prepared anew for each range
};

}  // namespace lumen::cpu
