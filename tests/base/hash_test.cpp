#include "lumen/base/hash.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>

namespace lumen {
namespace {

// These key files on disk: a change here throws away every user's tuning database.
TEST(Hash, KnownValues) {
  EXPECT_EQ(hash_mix(0), 0u);
  EXPECT_EQ(hash_mix(1), 0x3c0aad46f555e0b9u);
  EXPECT_EQ(hash_combine(1, 2), 0x2a6a92c3d78802cau);
  EXPECT_EQ(hash_bytes(""), 0x28abf1fbeaed7c7bu);
  EXPECT_EQ(hash_bytes("lumen"), 0x2bb292c87689b94fu);
  EXPECT_EQ(hash_bytes("a text longer than two words"), 0xf04f42f112085694u);
  EXPECT_EQ(Hasher().value(), 0x28abf1fbeaed7c7bu);
  EXPECT_EQ(Hasher(7).add(-1).add("axis").add(0.5).value(), 0xdca93083909ca2fbu);
}

TEST(Hash, IntegerWidthsAgree) {
  EXPECT_EQ(Hasher().add(int8_t{-3}).value(), Hasher().add(int64_t{-3}).value());
  EXPECT_EQ(Hasher().add(true).value(), Hasher().add(uint64_t{1}).value());
  enum class Kind : uint8_t { kFirst = 9 };
  EXPECT_EQ(Hasher().add(Kind::kFirst).value(), Hasher().add(9).value());
}

TEST(Hash, OrderAndBoundariesMatter) {
  EXPECT_NE(hash_combine(1, 2), hash_combine(2, 1));
  EXPECT_NE(Hasher().add("ab").add("c").value(), Hasher().add("a").add("bc").value());
  EXPECT_NE(Hasher().add("").value(), Hasher().value());
  EXPECT_NE(hash_bytes(std::string(1, '\0')), hash_bytes(std::string(2, '\0')));
  EXPECT_NE(Hasher().add(0.0).value(), Hasher().add(-0.0).value());
}

TEST(Hash, NoCollisionsAmongSmallKeys) {
  std::set<uint64_t> seen;
  for (uint64_t a = 0; a < 300; ++a) {
    for (uint64_t b = 0; b < 300; ++b) seen.insert(Hasher().add(a).add(b).value());
  }
  EXPECT_EQ(seen.size(), 300u * 300u);
}

RC_GTEST_PROP(Hash, MixIsInjective, (uint64_t a, uint64_t b)) { RC_ASSERT((a == b) == (hash_mix(a) == hash_mix(b))); }

}  // namespace
}  // namespace lumen
