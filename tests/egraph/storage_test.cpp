// What tables and searches are stored in, against the plain way of doing the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "lumen/egraph/core/kept_matches.h"
#include "lumen/egraph/core/sort.h"
#include "lumen/egraph/core/stale_rows.h"
#include "lumen/egraph/core/table.h"
#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {
namespace {

std::vector<Value> values_of(const GrowArray<Value>& array) { return {array.data(), array.data() + array.size()}; }

TEST(GrowArray, keeps_its_values_through_every_size) {
  std::mt19937 random(std::random_device{}());
  GrowArray<Value> array;
  std::vector<Value> plain;
  while (plain.size() < 3'000'000) {  // from a few bytes over the first mapping to huge pages
    const size_t more = random() % (plain.size() + 3);
    Value* at = array.append(more);
    for (size_t i = 0; i < more; ++i) plain.push_back(at[i] = static_cast<Value>(random()));
    ASSERT_EQ(array.size(), plain.size());
  }
  EXPECT_EQ(values_of(array), plain);
  EXPECT_GE(array.bytes(), plain.size() * sizeof(Value));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 64, 0u);
  const GrowArray<Value> copy = array;
  array[0] ^= 1;
  EXPECT_EQ(values_of(copy), plain);
  array.resize(5);
  array.push_back(7);
  EXPECT_EQ(array.size(), 6u);
  EXPECT_EQ(array[5], 7u);
  EXPECT_EQ(array[4], plain[4]);
}

TEST(GrowArray, gives_zeros_in_place_of_what_was_there) {
  for (const size_t size : {size_t{1}, size_t{1000}, size_t{70'000}, size_t{3'000'000}}) {
    GrowArray<Value> array;
    array.resize(size, 0xffffffff);
    array.reset_to_zero(size + 3);
    ASSERT_EQ(array.size(), size + 3);
    EXPECT_EQ(std::count(array.data(), array.data() + array.size(), 0u), static_cast<ptrdiff_t>(size + 3));
  }
}

TEST(GrowArray, keeps_its_values_when_threads_get_its_memory) {
  std::mt19937 random(std::random_device{}());
  Workers workers(2);
  GrowArray<Value> array;
  std::vector<Value> plain;
  while (plain.size() < 3'000'000) {
    Value* at = array.append(plain.size() / 3 + 1);
    if (random() % 2 == 0) array.populate(workers);
    for (size_t i = plain.size(); i < array.size(); ++i) plain.push_back(*at++ = static_cast<Value>(random()));
  }
  EXPECT_EQ(values_of(array), plain);
}

// Rows come, die and change in place, among so few arguments that those of earlier rows come again.
TEST(Table, finds_its_rows_wherever_threads_moved_its_slots) {
  std::mt19937 random(std::random_device{}());
  Workers workers(2);
  for (uint32_t params = 1; params <= 4; ++params) {
    TableDecl declaration;
    declaration.params.assign(params, kI64);
    Table table(declaration);
    std::map<std::vector<Value>, Row> expected;
    const auto check = [&](const std::vector<Value>& args) {
      const auto at = expected.find(args);
      ASSERT_EQ(table.find(args.data()), at == expected.end() ? kNone : at->second) << params << " arguments";
    };
    for (int step = 0; step < 60'000; ++step) {
      std::vector<Value> args(params);
      Value some = static_cast<Value>(random() % 20'000);
      for (Value& arg : args) arg = std::exchange(some, some / 10) % 5000;
      const auto at = expected.find(args);
      if (at == expected.end()) {
        const Row changed = table.rows() == 0 ? 0 : static_cast<Row>(random() % table.rows());
        if (random() % 3 == 0 && table.rows() > 0 && !table.dead(changed)) {
          expected.erase({table.row(changed), table.row(changed) + params});
          std::copy(args.begin(), args.end(), table.row(changed));
          table.reenter(changed);
          expected[args] = changed;
        } else {
          expected[args] = table.append(args.data(), 7, Table::hash(args.data(), params));
        }
      } else if (random() % 2 == 0) {
        table.kill(at->second);
        expected.erase(at);
      }
      check(args);
      if (step % 6000 == 5999) {
        table.reserve(size_t{3000} << (step / 6000), &workers);
        for (const auto& [known, row] : expected) check(known);
      }
    }
    EXPECT_EQ(table.live(), expected.size());
  }
}

// Arguments of candidates, by number.
struct SomeKeys {
  const std::vector<std::array<Value, 2>>& keys;
  const Value* args(Row candidate) const { return keys[candidate - Table::kCandidates].data(); }
  bool yields(Row, Row) const { return true; }
  bool replaces(Row) const { return false; }
};

// Of equal keys that several threads enter the first one gets the slot, whichever thread comes first.
TEST(Table, gives_the_slot_to_the_first_of_equal_keys) {
  constexpr auto kParams = std::integral_constant<uint32_t, 2>{};
  constexpr Value kLast = 150;
  std::mt19937 random(std::random_device{}());
  Workers workers(4);
  TableDecl declaration;
  declaration.params.assign(2, kI64);
  Table table(declaration);
  const auto hash = [&](const std::array<Value, 2>& key) { return Table::hash(key.data(), kParams); };
  for (Value x = 0; x < 60; ++x) {
    const std::array<Value, 2> key{x, x % 7};
    const Row row = table.append(key.data(), 1000 + x, hash(key));
    if (x % 2 == 0) table.kill(row);  // such a key gets a new row, in the same slot
  }
  std::vector<std::array<Value, 2>> keys(16'384);
  std::map<std::array<Value, 2>, size_t> first;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Value x = static_cast<Value>(random() % kLast);
    keys[i] = {x, x % 7};
    first.try_emplace(keys[i], i);
  }
  const auto candidate = [](size_t i) { return Table::kCandidates + static_cast<Row>(i); };
  table.reserve(keys.size());
  std::vector<Table::SharedPlace> found(keys.size());
  workers.run(keys.size(), [&](size_t i) {
    table.place_shared(keys[i].data(), hash(keys[i]), candidate(i), SomeKeys{keys}, kParams, found[i]);
  });
  size_t used = 0;
  std::map<Row, Row> taken_by;
  for (const Table::SharedPlace& place : found) {
    used += place.was_free;
    if (place.displaced != kNone) taken_by[place.displaced] = place.row;
  }
  std::map<size_t, uint64_t> slots;  // by key that makes a row
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i][0] < 60 && keys[i][0] % 2 == 1) {
      ASSERT_LT(found[i].row, 60u);
      ASSERT_EQ(found[i].data, 1000 + keys[i][0]);
      continue;
    }
    Row row = found[i].row;
    while (taken_by.contains(row)) row = taken_by[row];
    ASSERT_EQ(row, candidate(first[keys[i]]));
    if (row == candidate(i)) slots[i] = found[i].data;
  }
  Value* to = table.extend(slots.size(), used);
  Row row = 60;
  for (const auto& [i, slot] : slots) {
    to = std::copy(keys[i].begin(), keys[i].end(), to);
    *to++ = static_cast<Value>(i);
    table.settle(slot, row);
    ASSERT_EQ(table.find(keys[i].data()), row++);
  }
  EXPECT_EQ(table.live(), 30 + slots.size());
}

TEST(KeptMatches, gives_back_what_it_was_given) {
  std::mt19937 random(std::random_device{}());
  for (size_t width = 0; width <= 9; ++width) {
    KeptMatches kept;
    std::vector<Value> all;
    size_t count = 0;
    std::vector<Value> match(width, 0);
    for (int part = 0; part < 5; ++part) {
      std::vector<Value> some;
      const size_t more = random() % 700;
      for (size_t i = 0; i < more; ++i) {
        for (Value& value : match) {  // as searches give them: often the same, often near, at times anywhere
          const uint32_t kind = static_cast<uint32_t>(random() % 5);
          if (kind == 1) value += static_cast<Value>(random() % 256) - 128;
          if (kind == 2) value += static_cast<Value>(random() % 65536) - 32768;
          if (kind == 3) value = static_cast<Value>(random());
          if (kind == 4 && random() % 50 == 0) value = random() % 2 == 0 ? 0 : kNone;
        }
        some.insert(some.end(), match.begin(), match.end());
      }
      kept.add(some, width, more);
      all.insert(all.end(), some.begin(), some.end());
      count += more;
    }
    ASSERT_EQ(kept.size(), count);
    std::vector<Value> read;
    size_t times = 0;
    EXPECT_TRUE(kept.for_each(64, [&](std::span<const Value> matches, size_t n) {
      EXPECT_EQ(matches.size(), n * width);
      EXPECT_TRUE(n == 64 || times * 64 + n == count);
      read.insert(read.end(), matches.begin(), matches.end());
      ++times;
      return true;
    }));
    EXPECT_EQ(read, all);
    if (count > 64) {
      EXPECT_FALSE(kept.for_each(64, [](std::span<const Value>, size_t) { return false; }));
    }
    kept.clear();
    EXPECT_EQ(kept.size(), 0u);
  }
}

// A table of `columns` columns with random ids of one or two sorts, some rows dead.
struct RandomTable {
  RandomTable(std::mt19937& random, uint32_t columns, bool two_sorts, Row rows) : table(declaration(columns)) {
    for (UnionFind& each : ids) each.add_many(1 + random() % 2000);
    for (uint32_t c = 0; c < columns; ++c) sorts.push_back(two_sorts ? c % 2 : 0);
    for (Row r = 0; r < rows; ++r) {
      std::vector<Value> row;
      for (const size_t sort : sorts) row.push_back(static_cast<Value>(random() % ids[sort].size()));
      Value* at = table.extend(1, 0);
      std::copy(row.begin(), row.end(), at);
      if (random() % 7 == 0) table.kill(r);
    }
    for (UnionFind& each : ids) {
      for (size_t i = random() % 400; i > 0; --i) {
        each.unite(static_cast<Value>(random() % each.size()), static_cast<Value>(random() % each.size()));
      }
    }
  }
  static TableDecl declaration(uint32_t columns) {
    TableDecl decl;
    decl.params.assign(columns - 1, kI64);
    return decl;
  }
  std::vector<IdColumn> id_columns() const {
    std::vector<IdColumn> all;
    for (uint32_t c = 0; c < sorts.size(); ++c) all.push_back({c, &ids[sorts[c]]});
    return all;
  }

  Table table;
  std::array<UnionFind, 2> ids;
  std::vector<size_t> sorts;  // by column
};

TEST(StaleRows, are_those_with_an_id_that_is_no_representative) {
  std::mt19937 random(std::random_device{}());
  size_t seen = 0;
  for (int round = 0; round < 200; ++round) {
    const uint32_t columns = 1 + static_cast<uint32_t>(random() % 5);
    const RandomTable given(random, columns, random() % 2 == 0, static_cast<Row>(random() % 500));
    const Row rows = given.table.rows();
    const Row from = static_cast<Row>(random() % (rows + 1));
    const Row to = from + static_cast<Row>(random() % (rows - from + 1));
    std::vector<Row> expected{12345};  // what was found before stays
    for (Row r = from; r < to; ++r) {
      bool stale = false;
      for (uint32_t c = 0; c < columns && !given.table.dead(r); ++c) {
        const Value id = given.table.row(r)[c];
        stale = stale || given.ids[given.sorts[c]].find(id) != id;
      }
      if (stale) expected.push_back(r);
    }
    seen += expected.size() - 1;
    GrowArray<Row> found;
    found.push_back(12345);
    find_stale_rows(given.table, given.id_columns(), from, to, found);
    ASSERT_EQ(values_of(found), expected) << columns << " columns, rows " << from << " to " << to;
  }
  EXPECT_GT(seen, 1000u);
}

TEST(UnionFind, comes_out_the_same_when_threads_share_the_work) {
  std::mt19937 random(std::random_device{}());
  constexpr size_t kIds = 20'000;
  std::vector<std::pair<Value, Value>> pairs;
  for (size_t i = 0; i < kIds; ++i) {
    pairs.emplace_back(static_cast<Value>(random() % kIds), static_cast<Value>(random() % kIds));
  }
  UnionFind alone, shared;
  alone.add_many(kIds);
  shared.add_many(kIds);
  for (const auto& [a, b] : pairs) alone.unite(a, b);
  Workers workers(3);
  std::vector<GrowArray<Value>> logs(60);
  workers.run(logs.size(), [&](size_t piece) {
    for (size_t i = piece; i < pairs.size(); i += logs.size()) {
      shared.unite_shared(pairs[i].first, pairs[i].second, logs[piece]);
    }
    shared.mark_displaced(logs[piece]);
  });
  for (const GrowArray<Value>& log : logs) shared.add_displaced(log);
  for (Value id = 0; id < kIds; ++id) {
    ASSERT_EQ(shared.find(id), alone.find(id));
    ASSERT_EQ(shared.is_root(id), alone.is_root(id));
  }
  std::vector<Value> expected = values_of(alone.take_displaced());
  std::vector<Value> displaced = values_of(shared.take_displaced());
  std::sort(expected.begin(), expected.end());
  std::sort(displaced.begin(), displaced.end());
  EXPECT_EQ(displaced, expected);
}

TEST(Workers, do_every_piece_once) {
  for (const int threads : {1, 2, 3, 5}) {
    Workers workers(threads);
    for (const size_t pieces : std::vector<size_t>{0, 1, 2, 3, 7, 1000}) {
      std::vector<std::atomic<int>> done(pieces);
      workers.run(pieces, [&](size_t i) { ++done[i]; });
      EXPECT_TRUE(std::all_of(done.begin(), done.end(), [](const std::atomic<int>& n) { return n == 1; }))
          << threads << " threads, " << pieces << " pieces";
    }
  }
}

}  // namespace
}  // namespace lumen::egraph
