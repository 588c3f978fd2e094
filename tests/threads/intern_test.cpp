// Interning from several threads at once gives the same objects as from one.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "lumen/ir/view.h"
#include "tests/support/naive_expr.h"

namespace lumen {
namespace {

std::vector<Expr> draw_exprs(uint64_t seed) {
  std::mt19937_64 random(seed);
  const naive::Draw draw = [&](uint64_t n) { return random() % n; };
  std::vector<Expr> out;
  for (int k = 0; k < 2000; ++k) out.push_back(naive::build(*naive::draw_tree(draw, 4)));
  return out;
}

std::vector<View> draw_views(uint64_t seed) {
  std::mt19937_64 random(seed);
  const Expr n = Expr::dim("n", 1, 1 << static_cast<int>(4 + seed));
  std::vector<View> out;
  for (int k = 0; k < 200; ++k) {
    const auto rows = static_cast<int64_t>(random() % 30 + 1);
    const View v = View::identity({rows, n, 6});
    out.push_back(reshape(permute(v, std::vector<int64_t>{2, 0, 1}), {Expr(6) * rows, n}));
    out.push_back(flip(slice(out.back(), 0, 0, rows, 2), 1));
  }
  return out;
}

TEST(Threads, agree_on_every_object) {
  constexpr size_t kThreads = 4;
  std::vector<std::vector<Expr>> exprs(kThreads);
  std::vector<std::vector<View>> views(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      exprs[t] = draw_exprs(99);
      views[t] = draw_views(5);
    });
  }
  for (std::thread& t : threads) t.join();
  const std::vector<Expr> again = draw_exprs(99);
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_TRUE(exprs[t] == again) << "thread " << t;
    EXPECT_TRUE(views[t] == views[0]) << "thread " << t;
  }
}

}  // namespace
}  // namespace lumen
