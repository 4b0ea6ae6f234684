#include "stats/proportion.h"

#include <gtest/gtest.h>

namespace aaco::stats {
namespace {

// Against R's binom.test().
TEST(Proportion, EqualsPublishedIntervals) {
  EXPECT_NEAR(proportion_interval(8, 10).low, 0.4439045, 1e-6);
  EXPECT_NEAR(proportion_interval(8, 10).high, 0.9747893, 1e-6);
  EXPECT_NEAR(proportion_interval(97, 100).low, 0.9148235, 1e-6);
  EXPECT_NEAR(proportion_interval(97, 100).high, 0.9937699, 1e-6);
}
TEST(Proportion, AllAndNoneHaveAnOpenSide) {
  EXPECT_NEAR(proportion_interval(10, 10).low, 0.6915029, 1e-6);
  EXPECT_EQ(proportion_interval(10, 10).high, 1);
  EXPECT_EQ(proportion_interval(0, 10).low, 0);
  EXPECT_NEAR(proportion_interval(0, 10).high, 0.3084971, 1e-6);
}
TEST(Proportion, MoreTrialsNarrowIt) {
  const Interval few = proportion_interval(90, 100), many = proportion_interval(9000, 10000);
  EXPECT_LT(many.high - many.low, (few.high - few.low) / 5);
}
TEST(ProportionDeathTest, RefusesWhatIsNotAShare) {
  EXPECT_DEATH(proportion_interval(3, 2), "");
  EXPECT_DEATH(proportion_interval(0, 0), "");
  EXPECT_DEATH(proportion_interval(1, 2, 1), "");
}

}  // namespace
}  // namespace aaco::stats
