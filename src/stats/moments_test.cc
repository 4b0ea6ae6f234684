#include "stats/moments.h"

#include <gtest/gtest.h>

#include <vector>

namespace aaco::stats {
namespace {

TEST(Moments, ByHand) {
  EXPECT_DOUBLE_EQ(mean_of(std::vector<double>{1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(variance_of(std::vector<double>{1, 2, 6}), 7);
}

TEST(Moments, OneValueDoesNotVary) { EXPECT_EQ(variance_of(std::vector<double>{5}), 0); }
TEST(MomentsDeathTest, EmptyInputHasNoMean) { EXPECT_DEATH((void)mean_of({}), "empty"); }

}  // namespace
}  // namespace aaco::stats
