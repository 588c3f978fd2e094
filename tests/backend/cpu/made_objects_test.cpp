#include "lumen/backend/cpu/made_objects.h"

#include <gtest/gtest.h>

namespace lumen::cpu {
namespace {

MadeObject::Kernel kernel(const std::string& name, const std::string& content) {
  return {{name, name + "_pack"}, CacheKey::of(content)};
}

MadeObject object_of(std::vector<MadeObject::Kernel> kernels, size_t bytes = 1) {
  return {std::move(kernels), std::string(bytes, 'x')};
}

TEST(MadeObjects, finds_what_fits_together) {
  MadeObjects made;
  made.add(object_of({kernel("a", "1"), kernel("b", "1")}));
  made.add(object_of({kernel("a", "2"), kernel("c", "1")}));
  made.add(object_of({kernel("c", "1"), kernel("d", "1")}));
  const auto found = [&](std::vector<MadeObject::Kernel> wanted) {
    const MadeObjects::Found result = made.find(wanted);
    return std::pair(result.objects.size(), result.missing);
  };
  using Missing = std::vector<size_t>;
  EXPECT_EQ(found({kernel("a", "1"), kernel("b", "1")}), std::pair(size_t{1}, Missing{}));
  EXPECT_EQ(found({kernel("b", "1"), kernel("d", "1")}), std::pair(size_t{2}, Missing{}));
  // Another `a` is beside `b` in its object, and would be there twice.
  EXPECT_EQ(found({kernel("a", "3"), kernel("b", "1")}), std::pair(size_t{0}, (Missing{0, 1})));
  EXPECT_EQ(found({kernel("a", "2"), kernel("b", "1")}), std::pair(size_t{1}, Missing{1}));
  // `c` is in the second object already, so the third cannot be there for `d`.
  EXPECT_EQ(found({kernel("a", "2"), kernel("d", "1")}), std::pair(size_t{1}, Missing{1}));
  EXPECT_EQ(found({kernel("e", "1")}), std::pair(size_t{0}, Missing{0}));
}

TEST(MadeObjects, forgets_the_oldest) {
  MadeObjects made;
  constexpr size_t kMany = size_t{30} << 20;
  for (const char* name : {"a", "b", "c"}) made.add(object_of({kernel(name, "1")}, kMany));
  const MadeObject::Kernel wanted[] = {kernel("a", "1"), kernel("b", "1"), kernel("c", "1")};
  EXPECT_EQ(made.find(wanted).missing, std::vector<size_t>{0});
}

}  // namespace
}  // namespace lumen::cpu
