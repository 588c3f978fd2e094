// KeptMatches: matches that wait while their rule is banned. There may be many times more of them than rows, so they
// are packed: a search lists matches that differ little from one to the next.
//
//   match 7 9 1000, then 7 9 1003   becomes   codes same, same, byte; then the byte 3 (times two: the sign)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lumen/egraph/core/grow_array.h"
#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

class KeptMatches {
 public:
  // Matches of `width` values each; the same width for all.
  void add(std::span<const Value> matches, size_t width, size_t count);
  size_t size() const { return count_; }
  size_t bytes() const { return packed_.bytes(); }
  void clear();

  // Calls take(matches, count) with all of them in order, `most` at a time and fewer at the end; stops when it is
  // false.
  template <class Take>
  bool for_each(size_t most, const Take& take) const {
    std::vector<Value> some;
    Reader reader{packed_.data(), std::vector<Value>(width_, 0)};
    for (size_t done = 0; done < count_;) {
      const size_t now = most < count_ - done ? most : count_ - done;
      some.resize(now * width_);
      for (size_t i = 0; i < now; ++i) reader.read({some.data() + i * width_, width_});
      if (!take(std::span<const Value>(some), now)) return false;
      done += now;
    }
    return true;
  }

 private:
  struct Reader {
    const uint8_t* at;
    std::vector<Value> last;
    void read(std::span<Value> match);
  };

  GrowArray<uint8_t> packed_;
  std::vector<Value> last_;  // the match before
  size_t width_ = 0;
  size_t count_ = 0;
};

}  // namespace lumen::egraph
