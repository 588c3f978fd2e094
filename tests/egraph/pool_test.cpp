#include "lumen/egraph/core/pool.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "lumen/base/hash.h"

namespace lumen::egraph {
namespace {

ValuePool<std::string> strings() {
  return {[](const std::string& s) { return hash_bytes(s); }, [](const std::string& s) { return "<" + s + ">"; }};
}

TEST(ValuePool, EqualValuesAreOne) {
  ValuePool<std::string> pool = strings();
  EXPECT_EQ(pool.intern("b"), 0u);
  EXPECT_EQ(pool.intern("a"), 1u);
  EXPECT_EQ(pool.intern("b"), 0u);
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(pool.at(1), "a");
  EXPECT_EQ(pool.print(0), "<b>");
  EXPECT_EQ(pool.type(), typeid(std::string));
}

TEST(ValuePool, FindDoesNotIntern) {
  ValuePool<std::string> pool = strings();
  EXPECT_EQ(pool.find("a"), std::nullopt);
  EXPECT_EQ(pool.size(), 0u);
  pool.intern("a");
  EXPECT_EQ(pool.find("a"), 0u);
}

TEST(ValuePool, AddressesStay) {
  ValuePool<std::string> pool = strings();
  const std::string* first = &pool.at(pool.intern("first"));
  for (int i = 0; i < 1000; ++i) pool.intern(std::to_string(i));
  EXPECT_EQ(first, &pool.at(0));
  EXPECT_EQ(pool.find("first"), 0u);
}

// A value must equal itself, or it could never be found again.
TEST(ValuePool, NanIsOneValue) {
  ValuePool<double> pool([](double) { return 0; }, [](double) { return ""; });
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(pool.intern(nan), 0u);
  EXPECT_EQ(pool.intern(-nan), 0u);
  EXPECT_EQ(pool.intern(0.0), 1u);
  EXPECT_EQ(pool.intern(-0.0), 1u);
}

TEST(ContainerPool, SequenceOfThePoolItself) {
  ContainerPool pool;
  pool.intern(std::vector<Value>{1, 2, 3, 4});
  for (int i = 0; i < 100; ++i) {
    const Value last = static_cast<Value>(pool.size() - 1);
    pool.intern(pool.at(0).first(3));
    pool.intern(std::vector<Value>{9, static_cast<Value>(i)});
    EXPECT_EQ(pool.at(1).size(), 3u);
    EXPECT_GE(pool.size(), last);
  }
  EXPECT_EQ(pool.at(1)[2], 3u);
  EXPECT_EQ(pool.print(1), "#1");
}

RC_GTEST_PROP(ContainerPool, IsAMapFromSequences, (const std::vector<std::vector<uint8_t>>& inputs)) {
  ContainerPool pool;
  std::map<std::vector<Value>, Value> model;
  for (const std::vector<uint8_t>& input : inputs) {
    std::vector<Value> sequence;
    for (const uint8_t x : input) sequence.push_back(x % 3);
    const bool known = model.contains(sequence);
    RC_ASSERT(pool.find(sequence).has_value() == known);
    const Value value = pool.intern(sequence);
    RC_ASSERT(model.emplace(sequence, static_cast<Value>(model.size())).first->second == value);
    RC_ASSERT(pool.find(sequence) == value);
  }
  RC_ASSERT(pool.size() == model.size());
  for (const auto& [sequence, value] : model) {
    RC_ASSERT(std::ranges::equal(pool.at(value), sequence));
  }
}

}  // namespace
}  // namespace lumen::egraph
