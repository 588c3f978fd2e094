// ThreadPool: every piece once, on the thread that owns it, with everything written seen afterwards.
#include "lumen/base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace lumen {
namespace {

// Plain, unguarded cells: a piece done twice, late or by a stranger is a wrong number here and a report under TSan.
void expect_all_once(ThreadPool& pool, int64_t pieces) {
  std::vector<int> done(static_cast<size_t>(pieces), -1), owner(static_cast<size_t>(pieces), -1);
  pool.run(pieces, [&](int64_t piece, int thread) {
    done[static_cast<size_t>(piece)] += 1 + static_cast<int>(piece);
    owner[static_cast<size_t>(piece)] = thread;
  });
  const int64_t sharers = std::min<int64_t>(pieces, pool.threads());
  for (int64_t piece = 0; piece < pieces; ++piece) {
    ASSERT_EQ(done[static_cast<size_t>(piece)], piece) << piece << " of " << pieces;
    const int t = owner[static_cast<size_t>(piece)];
    ASSERT_TRUE(t >= 0 && t < sharers) << t;
    ASSERT_TRUE(piece == 0 || t == owner[static_cast<size_t>(piece - 1)] ||
                t == owner[static_cast<size_t>(piece - 1)] + 1);
  }
  if (pieces > 0) {
    EXPECT_EQ(owner.front(), 0);
    EXPECT_EQ(owner.back(), sharers - 1);
  }
}

TEST(ThreadPool, does_every_piece_once_in_a_static_split) {
  std::mt19937 random(std::random_device{}());
  for (const int threads : {1, 2, 3, 5, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t pieces : {0, 1, 2, 3, 7, 8, 9, 64, 1001}) expect_all_once(pool, pieces);
    for (int k = 0; k < 40; ++k) expect_all_once(pool, static_cast<int64_t>(random() % 300));
  }
}

TEST(ThreadPool, many_short_runs_wait_for_each_other) {
  ThreadPool pool(2);
  // Two rows, read and written in turn: a piece reads what the other thread wrote in the run before.
  std::vector<int64_t> rows[2] = {{0, 0}, {0, 0}};
  for (int64_t k = 0; k < 20000; ++k) {
    const std::vector<int64_t>& from = rows[k % 2];
    std::vector<int64_t>& to = rows[1 - k % 2];
    pool.run(2, [&](int64_t piece, int) { to[static_cast<size_t>(piece)] = from[static_cast<size_t>(1 - piece)] + 1; });
    ASSERT_EQ(to, (std::vector<int64_t>{k + 1, k + 1}));
  }
}

TEST(ThreadPool, wakes_threads_that_fell_asleep) {
  for (const int threads : {2, 4}) {
    ThreadPool pool(threads);
    for (int k = 0; k < 20; ++k) {
      std::this_thread::sleep_for(std::chrono::microseconds(37 * k));  // around the time a worker waits busily
      expect_all_once(pool, threads);
    }
  }
}

TEST(ThreadPool, nested_runs_stay_on_their_thread) {
  ThreadPool pool(3), other(2);
  std::vector<std::vector<int>> seen(9);
  pool.run(9, [&](int64_t piece, int thread) {
    const std::thread::id self = std::this_thread::get_id();
    for (ThreadPool* inner : {&pool, &other}) {
      inner->run(5, [&](int64_t step, int inner_thread) {
        ASSERT_EQ(std::this_thread::get_id(), self);
        ASSERT_EQ(inner_thread, thread);
        seen[static_cast<size_t>(piece)].push_back(static_cast<int>(step));
      });
    }
  });
  for (const auto& steps : seen) EXPECT_EQ(steps, (std::vector<int>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
}

TEST(ThreadPool, serves_callers_one_after_another) {
  ThreadPool pool(3);
  std::atomic<int> inside = 0;
  int64_t total = 0;  // guarded by nothing but the pool
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        pool.run(1, [&](int64_t, int) {
          EXPECT_EQ(inside.fetch_add(1), 0);
          ++total;
          inside.fetch_sub(1);
        });
        std::vector<int64_t> parts(3, 0);
        pool.run(3, [&](int64_t piece, int) { parts[static_cast<size_t>(piece)] = piece + k; });
        EXPECT_EQ(parts[2], 2 + k);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 800);
}

TEST(ThreadPool, stops_whether_its_threads_work_wait_or_sleep) {
  for (int k = 0; k < 50; ++k) {
    ThreadPool pool(4);
    if (k % 3 != 0) expect_all_once(pool, 17);
    if (k % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

TEST(ThreadPool, takes_work_that_cannot_be_copied) {
  ThreadPool pool(2);
  std::vector<int> out(6, -1);
  pool.run(6, [held = std::make_unique<int>(7), &out](int64_t piece, int) mutable {
    out[static_cast<size_t>(piece)] = *held;
  });
  EXPECT_EQ(out, std::vector<int>(6, 7));
}

TEST(ThreadPool, default_is_what_this_process_may_use) {
  EXPECT_GE(default_threads(), 1);
  EXPECT_EQ(ThreadPool().threads(), default_threads());
}

#if !defined(__SANITIZE_THREAD__)
TEST(ThreadPoolDeathTest, an_exception_ends_the_program) {
  EXPECT_DEATH(
      {
        ThreadPool pool(1);
        pool.run(1, [](int64_t, int) { throw 1; });
      },
      "");
}
#endif

}  // namespace
}  // namespace lumen
