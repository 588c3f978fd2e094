#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {

Workers::Workers(int threads) : pool_(threads), shares_(static_cast<size_t>(threads)) {}

void Workers::run(size_t pieces, const std::function<void(size_t)>& work) {
  if (threads() == 1 || pieces < 2) {
    for (size_t i = 0; i < pieces; ++i) work(i);
    return;
  }
  for (size_t t = 0; t < threads(); ++t) {
    shares_[t].next.store(t * pieces / threads(), std::memory_order_relaxed);
    shares_[t].end = (t + 1) * pieces / threads();
  }
  pool_.run(static_cast<int64_t>(threads()), [&](int64_t thread, int) {
    for (size_t k = 0; k < threads(); ++k) {
      Share& share = shares_[(static_cast<size_t>(thread) + k) % threads()];
      for (size_t i = share.next.fetch_add(1); i < share.end; i = share.next.fetch_add(1)) work(i);
    }
  });
}

}  // namespace lumen::egraph
