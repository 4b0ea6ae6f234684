#include "core/seen_set.h"

#include <gtest/gtest.h>

namespace aaco::core {
namespace {

TEST(SeenSet, ReportsNewKeys) {
  SeenSet set;
  EXPECT_TRUE(set.insert(1, 2, 3));
  EXPECT_FALSE(set.insert(1, 2, 3));
  EXPECT_TRUE(set.insert(3, 2, 1));
  EXPECT_FALSE(set.overflowed());
}
TEST(SeenSet, ReportsOverflow) {
  SeenSet set;
  for (std::uint64_t i = 0; i < SeenSet::kMax; ++i) ASSERT_TRUE(set.insert(i, 0, 0));
  EXPECT_FALSE(set.overflowed());
  EXPECT_FALSE(set.insert(7, 0, 0));
  EXPECT_FALSE(set.overflowed());
  EXPECT_TRUE(set.insert(SeenSet::kMax, 0, 0));
  EXPECT_TRUE(set.overflowed());
}

}  // namespace
}  // namespace aaco::core
