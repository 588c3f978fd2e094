#include "nn/kv_cache.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lumen/hlir/ops.h"
#include "lumen/runtime/session.h"
#include "tests/support/round_trip.h"

namespace lumen::nn {
namespace {

constexpr int64_t kBatch = 2, kHeads = 2, kSize = 1, kCapacity = 7;

// One step: keys in at positions, the context out. Values are the keys plus 1000.
Session make_session(std::optional<Paging> paging) {
  const auto graph = std::make_shared<Graph>();
  const Expr seq = graph->dim("seq", 1, 4), context = graph->dim("context", 1, kCapacity);
  CacheStep step{graph->input("positions", {kBatch, seq}, i64), context, {}};
  if (paging) step.page_table = graph->input("page_table", {kBatch, 3}, i64);
  const Tensor keys = graph->input("keys", {kBatch, kHeads, seq, kSize});
  const Tensor values = graph->input("values", {kBatch, kHeads, seq, kSize});
  const KvCache cache(Scope(*graph, f32) / "cache", {kBatch, kHeads, kSize, kCapacity, paging});
  const KvCache::Entries entries = cache.update(keys, values, step);
  entries.keys.output("k");
  entries.values.output("v");
  expect_round_trip(*graph, hlir_ops());
  return Session(graph);
}

void run_step(Session& session, int64_t seq, int64_t context, const std::vector<int64_t>& positions,
              const std::vector<float>& keys) {
  std::vector<float> values = keys;
  for (float& value : values) value += 1000;
  session.set_dim("seq", seq);
  session.set_dim("context", context);
  session.set("positions", positions);
  session.set("keys", keys);
  session.set("values", values);
  session.execute();
}

void expect_two_steps(Session& session) {
  // [batch, head, seq]: the second sequence writes one place twice, and the last stays.
  run_step(session, 3, 3, {0, 1, 2, 0, 1, 1}, {1, 2, 3, 11, 12, 13, 21, 22, 23, 31, 32, 33});
  EXPECT_EQ(session.get<float>("k"), (std::vector<float>{1, 2, 3, 11, 12, 13, 21, 23, 0, 31, 33, 0}));
  run_step(session, 1, 5, {4, 2}, {5, 15, 24, 34});
  EXPECT_EQ(session.get<float>("k"),
            (std::vector<float>{1, 2, 3, 0, 5, 11, 12, 13, 0, 15, 21, 23, 24, 0, 0, 31, 33, 34, 0, 0}));
  EXPECT_EQ(session.get<float>("v")[0], 1001);
}

TEST(KvCache, keeps_what_was_written) {
  Session session = make_session({});
  expect_two_steps(session);
}

TEST(KvCache, pages_are_found_by_the_table) {
  Session session = make_session(Paging{3, 5});
  session.set("page_table", std::vector<int64_t>{4, 1, 0, 2, 3, 0});
  expect_two_steps(session);
  // Page 4 holds the first positions of the first sequence: [position, head].
  const std::vector<float> rows = session.get<float>("cache.key.next");
  EXPECT_EQ(std::vector<float>(rows.begin() + 24, rows.end()), (std::vector<float>{1, 11, 2, 12, 3, 13}));
}

TEST(KvCache, a_position_outside_is_refused_and_changes_nothing) {
  Session session = make_session({});
  expect_two_steps(session);
  const std::vector<float> before = session.get<float>("cache.key.next");
  EXPECT_EQ(std::ranges::count(before, 5.0F), 1);
  EXPECT_THROW(run_step(session, 1, 5, {7, 20}, {0, 0, 0, 0}), Error);
  EXPECT_EQ(session.get<float>("cache.key.next"), before);
}

}  // namespace
}  // namespace lumen::nn
